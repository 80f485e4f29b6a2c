// SPDX-License-Identifier: Apache-2.0
// Contractions read the windows of many channels channels last, also where the image's channels come first.
//
//                                           %t = transpose %x perm [0, 2, 3, 1]
//     %w = window %x dims [2, 3]       ->   %w = window %t dims [1, 2]
//          [n, c, y, x, ky, kx]                  [n, y, x, ky, kx, c]
//
// Normalization moves transposes behind windows, so that they meet their inverse. Where none did, an image of planes
// would be read element by element, as many times as there are taps, because neighbours along the contracted channels
// lie a plane apart. A core turns it once instead: 32 channels of 80x80 through windows of 3x3 take 0.5 ms then, not
// 1.0. And a GPU turns images of halves: 128 channels of 28x28 by 256 with steps of two take 16 us for 16 images, not
// 112. Singles, which pass through registers there in any case, took 0.7 to 2.4 times as long, unless their windows are
// laid out for a copy engine (SingleWindows.h).
#pragma once

#include "fusion/FusionMode.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Turns the images of windows whose innermost dimension is spatial, if each of their readers is a contraction over the
/// same channels, whose number is known. On a CPU there must be at least 4 channels. On a GPU the channels must be a
/// multiple of 16 bytes, of halves or of windows that are laid out (SingleWindows.h), without groups.
void turnChannelsLast(mlir::func::FuncOp main, Machine machine);

/// Whether each window has one element, as in a convolution of 1x1.
bool hasOneTap(graph::WindowOp window);

/// Whether a window reads an image [batch, y..., x, channels], or one with groups in front of the channels, for
/// contractions over the channels, which GPUs then copy 16 bytes at a time.
bool copiesChannels(graph::WindowOp window);

} // namespace tilewright::fusion
