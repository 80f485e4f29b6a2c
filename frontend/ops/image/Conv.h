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

/// x [N, x..., C], weights [M, C/G, k...] -> [N, o..., M]
Term convolve(NodeBuilder &b, Term x, Term weights, WindowShape w, int64_t groups);

/// [N, x..., C] -> [N, x..., G, C/G], for a batch loop over the groups.
Term splitGroups(NodeBuilder &b, Term x, int64_t groups, mlir::AffineExpr channels);

} // namespace tilewright::ops
