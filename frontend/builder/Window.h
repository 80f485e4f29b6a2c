// What convolutions and poolings share: windows over channels-last tensors.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// Kernel, strides, dilations, padding, and the spatial sizes that follow.
struct WindowShape {
  llvm::SmallVector<int64_t> kernel, strides, dilations, low, high;
  Sizes output;
  Sizes shift =
      {}; // padding at the low end that depends on a symbol (SAME_UPPER under strides), where low is 0; null or absent elsewhere
  size_t spatial() const { return kernel.size(); }
};

/// A list attribute of `count` integers of at least `least`, or `fallback` everywhere.
llvm::SmallVector<int64_t> listAttribute(NodeBuilder &b, std::string_view name, size_t count, int64_t fallback,
                                         int64_t least);

/// From the node's attributes (strides, dilations, pads, auto_pad, ceil_mode).
WindowShape windowShape(NodeBuilder &b, llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<mlir::AffineExpr> spatialSizes);

/// [N, C, x...] -> [N, x..., C], and back.
Term channelsLast(NodeBuilder &b, Term x);
Term channelsFirst(NodeBuilder &b, Term x);

/// [N, x..., rest...] -> [N, o..., k..., rest...]
Term windowOf(NodeBuilder &b, Term x, const WindowShape &w, double fill);

/// Rounded to the type of input 0 where that is a half type: ONNX rounds where the node ends, and what moves after it
/// is what is stored.
Term stored(NodeBuilder &b, Term x);

} // namespace tilewright::ops
