// SPDX-License-Identifier: Apache-2.0
// Products with constants are given rows that a copy engine can bring.
//
//     contract %x [m, k],                ->     contract %x [m, k],
//              %w [k, n] : 1712x75xf16                   %w' [n, k] : 75x1712xf16
//
//     contract %x [m, k] : 4096x513xf16, ->     contract (pad %x) [m, k] : 4096x520xf16,
//              %w [k, n] : 513x256xf16                   %w' [k, n] : 520x256xf16
//
// The engine brings boxes of memory whose strides are multiples of 16 bytes. The columns of a classifier, of a
// detector's head or of a vocabulary are often odd in number; what is summed along is less often, but a spectrum of 513
// frequencies is. Without this, threads gather such operands two bytes at a time (docs/performance/gpu-products.md,
// "Odd columns and odd depths").
#pragma once

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Stores constants that contractions of `main` multiply with what is summed along last, where their rows are no
/// multiple of 16 bytes and would be then. Where the sum is no multiple, pads it in large products, with zeros.
/// Constants are halves or, with `singles`, float32.
void alignConstants(mlir::func::FuncOp main, bool singles);

/// True if `pad` makes the rows of a contraction's operand multiples of 16 bytes.
bool alignsRows(graph::PadOp pad);

} // namespace tilewright::fusion
