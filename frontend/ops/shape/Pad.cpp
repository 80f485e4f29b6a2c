// SPDX-License-Identifier: Apache-2.0
// Pad.
#include "frontend/ops/Handlers.h"
#include "frontend/ops/shape/RunTimeShape.h"

#include <numeric>

using namespace mlir;

namespace tilewright::ops {

namespace {

/// The source coordinate of each padded element, computed at run time where a size or padding is symbolic.
Term symbolicPadIndex(NodeBuilder &b, AffineExpr size, AffineExpr low, AffineExpr high, const std::string &mode) {
  AffineExpr none = b.number(0),
             left = graph::canonicalSize(size + b.state.minimum(low, none) + b.state.minimum(high, none));
  if (!b.state.requireAtMost(b.number(1), left,
                             fmt::format("node '{}' pads an empty dimension with what it has", b.node.name)))
    malformed("expected elements to pad with, got an empty dimension");
  return padPositions(b, graph::canonicalSize(size + low + high), scalarOf(b, low), scalarOf(b, high),
                      scalarOf(b, size), mode);
}

/// The same as a constant.
Term constantPadIndex(NodeBuilder &b, int64_t size, int64_t low, int64_t high, const std::string &mode) {
  constexpr int64_t most = 1 << 24;
  b.expect(size > 0, "expected elements to pad with, got an empty dimension");
  b.expect(std::abs(low) <= most && std::abs(high) <= most && size + low + high >= 0,
           fmt::format("expected paddings that leave at least 0 elements, got {} and {}", low, high));
  Tensor index = Tensor::allocate(DType::I64, {size + low + high});
  // Negative paddings crop first, then the others pad what is left.
  int64_t cropped = std::max<int64_t>(0, -low), left = size + std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0);
  b.expect(left > 0 || index.count() == 0,
           fmt::format("expected elements to pad with, got paddings {} and {} of {}", low, high, size));
  for (int64_t i = 0; i < index.count(); ++i) {
    int64_t at = i - std::max<int64_t>(low, 0), period = 2 * (left - 1);
    if (mode == "edge")
      at = std::clamp<int64_t>(at, 0, left - 1);
    else if (mode == "wrap")
      at = llvm::mod(at, left);
    else if (period > 0)
      at = llvm::mod(at, period), at = at < left ? at : period - at;
    else
      at = 0;
    index.data<int64_t>()[i] = at + cropped;
  }
  return b.constantTerm(index);
}

/// Pads by mirroring, clamping or wrapping: a gather with the source coordinate of each padded element.
Term padByIndex(NodeBuilder &b, Term x, int64_t dim, AffineExpr low, AffineExpr high, const std::string &mode) {
  auto size = graph::constantSize(x.sizes()[dim]), before = graph::constantSize(low), after = graph::constantSize(high);
  return b.take(x, {dim},
                {size && before && after ? constantPadIndex(b, *size, *before, *after, mode)
                                         : symbolicPadIndex(b, x.sizes()[dim], low, high, mode)});
}

/// The paddings, which may be symbolic.
Sizes paddingsOf(NodeBuilder &b) {
  auto given = b.integers(b.hasAttribute("paddings") ? "paddings" : "pads");
  if (!given)
    return b.knownSizes(1);
  return llvm::map_to_vector(*given, [&](int64_t padding) { return b.number(padding); });
}

/// Pads with `fill`: by an access if it shifts elements by numbers, otherwise by their positions.
Term padByFill(NodeBuilder &b, Term x, const Sizes &low, const Sizes &high, double fill) {
  Sizes sizes = x.sizes();
  SmallVector<int64_t> shifts;
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    sizes[dim] = graph::canonicalSize(sizes[dim] + low[dim] + high[dim]);
    b.expect(graph::constantSize(sizes[dim]).value_or(0) >= 0,
             fmt::format("expected a result of at least 0 elements, got {} in dimension {}", b.state.print(sizes[dim]),
                         dim));
    if (std::optional<int64_t> shift = graph::constantSize(low[dim]))
      shifts.push_back(*shift);
  }
  if (shifts.size() == low.size())
    return b.pad(x, shifts, sizes, fill);
  Sizes counts;
  SmallVector<int64_t> dims;
  std::vector<Term> before, after;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (low[dim] != b.number(0) || high[dim] != b.number(0)) {
      dims.push_back(dim), counts.push_back(sizes[dim]);
      before.push_back(scalarOf(b, low[dim])), after.push_back(scalarOf(b, high[dim]));
    }
  return padTo(b, x, dims, counts, before, after, "constant", b.splat({}, x.element(), fill));
}

} // namespace

void pad(NodeBuilder &b) {
  if (!b.hasAttribute("paddings") && !b.hasAttribute("pads") && (isRunTime(b, 1) || isRunTime(b, 3)))
    return padWhenRunning(b);
  int64_t rank = b.rank(0);
  Sizes given = paddingsOf(b);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (b.has(3)) {
    axes = b.knownIntegers(3);
    for (int64_t &axis : axes)
      axis = b.axis(axis, rank);
  }
  b.expect(given.size() == 2 * axes.size(), fmt::format("expected {} paddings, got {}", 2 * axes.size(), given.size()));
  Sizes low(rank, b.number(0)), high(rank, b.number(0));
  for (size_t i = 0; i < axes.size(); ++i)
    low[axes[i]] = given[i], high[axes[i]] = given[axes.size() + i];
  std::string mode = b.text("mode", "constant");
  Term x = b.raw(0);
  if (mode != "constant") {
    for (int64_t dim = 0; dim < rank; ++dim)
      if (low[dim] != b.number(0) || high[dim] != b.number(0))
        x = padByIndex(b, x, dim, low[dim], high[dim], mode);
    return b.out(x);
  }
  double fill = b.real("value", 0);
  if (b.has(2)) {
    std::optional<double> constant = b.scalarConstant(2);
    if (!constant)
      decline("a padding value that is not a constant is not compiled");
    fill = *constant;
  }
  b.out(padByFill(b, x, low, high, fill));
}

} // namespace tilewright::ops
