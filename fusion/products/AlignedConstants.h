// SPDX-License-Identifier: Apache-2.0
// Products with constants are given rows that a copy engine can bring.
//
//     contract %x [m, k],                ->     contract %x [m, k],
//              %w [k, n] : 1712x75xf16                   %w' [n, k] : 75x1712xf16
//
//     contract %x [m, k] : 4096x513xf16, ->     contract (pad %x) [m, k] : 4096x576xf16,
//              %w [k, n] : 513x256xf16                   %w' [k, n] : 576x256xf16
//
// The engine brings boxes of memory whose strides are multiples of 16 bytes. The columns of a classifier, of a
// detector's head or of a vocabulary are often odd in number; what is summed along is less often, but a spectrum of 513
// frequencies is. Without this, threads gather such operands two bytes at a time (docs/performance/gpu-products.md,
// "Odd columns and odd depths"). Rows that the engine can bring take it two to four times as long where they are no
// multiple of a line of the cache, 128 bytes ("Rows that are lines"): 5,000 columns are none, a sum of 512 is.
#pragma once

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Stores constants that contractions of `main` multiply with what is summed along last, where their rows are no
/// multiple of 16 bytes and would be then, or, of halves, no multiple of 128; likewise with columns last. Where neither
/// helps, pads the sum in large products, with zeros. Constants are halves or, with `singles`, float32.
void alignConstants(mlir::func::FuncOp main, bool singles);

/// A line of the second-level cache of NVIDIA's GPUs, in bytes.
inline constexpr int64_t bytesOfLine = 128;

/// True if `pad` makes the rows of a contraction's operand multiples of 16 bytes, or of 128.
bool alignsRows(graph::PadOp pad);

} // namespace tilewright::fusion
