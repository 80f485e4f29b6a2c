// SPDX-License-Identifier: Apache-2.0
// What convolutions (Conv.cpp) and transposed ones (ConvTranspose.cpp) share.
#pragma once

#include "frontend/builder/Window.h"

namespace tilewright::ops {

/// Names of loops: over the result's positions and over the taps of a kernel.
constexpr std::string_view outputLoops = "xyzuv", kernelLoops = "hijkl";

/// The spatial sizes of weights [M, C, k...], which must agree with `kernel_shape`.
llvm::SmallVector<int64_t> kernelOf(NodeBuilder &b, size_t x, size_t weights);

/// Whether each result reads only the element at its own position. (A transposed convolution may have fewer results.)
bool isPointwise(const WindowShape &w, Term x);

/// x [N, x..., C], weights [M, C/G, k...] -> [N, o..., M]. If `areImages`, the groups are images of x (imagesOf), and
/// of the result.
Term convolve(NodeBuilder &b, Term x, Term weights, WindowShape w, int64_t groups, bool areImages = false);

/// [N, x..., C] -> [N, x..., G, C/G], for a batch loop over the groups.
Term splitGroups(NodeBuilder &b, Term x, int64_t groups, mlir::AffineExpr channels);

/// Whether x [1, x..., C] has the channels of as many images as there are groups: [G, C/G, x...] was reshaped to
/// [1, C, x...], so that each image has weights of its own (modulated convolutions, as in StyleGAN 2); or it is a
/// constant, which may lie in any order.
bool areGroupsImages(Term x, int64_t groups);
/// [1, x..., C] -> [G, x..., C/G]
Term imagesOf(NodeBuilder &b, Term x, int64_t groups);

/// A convolution's result [N, o..., M], or [G, o..., M/G] of images, with input 2, the bias, added and rounded.
Term withBias(NodeBuilder &b, Term result, bool areImages);
/// [N, o..., M] -> [N, M, o...], or [G, o..., M/G] -> [1, M, o...] of images
Term planesOf(NodeBuilder &b, Term result, bool areImages);

} // namespace tilewright::ops
