// SPDX-License-Identifier: Apache-2.0
// Windows over channels-last tensors, for convolutions and poolings.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// Kernel, strides, dilations and padding for each spatial dimension, and the sizes of the result that follow from
/// them.
struct WindowShape {
  llvm::SmallVector<int64_t> kernel, strides, dilations, low, high;
  Sizes output;
  /// Low padding of a dimension for which it depends on a symbol (auto_pad with strides); `low` is then 0. Empty, or
  /// null for a dimension, where it does not.
  Sizes shift = {};
  size_t spatial() const { return kernel.size(); }
};

/// A list attribute of `count` integers, each at least `least`; `count` times `fallback` if it is absent.
llvm::SmallVector<int64_t> listAttribute(NodeBuilder &b, std::string_view name, size_t count, int64_t fallback,
                                         int64_t least);

/// Reads the node's attributes strides, dilations, pads, auto_pad and ceil_mode.
WindowShape windowShape(NodeBuilder &b, llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<mlir::AffineExpr> spatialSizes);

/// [N, C, x...] -> [N, x..., C], and the reverse.
Term channelsLast(NodeBuilder &b, Term x);
Term channelsFirst(NodeBuilder &b, Term x);

/// The windows of x: [N..., x..., rest...] -> [N..., o..., k..., rest...]. `first` is the number of dimensions N.
/// Elements in the padding are `fill`.
Term windowOf(NodeBuilder &b, Term x, const WindowShape &w, double fill, size_t first = 1);

/// Rounds to the type of input 0 if that is a half type. Called before the final transpose, so that the transpose moves
/// elements of the storage type.
Term stored(NodeBuilder &b, Term x);

} // namespace tilewright::ops
