// SPDX-License-Identifier: Apache-2.0
// Slices of a product's columns that are multiplied by a number: query and key of an attention whose weights for query,
// key and value are one constant. The multiplication moves into the epilogue of the product, where it costs nothing:
//
//     %y = contract %x, %w                  %y = contract %x, %w
//     %q = mulf (slice %y at 0), 0.125  ->  %z = mulf %y, [0.125 ... 1 ...]
//     %k = slice %y at 64                   %q = slice %z at 0
//                                           %k = slice %z at 64
//
// Otherwise it is a kernel of its own, since neither side takes it: the elements of the product that the others read
// are not to be multiplied, and operands of a contraction take no arithmetic. Multiplying the others by 1 is exact.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

void moveScalesOfSlices(mlir::func::FuncOp main);

} // namespace tilewright::fusion
