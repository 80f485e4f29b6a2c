// SPDX-License-Identifier: Apache-2.0
// Conversions of halves to singles that an operand of a contraction is read through stand last, behind its accesses:
//
//   %w = extf %v;  %t = transpose %w;  contract %p, %t   =>   %t = transpose %v;  %w = extf %t;  contract %p, %w
//
// There they are seen to be an operand's only arithmetic: an attention multiplies with such values as halves
// (Legality.cpp), and accesses of halves move half the bytes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Moves conversions behind accesses that nothing else reads.
void narrowAccesses(mlir::func::FuncOp main);

} // namespace tilewright::fusion
