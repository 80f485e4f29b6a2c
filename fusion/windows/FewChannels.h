// SPDX-License-Identifier: Apache-2.0
// Windows of few channels are read as rows that a copy engine brings, of an image that is laid out for them.
//
//     %w = window %x dims [2, 3] strides [2, 2]      ->   %p = pad %x                      [n, 4, 230, 230]
//         low [3, 3]                                      %b = its blocks of 2x2 pixels    [n, 115, 115 * (2, 2, 4)]
//         [n, 3, y, x, 7, 7]                              %w = window %b dims [1, 2] strides [1, 16] pixels
//     %y = contract %w, %filter [7, 7, 3, 64]                 [n, y, x, 4, 64]
//                                                         %y = contract %w, %wider [4, 64, 64]
//
// A network's first convolution has three channels. A copy engine cannot bring them, since it copies at least 16 bytes,
// and 128 to be fast. So threads gather its windows element by element, each element as often as there are taps, which
// takes most of the convolution's time.
//
// If channels lie last, the taps of one row of a window are neighbours in memory. Where windows are several pixels
// apart, the image is also cut into blocks of as many pixels (2x2 above), and then the taps of several rows are
// neighbours. So a kernel pads the image and writes it as such blocks, each a multiple of 16 bytes. A row of a window
// is a run of blocks, filled to a multiple of 128 bytes by what follows it in memory, for which the filter has zeros.
// Windows overlap in memory.
//
// An element of the image that is infinite or NaN is multiplied by those zeros, so it also makes results NaN whose
// window ends before it, up to a run away.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Rewrites contractions of such windows with constant filters, where that pays: of images [batch, channels, y, x] or
/// [batch, y, x, channels] of a known size, without groups or dilations. Of halves, images whose channels are a
/// multiple of 16 bytes stay as they are; of float32, all images unless `singles`, and then those whose channels are a
/// multiple of 128 bytes.
void widenFewChannels(mlir::func::FuncOp main, bool singles);

} // namespace tilewright::fusion
