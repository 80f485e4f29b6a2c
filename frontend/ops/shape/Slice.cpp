// SPDX-License-Identifier: Apache-2.0
// Slice, Split and Concat.
#include "frontend/ops/Handlers.h"
#include "frontend/ops/shape/RunTimeShape.h"

using namespace mlir;

namespace tilewright::ops {

namespace {

/// Normalizes a bound of Slice to 0..size: negative bounds count from the end, and bounds beyond an end are clamped.
AffineExpr sliceBound(NodeBuilder &b, AffineExpr bound, AffineExpr size) {
  constexpr int64_t far = std::numeric_limits<int32_t>::max() / 4; // exporters use a large number for "to the end"
  std::optional<int64_t> number = graph::constantSize(bound), extent = graph::constantSize(size);
  auto most = [&](AffineExpr a) { // min(a, size); with a guard that the dimension is not empty, min(1, size) is 1
    if (a == b.number(1) && !extent) {
      b.state.requireAtMost(a, size,
                            fmt::format("node '{}' slices an empty dimension {}", b.node.name, b.state.print(size)));
      return a;
    }
    return b.state.minimum(a, size);
  };
  if (number && extent)
    return b.number(std::clamp<int64_t>(*number < 0 ? *number + *extent : *number, 0, *extent));
  if (number && *number < 0)
    return *number < -far ? b.number(0) : graph::canonicalSize(size - most(b.number(-*number)));
  if (number && *number >= 1000000000)
    return size;
  if (AffineExpr fromEnd = graph::canonicalSize(bound * -1); !number && graph::isNonNegative(fromEnd)) {
    b.state.requireAtMost(
        b.number(1), fromEnd, // -0 would be the start, not the end
        fmt::format("node '{}' slices from or to {}, which must be negative", b.node.name, b.state.print(bound)));
    return graph::canonicalSize(size - most(fromEnd));
  }
  if (!graph::isNonNegative(bound))
    b.state.requireAtMost(
        b.number(0), bound,
        fmt::format("node '{}' slices from or to {}, which must not be negative", b.node.name, b.state.print(bound)));
  return most(bound);
}

Term sliceAlong(NodeBuilder &b, Term x, int64_t axis, AffineExpr start, AffineExpr end, int64_t step) {
  AffineExpr size = x.sizes()[axis];
  if (step > 0) {
    AffineExpr first = sliceBound(b, start, size), last = sliceBound(b, end, size);
    AffineExpr length = b.state.maximum(graph::canonicalSize(last - first), b.number(0));
    AffineExpr count = step == 1 ? length : graph::canonicalSize(length.ceilDiv(step));
    if (auto constant = graph::constantSize(count); constant == 0)
      first = b.number(0);
    return b.slice(x, axis, first, count, step);
  }
  // Backward: from start (at most size - 1) down to end (exclusive, at least -1; numbers below -size stand for -1).
  std::optional<int64_t> extent = graph::constantSize(size), from = graph::constantSize(start),
                         to = graph::constantSize(end);
  if (!from || !to)
    decline("a backward slice from or to a symbolic position is not compiled");
  if (!extent) {
    bool whole = (*from == -1 || *from >= 1000000000) && *to < -1000000000;
    if (!whole)
      decline("a backward slice of part of a symbolic dimension is not compiled");
    return b.slice(x, axis, size - 1, graph::canonicalSize(size.ceilDiv(-step)), step);
  }
  int64_t first = std::clamp<int64_t>(*from < 0 ? *from + *extent : *from, *extent > 0 ? 0 : -1, *extent - 1);
  int64_t last = *to < -*extent ? -1 : std::clamp<int64_t>(*to < 0 ? *to + *extent : *to, -1, *extent - 1);
  int64_t count = std::max<int64_t>(0, (first - last - step - 1) / -step);
  return b.slice(x, axis, b.number(count ? first : 0), b.number(count), count ? step : 1);
}

/// Whether one of `bounds` is minus a size that the data decides, such as a number of detections. That may be 0, and
/// then the bound does not count from the end.
bool mayCountNothing(NodeBuilder &b, const Sizes &bounds) {
  return llvm::any_of(bounds, [&](AffineExpr bound) {
    AffineExpr fromEnd = graph::canonicalSize(bound * -1);
    return graph::isNonNegative(fromEnd) && !graph::isNonNegative(fromEnd - 1) && !b.state.isEarly(fromEnd);
  });
}

} // namespace

void slice(NodeBuilder &b) {
  if (b.node.opset >= 10 && (isRunTime(b, 1) || isRunTime(b, 2) || isRunTime(b, 3) || isRunTime(b, 4)))
    return sliceWhenRunning(b);
  Sizes starts, ends;
  std::vector<int64_t> axes, steps;
  if (b.node.opset < 10) {
    for (int64_t start : b.integers("starts").value_or(std::vector<int64_t>()))
      starts.push_back(b.number(start));
    for (int64_t end : b.integers("ends").value_or(std::vector<int64_t>()))
      ends.push_back(b.number(end));
    axes = b.integers("axes").value_or(std::vector<int64_t>());
  } else {
    starts = b.knownSizes(1), ends = b.knownSizes(2);
    if (mayCountNothing(b, starts) || mayCountNothing(b, ends))
      return sliceWhenRunning(b);
    if (b.has(3))
      axes = b.knownIntegers(3);
    if (b.has(4))
      steps = b.knownIntegers(4);
  }
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(static_cast<int64_t>(i));
  steps.resize(steps.empty() ? starts.size() : steps.size(), 1);
  b.expect(starts.size() == ends.size() && axes.size() == starts.size() && steps.size() == starts.size(),
           fmt::format("expected as many starts, ends, axes and steps, got {}, {}, {} and {}", starts.size(),
                       ends.size(), axes.size(), steps.size()));
  Term x = b.raw(0);
  for (size_t i = 0; i < starts.size(); ++i) {
    b.expect(steps[i] != 0, "expected steps other than 0");
    steps[i] = std::clamp<int64_t>(steps[i], -(int64_t(1) << 40), int64_t(1) << 40);
    x = sliceAlong(b, x, b.axis(axes[i], x.rank()), starts[i], ends[i], steps[i]);
  }
  b.out(x);
}

void split(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", 0), b.rank(0));
  AffineExpr size = b.sizes(0)[axis];
  Sizes parts;
  if (auto given = b.integers("split"))
    for (int64_t part : *given)
      parts.push_back(b.number(part));
  else if (b.has(1))
    parts = b.sizesFrom(1);
  auto count = static_cast<int64_t>(b.node.outputs.size());
  if (parts.empty()) {
    AffineExpr chunk = graph::canonicalSize(size.ceilDiv(count)); // the last part may be smaller
    if (b.node.opset < 18 && !graph::constantSize(size)) {
      chunk = b.divide(size, b.number(count), "a dimension to split");
      size = b.sizes(0)[axis];
    }
    parts.assign(count, chunk);
    AffineExpr rest = graph::canonicalSize(size - chunk * (count - 1));
    if (b.node.opset >= 18)
      b.state.requireAtMost(b.number(0), rest,
                            fmt::format("node '{}' splits {} elements in {}", b.node.name, b.state.print(size), count));
    parts.back() = rest;
  }
  b.expect(static_cast<int64_t>(parts.size()) == count,
           fmt::format("expected {} parts because of the outputs, got {}", count, parts.size()));
  AffineExpr offset = b.number(0);
  Term x = b.raw(0);
  for (int64_t i = 0; i < count; ++i) {
    b.expect(graph::constantSize(parts[i]).value_or(0) >= 0,
             fmt::format("expected parts of at least 0, got {}", b.print(parts)));
    b.out(b.slice(x, axis, offset, parts[i]), b.type(0), i);
    offset = graph::canonicalSize(offset + parts[i]);
  }
  b.unify(offset, size, "the sum of the parts");
}

/// A kernel that reads an element of a concatenation chooses among all parts. Many parts are therefore joined in a
/// tree.
static Term joined(NodeBuilder &b, ArrayRef<Term> parts, int64_t axis) {
  constexpr size_t most = 64, together = 32;
  if (parts.size() <= most)
    return b.concat(parts, axis);
  SmallVector<Term> larger;
  for (; !parts.empty(); parts = parts.drop_front(std::min(together, parts.size())))
    larger.push_back(b.concat(parts.take_front(together), axis));
  return joined(b, larger, axis);
}

void concat(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", b.node.opset < 4 ? 1 : 0), b.rank(0));
  SmallVector<Term> parts;
  for (size_t i = 0; i < b.node.inputs.size(); ++i) {
    Term part = b.raw(i);
    b.expect(part.rank() == b.rank(0),
             fmt::format("expected operands of rank {}, got operand {} of rank {}", b.rank(0), i, part.rank()));
    for (int64_t dim = 0; dim < part.rank(); ++dim)
      if (dim != axis)
        b.unify(part.sizes()[dim], parts.empty() ? part.sizes()[dim] : parts[0].sizes()[dim],
                fmt::format("dimension {} of operand {}", dim, i));
    parts.push_back(part);
  }
  llvm::erase_if(parts, [&](Term part) { return graph::constantSize(part.sizes()[axis]) == 0; });
  b.out(parts.empty() ? b.raw(0) : joined(b, parts, axis));
}

} // namespace tilewright::ops
