// SPDX-License-Identifier: Apache-2.0
// Windows of few channels are read as rows that a copy engine brings, of an image that is laid out for them.
//
//     %w = window %x dims [2, 3] strides [2, 2]      ->   %p = pad %x                      [n, 4, 230, 230]
//         low [3, 3]                                      %b = its blocks of 2x2 pixels    [n, 115, 115 * (2, 2, 4)]
//         [n, 3, y, x, 7, 7]                              %w = window %b dims [1, 2] strides [1, 16] pixels
//     %y = contract %w, %filter [7, 7, 3, 64]                 [n, y, x, 4, 64]
//                                                         %y = contract %w, %wider [4, 64, 64]
//
// A first convolution has three channels. Its windows are gathered element by element, as many times as there are taps,
// and that takes most of its time, since the engine copies no less than 16 bytes and 128 to be fast. But the taps of a
// row of a window are neighbours if channels lie last, and where windows are some pixels apart, so are those of several
// rows once blocks of as many pixels are one. So a kernel pads the image and puts it into such blocks, of a multiple of
// 16 bytes; windows overlap in memory, and the filter has zeros for what fills a row.
//
// An element of the image that is infinite or no number reaches results whose window ends up to a row before it, since
// it is multiplied by those zeros.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Rewrites contractions of such windows with constant filters, where that pays: of images [batch, channels, y, x] or
/// [batch, y, x, channels] of a known size, without groups or dilations. Channels of halves are no multiple of 16
/// bytes; those of float32, if `singles`, none of 128 bytes.
void widenFewChannels(mlir::func::FuncOp main, bool singles);

} // namespace tilewright::fusion
