// SPDX-License-Identifier: Apache-2.0
// Which windows a copy engine brings by walking the pixels of an image (tilegen/place/roles/PixelAccess.cpp).
//
// The engine's limits are the narrower the more dimensions it walks. What counts are the dimensions that are left in
// the kernel: those along which windows do not move are one with the dimension outside of them.
//
//   window 3x3x3                of [n, z, y, x, c]   three dimensions
//   window 1x3x3                of [n, z, y, x, c]   two of n * z images
//   window 3x1x1                of [n, z, y, x, c]   one, of z * y * x pixels, whose taps are y * x pixels apart
//   window 3x1x1, z by steps    of [n, z, y, x, c]   two: z, and y * x
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// Limits of the engine (CUDA Driver API, "cuTensorMapEncodeIm2col"; PTX ISA, "Im2col mode") for images of one, two and
/// three spatial dimensions: pixels begin and end at most `mostCorner` before the first and the last pixel of the image
/// and less than that behind, and an element of a window lies less than twice as far from its first one.
inline constexpr int64_t mostCorner[] = {1 << 15, 1 << 7, 1 << 4};
inline constexpr int64_t mostPixelStep = 8; // from pixel to pixel

/// Whether the engine can walk these windows, as far as their spatial dimensions say: there are two or three, more than
/// one pixel long, and the limits hold. Windows whose rows are runs of elements (FewChannels.h) are made so that they
/// do.
bool areWalkable(graph::WindowOp window);

} // namespace tilewright::fusion
