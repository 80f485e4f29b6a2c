// SPDX-License-Identifier: Apache-2.0
// Convolutions of singles whose windows are laid out for a copy engine before they are multiplied.
//
// A product of singles on sm_90a takes a third of the time if the copy engine brings its left side: warps that gather
// windows split each element into tf32 and what remains, once for every tile that reads it (docs/decisions.md). The
// engine brings windows if it can walk the pixels of an image whose channels come last (tile::pixelAccess), so such
// images are turned: 256 channels of 14x14 by 256 through windows of 3x3 take 60 us for 16 images, not 141. Other
// windows are written out first where a result has many columns, as a matrix of all elements that are multiplied, and
// read again, which takes 73 us in this case.
#pragma once

#include "fusion/FusionMode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Marks windows of singles as `pixels` or `copied`, if one contraction reads them, with many multiplications and at
/// least as many columns as `least` says. Images have no groups and a known size, but for their number. Windows become
/// pixels if the engine can walk them (WalkedPixels.h) and channels are a multiple of 128 bytes, else they are copied
/// if their rows are a multiple of 16 bytes. A copied window is in no kernel with its contraction.
void layOutWindows(mlir::func::FuncOp main, const SingleWindows &least);

} // namespace tilewright::fusion
