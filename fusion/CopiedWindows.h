// SPDX-License-Identifier: Apache-2.0
// Convolutions of singles whose windows are laid out in memory before they are multiplied.
//
// A product of singles on sm_90a takes a third of the time if its left side is a matrix that the copy engine can bring:
// warps that gather windows split each element into tf32 and what remains, once for every tile that reads it
// (docs/decisions.md). Where a result has many columns, it is faster to write the windows out, as a matrix of all
// elements that are multiplied, and to read it again: 256 channels of 14x14 by 256 through windows of 3x3 take 73 us
// for 16 images, not 141.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Marks the windows of singles that are copied: images of a known size, without groups, that one contraction reads
/// whose result has `leastColumns` or more, with many multiplications, in rows of a multiple of 16 bytes. The number of
/// images may be unknown. A marked window is in no kernel with its contraction.
void copyWindows(mlir::func::FuncOp main, int64_t leastColumns);

} // namespace tilewright::fusion
