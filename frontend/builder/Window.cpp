// SPDX-License-Identifier: Apache-2.0
// Sizes and padding of windows as ONNX computes them.
#include "frontend/builder/Window.h"

using namespace mlir;

namespace tilewright::ops {

SmallVector<int64_t> listAttribute(NodeBuilder &b, std::string_view name, size_t count, int64_t fallback,
                                   int64_t least) {
  auto given = b.integers(name);
  if (!given)
    return SmallVector<int64_t>(count, fallback);
  b.expect(given->size() == count,
           fmt::format("expected {} {} because of the input's rank, got {}", count, name, given->size()));
  for (int64_t value : *given)
    b.expect(value >= least && value <= (1 << 24),
             fmt::format("expected {} of {} to 2^24, got {}", name, least, value));
  return SmallVector<int64_t>(given->begin(), given->end());
}

WindowShape windowShape(NodeBuilder &b, ArrayRef<int64_t> kernel, ArrayRef<AffineExpr> spatialSizes) {
  WindowShape w;
  size_t n = spatialSizes.size();
  w.kernel.assign(kernel.begin(), kernel.end());
  b.expect(kernel.size() == n,
           fmt::format("expected a kernel of {} dimensions because of the input's rank, got {}", n, kernel.size()));
  w.strides = listAttribute(b, "strides", n, 1, 1);
  w.dilations = listAttribute(b, "dilations", n, 1, 1);
  SmallVector<int64_t> pads = listAttribute(b, "pads", 2 * n, 0, 0);
  w.low.assign(pads.begin(), pads.begin() + n);
  w.high.assign(pads.begin() + n, pads.end());
  std::string automatic = b.text("auto_pad", "NOTSET");
  bool ceiling = b.integer("ceil_mode", 0);
  for (size_t i = 0; i < n; ++i) {
    AffineExpr size = spatialSizes[i];
    b.expect(w.kernel[i] >= 1 && w.kernel[i] <= (1 << 24),
             fmt::format("expected kernel sizes of 1 to 2^24, got {}", w.kernel[i]));
    int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1, stride = w.strides[i];
    if (automatic == "VALID")
      w.low[i] = w.high[i] = 0;
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      std::optional<int64_t> constant = graph::constantSize(size);
      w.output.push_back(graph::canonicalSize(size.ceilDiv(stride)));
      if (!constant && stride != 1) {
        if (extent < stride) // the padding could then be negative
          decline("{} with strides beyond the kernel over a symbolic dimension is not compiled", automatic);
        AffineExpr total = (size.ceilDiv(stride) - 1) * stride + extent - size, half = total.floorDiv(2);
        w.shift.resize(n);
        w.shift[i] = graph::canonicalSize(automatic == "SAME_UPPER" ? half : total - half);
        w.low[i] = w.high[i] = 0;
        continue;
      }
      int64_t total =
          constant ? std::max<int64_t>(0, (llvm::divideCeilSigned(*constant, stride) - 1) * stride + extent - *constant)
                   : extent - 1;
      w.low[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[i] = total - w.low[i];
      continue;
    }
    AffineExpr room = size + (w.low[i] + w.high[i] - extent);
    AffineExpr count = ceiling ? room.ceilDiv(stride) + 1 : room.floorDiv(stride) + 1;
    if (ceiling) // the last window must start in the input or its low padding
      count = b.state.minimum(graph::canonicalSize(count),
                              graph::canonicalSize((size + (w.low[i] - 1)).floorDiv(stride) + 1));
    count = b.state.resolve(count);
    b.expect(graph::constantSize(count).value_or(1) >= 1,
             fmt::format("expected the kernel to fit in {} with its padding, got an extent of {}", b.state.print(size),
                         extent));
    w.output.push_back(count);
  }
  return w;
}

Term channelsLast(NodeBuilder &b, Term x) {
  SmallVector<int64_t> perm{0};
  for (int64_t i = 2; i < x.rank(); ++i)
    perm.push_back(i);
  perm.push_back(1);
  return b.transpose(x, perm);
}

Term channelsFirst(NodeBuilder &b, Term x) {
  SmallVector<int64_t> perm{0, x.rank() - 1};
  for (int64_t i = 1; i < x.rank() - 1; ++i)
    perm.push_back(i);
  return b.transpose(x, perm);
}

/// Padding that depends on a symbol: pads both ends of the dimension by the extent of a window, then slices at a
/// symbolic offset.
static Term shifted(NodeBuilder &b, Term x, const WindowShape &w, size_t i, double fill) {
  int64_t dim = 1 + static_cast<int64_t>(i), reach = (w.kernel[i] - 1) * w.dilations[i];
  Sizes sizes = x.sizes();
  sizes[dim] = graph::canonicalSize(sizes[dim] + 2 * reach);
  SmallVector<int64_t> low(x.rank(), 0);
  low[dim] = reach;
  Term padded = b.pad(x, low, sizes, fill);
  return b.slice(padded, dim, graph::canonicalSize(reach - w.shift[i]),
                 graph::canonicalSize((w.output[i] - 1) * w.strides[i] + reach + 1));
}

Term windowOf(NodeBuilder &b, Term x, const WindowShape &w, double fill, size_t first) {
  for (size_t i = 0; i < w.shift.size(); ++i)
    if (w.shift[i])
      x = shifted(b, x, w, i, fill);
  Sizes from = x.sizes(), sizes(from.begin(), from.begin() + first);
  llvm::append_range(sizes, w.output);
  for (int64_t k : w.kernel)
    sizes.push_back(b.number(k));
  sizes.append(from.begin() + first + w.spatial(), from.end());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(first, first + w.spatial()));
  return b.term(graph::WindowOp::create(b.state.builder, b.state.location, b.state.tensorType(sizes, x.element()),
                                        x.value, dims, w.strides, w.dilations, w.low, b.scalar(x.element(), fill)));
}

Term stored(NodeBuilder &b, Term x) { return b.stored(x, b.type(0)); }

} // namespace tilewright::ops
