// SPDX-License-Identifier: Apache-2.0
// Poolings: reductions of windows, with channels last.
//
//   x [N, C, H, W] -> transpose [N, H, W, C] -> window [N, OH, OW, KH, KW, C] -> reduce -> [N, OH, OW, C] -> transpose
#include "frontend/builder/Window.h"
#include "frontend/ops/Handlers.h"

using namespace mlir;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

WindowShape poolShape(NodeBuilder &b) {
  b.expect(b.rank(0) >= 3, fmt::format("expected rank 3 or more, got {}", b.rank(0)));
  auto kernel = b.integers("kernel_shape");
  b.expect(kernel.has_value(), "expected kernel_shape, got none");
  return windowShape(b, *kernel, llvm::ArrayRef(b.sizes(0)).drop_front(2));
}

SmallVector<int64_t> kernelAxes(const WindowShape &w) {
  return llvm::to_vector(llvm::seq<int64_t>(1 + w.spatial(), 1 + 2 * w.spatial()));
}

/// The number of elements in each window, by output position: the product of those inside along each dimension.
Tensor windowCounts(NodeBuilder &b, const WindowShape &w, bool includePadding) {
  Shape shape;
  double elements = 1;
  for (AffineExpr size : w.output)
    shape.push_back(*graph::constantSize(size)), elements *= static_cast<double>(shape.back());
  if (elements > 1 << 24)
    decline("averages over {} partly padded windows are not compiled", elements);
  Tensor counts = Tensor::allocate(DType::F32, shape);
  for (int64_t flat = 0; flat < counts.count(); ++flat) {
    double product = 1;
    for (int64_t dim = static_cast<int64_t>(w.spatial()), rest = flat; dim-- > 0; rest /= shape[dim]) {
      int64_t size = *graph::constantSize(b.sizes(0)[2 + dim]), inside = 0;
      int64_t from = includePadding ? -w.low[dim] : 0, to = size + (includePadding ? w.high[dim] : 0);
      for (int64_t k = 0; k < w.kernel[dim]; ++k) {
        int64_t at = rest % shape[dim] * w.strides[dim] + k * w.dilations[dim] - w.low[dim];
        inside += at >= from && at < to;
      }
      product *= static_cast<double>(inside);
    }
    counts.data<float>()[flat] = static_cast<float>(1.0 / std::max(product, 1.0));
  }
  return counts;
}

/// The same along one dimension of symbolic size: a vector of floats.
Term countsAlong(NodeBuilder &b, const WindowShape &w, size_t dim, bool includePadding) {
  Sizes sizes{w.output[dim]};
  Type i64 = b.state.builder.getI64Type();
  Term at = b.iota(sizes, 0, i64) * static_cast<double>(w.strides[dim]) - static_cast<double>(w.low[dim]);
  if (w.shift.size() > dim && w.shift[dim])
    at = at - b.sizeAs(w.shift[dim], sizes, i64);
  Term end =
      b.sizeAs(b.sizes(0)[2 + dim] + (includePadding ? w.high[dim] : 0), sizes, i64) - at; // up to the end of the input
  Term before = includePadding ? b.like(at, 0) : b.maximum(-at, 0);
  auto steps = [&](Term distance) { // the number of taps within that distance
    int64_t dilation = w.dilations[dim];
    return dilation == 1 ? distance
                         : b.divideIntegers(distance + static_cast<double>(dilation - 1),
                                            b.like(distance, static_cast<double>(dilation)), true);
  };
  Term count = b.minimum(steps(end), static_cast<double>(w.kernel[dim])) - steps(before);
  return b.convert(b.maximum(count, 1), DType::I64, DType::F32);
}

/// The windows of one spatial dimension alone, over an image of these sizes.
WindowShape alongOne(const WindowShape &w, size_t dim, ArrayRef<AffineExpr> image) {
  size_t n = w.spatial();
  WindowShape one{SmallVector<int64_t>(n, 1), SmallVector<int64_t>(n, 1), SmallVector<int64_t>(n, 1),
                  SmallVector<int64_t>(n, 0), SmallVector<int64_t>(n, 0), Sizes(image.begin(), image.end())};
  one.kernel[dim] = w.kernel[dim], one.strides[dim] = w.strides[dim], one.dilations[dim] = w.dilations[dim];
  one.low[dim] = w.low[dim], one.high[dim] = w.high[dim], one.output[dim] = w.output[dim];
  if (dim < w.shift.size() && w.shift[dim]) {
    one.shift.resize(n);
    one.shift[dim] = w.shift[dim];
  }
  return one;
}

/// Each window's largest element or sum, [N, x..., C] -> [N, o..., C]; sums of halves in f32. Along one dimension after
/// the other where windows have so many elements that writing and reading an image between costs less: 13x13 windows
/// compare 26 elements instead of 169. The first dimension comes first, as it is reduced by whole rows of an image.
Term reduceWindows(NodeBuilder &b, ReduceKind kind, Term x, const WindowShape &w, double fill) {
  constexpr int64_t mostAtOnce = 9;
  auto reduced = [&](const WindowShape &of) {
    Term result = b.reduce(kind, b.widen(windowOf(b, x, of, fill)), kernelAxes(of));
    return kind == ReduceKind::Max ? stored(b, result) : result;
  };
  int64_t elements = 1;
  for (int64_t k : w.kernel)
    elements *= k;
  bool isWhole = llvm::all_of(w.output, [](AffineExpr size) { return graph::constantSize(size) == 1; });
  if (isWhole || elements <= mostAtOnce || llvm::count_if(w.kernel, [](int64_t k) { return k > 1; }) < 2)
    return reduced(w);
  for (size_t dim = 0; dim < w.spatial(); ++dim)
    x = reduced(alongOne(w, dim, ArrayRef<AffineExpr>(x.sizes()).slice(1, w.spatial())));
  return x;
}

} // namespace

void maxPool(NodeBuilder &b) {
  if (b.wants(1))
    decline("MaxPool with indices is not compiled");
  WindowShape w = poolShape(b);
  DType type = b.type(0);
  Term x = channelsLast(b, b.raw(0));
  bool isUnsigned = !findDType(type)->isSigned;
  if (isUnsigned)
    x = b.convert(x, type, DType::I32);
  double lowest = isFloat(type) ? -std::numeric_limits<double>::infinity()
                                : -std::ldexp(1.0, static_cast<int>(x.element().getIntOrFloatBitWidth()) - 1);
  Term result = reduceWindows(b, ReduceKind::Max, x, w, lowest);
  b.out(channelsFirst(b, isUnsigned ? b.convert(result, DType::I32, type) : result));
}

void averagePool(NodeBuilder &b) {
  WindowShape w = poolShape(b);
  Term sum = reduceWindows(b, ReduceKind::Sum, channelsLast(b, b.raw(0)), w, 0);
  bool includePadding = b.integer("count_include_pad", 0);
  auto zero = [](ArrayRef<int64_t> list) { return llvm::all_of(list, [](int64_t v) { return v == 0; }); };
  bool full = w.shift.empty() && ((zero(w.low) && zero(w.high)) || includePadding) && !b.integer("ceil_mode", 0);
  bool known = llvm::all_of(llvm::concat<AffineExpr>(w.output, Sizes(b.sizes(0).begin() + 2, b.sizes(0).end())),
                            [](AffineExpr size) { return graph::constantSize(size).has_value(); });
  int64_t elements = 1;
  for (int64_t k : w.kernel)
    elements *= k;
  if (full)
    sum = sum * (1.0 / static_cast<double>(elements));
  else if (known && sum.element().isF32())
    sum = sum * b.broadcast(b.constantTerm(windowCounts(b, w, includePadding)), sum.sizes(),
                            llvm::to_vector(llvm::seq<int64_t>(1, 1 + w.spatial())));
  else if (sum.element().isF32())
    for (size_t dim = 0; dim < w.spatial(); ++dim)
      sum = sum * b.along(1.0 / countsAlong(b, w, dim, includePadding), sum, 1 + static_cast<int64_t>(dim));
  else
    decline("averages of f64 over partly padded windows of symbolic sizes are not compiled");
  b.out(channelsFirst(b, stored(b, sum)));
}

void lpPool(NodeBuilder &b) {
  WindowShape w = poolShape(b);
  int64_t p = b.integer("p", 2);
  Term x = b.widen(windowOf(b, channelsLast(b, b.raw(0)), w, 0));
  if (p != 1 && p != 2)
    decline("LpPool with p = {} is not compiled", p);
  Term sum = b.reduce(ReduceKind::Sum, p == 1 ? b.abs(x) : x * x, kernelAxes(w));
  b.out(channelsFirst(b, stored(b, p == 1 ? sum : b.sqrt(sum))));
}

namespace {
template <typename Reduce> void globalPool(NodeBuilder &b, Reduce reduce) {
  b.expect(b.rank(0) >= 2, fmt::format("expected rank 2 or more, got {}", b.rank(0)));
  Term x = b.in(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x.rank()));
  b.out(b.keepDims(reduce(x, axes), x, axes, true));
}
} // namespace

void globalAveragePool(NodeBuilder &b) {
  globalPool(b, [&](Term x, ArrayRef<int64_t> axes) { return b.mean(x, axes); });
}
void globalMaxPool(NodeBuilder &b) {
  globalPool(b, [&](Term x, ArrayRef<int64_t> axes) { return b.reduce(ReduceKind::Max, x, axes); });
}
void globalLpPool(NodeBuilder &b) {
  if (b.integer("p", 2) != 2)
    decline("GlobalLpPool with p = {} is not compiled", b.integer("p", 2));
  globalPool(b, [&](Term x, ArrayRef<int64_t> axes) { return b.sqrt(b.reduce(ReduceKind::Sum, x * x, axes)); });
}

} // namespace tilewright::ops
