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

/// For each window along a dimension, how many of its taps are in the image (with `includePadding`: or in its padding);
/// at least 1.
SmallVector<double> knownCounts(const WindowShape &w, size_t dim, int64_t size, bool includePadding) {
  SmallVector<double> counts;
  int64_t from = includePadding ? -w.low[dim] : 0, to = size + (includePadding ? w.high[dim] : 0);
  for (int64_t i = 0; i < *graph::constantSize(w.output[dim]); ++i) {
    int64_t inside = 0;
    for (int64_t k = 0, at = i * w.strides[dim] - w.low[dim]; k < w.kernel[dim]; ++k, at += w.dilations[dim])
      inside += at >= from && at < to;
    counts.push_back(static_cast<double>(std::max<int64_t>(inside, 1)));
  }
  return counts;
}

/// The same as an expression, for a size that is a symbol or large: a vector of int64.
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
  return b.maximum(count, 1);
}

/// Divides sums of windows by their numbers of taps: those of known sizes by one table, as long as it is small, and
/// others along each dimension.
Term averaged(NodeBuilder &b, Term sum, const WindowShape &w) {
  constexpr int64_t largestTable = 1 << 20;
  bool includePadding = b.integer("count_include_pad", 0), ceiling = b.integer("ceil_mode", 0);
  DType type = sum.element().isF64() ? DType::F64 : DType::F32;
  SmallVector<double> table{1};
  SmallVector<int64_t> tableDims, tableSizes;
  for (size_t dim = 0; dim < w.spatial(); ++dim) {
    auto size = graph::constantSize(b.sizes(0)[2 + dim]), results = graph::constantSize(w.output[dim]);
    bool isWhole = w.shift.empty() && !ceiling && (includePadding || (w.low[dim] == 0 && w.high[dim] == 0));
    if (!isWhole && !(size && results && *results * static_cast<int64_t>(table.size()) <= largestTable)) {
      Term counts = b.convert(countsAlong(b, w, dim, includePadding), DType::I64, type);
      sum = sum * b.along(1.0 / counts, sum, 1 + static_cast<int64_t>(dim));
      continue;
    }
    SmallVector<double> counts{static_cast<double>(w.kernel[dim])}, product;
    if (!isWhole) {
      counts = knownCounts(w, dim, *size, includePadding);
      tableDims.push_back(1 + static_cast<int64_t>(dim)), tableSizes.push_back(*results);
    }
    for (double before : table)
      for (double count : counts)
        product.push_back(before * count);
    table = std::move(product);
  }
  if (tableDims.empty())
    return table.front() == 1 ? sum : sum * (1.0 / table.front());
  Tensor shares = Tensor::allocate(type, Shape(tableSizes.begin(), tableSizes.end()));
  for (auto [i, count] : llvm::enumerate(table))
    if (type == DType::F64)
      shares.data<double>()[i] = 1.0 / count;
    else
      shares.data<float>()[i] = static_cast<float>(1.0 / count);
  return sum * b.broadcast(b.constantTerm(shares), sum.sizes(), tableDims);
}

/// Windows along one spatial dimension only, over an image of these spatial sizes.
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

/// Each window's maximum or sum, [N, x..., C] -> [N, o..., C]; sums of halves are f32. Large windows are reduced along
/// one dimension after the other, because the saved work costs more than writing and reading the image in between:
/// 13x13 windows compare 26 elements instead of 169. The first spatial dimension is reduced first, because that adds
/// whole rows of an image.
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
  b.out(channelsFirst(b, stored(b, averaged(b, sum, w))));
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
