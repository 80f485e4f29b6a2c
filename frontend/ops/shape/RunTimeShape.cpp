// SPDX-License-Identifier: Apache-2.0
// Reshape, Slice, Pad and similar operators with operands that are only known at run time. Result sizes become symbols
// (RunTimeSizes.h), positions remain data.
//
//   Slice   out[i] = x[start + i * step]           a gather along each dimension that may be sliced
//   Pad     out[i] = x[position(i - low)], or fill   likewise
#include "frontend/ops/shape/RunTimeShape.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {
namespace {

Term number(NodeBuilder &b, int64_t value) { return scalarOf(b, value); }
Term clamped(Term x, Term low, Term high) { return x.builder->minimum(x.builder->maximum(x, low), high); }

/// 0, 1, ..., count - 1.
Term positions(NodeBuilder &b, AffineExpr count) { return b.iota({count}, 0, b.state.builder.getI64Type()); }

/// The elements of an optional input, one for each dimension; `otherwise` for dimensions that `axes` does not name.
class PerDimension {
public:
  PerDimension(NodeBuilder &b, size_t axesInput, size_t count, RunTimeSizes &read) : b(b) {
    if (isRunTime(b, axesInput)) {
      unknown.emplace(b, axesInput, b.rank(0), read);
      return;
    }
    for (size_t i = 0; i < count && !b.has(axesInput); ++i)
      known.push_back(static_cast<int64_t>(i));
    if (b.has(axesInput))
      for (int64_t axis : b.knownIntegers(axesInput))
        known.push_back(b.axis(axis, b.rank(0)));
  }

  size_t count() const { return unknown ? unknown->axes().size() : known.size(); }
  bool mayName(int64_t dim) const { return unknown || llvm::is_contained(known, dim); }
  Term at(int64_t dim, llvm::ArrayRef<Term> list, Term otherwise) const {
    Term result = otherwise;
    for (size_t i = 0; i < count(); ++i)
      if (unknown)
        result = b.select(isEqual(unknown->axes()[i], number(b, dim)), list[i], result);
      else if (known[i] == dim)
        result = list[i];
    return result;
  }

private:
  NodeBuilder &b;
  std::vector<int64_t> known;
  std::optional<RunTimeAxes> unknown;
};

} // namespace

//===- Reshape, Expand, Squeeze, Unsqueeze ------------------------------------------------------------------------===//

/// Sets output 0 to input 0 under sizes that were read at run time. Only their product is known: it is that of the
/// input's sizes.
static void rename(NodeBuilder &b, const Sizes &sizes) {
  b.state.recordEqual(b.product(sizes), b.product(b.sizes(0)));
  b.out(b.conform(b.raw(0), sizes));
}

void reshapeWhenRunning(NodeBuilder &b) {
  RunTimeSizes read(b);
  std::vector<Term> target = b.scalars(1);
  const Sizes from = b.sizes(0);
  bool allowZero = b.integer("allowzero", 0);
  Term one = number(b, 1), zero = number(b, 0), total = scalarOf(b, b.product(from)), rest = one, open = zero,
       none = number(b, -1);
  for (size_t i = 0; i < target.size(); ++i) {
    Term isOpen = isEqual(target[i], none), isZero = isEqual(target[i], zero);
    if (!allowZero && i < from.size())
      target[i] = b.select(isZero, scalarOf(b, from[i]), target[i]);
    else if (!allowZero)
      read.require(b.compare(F::ONE, I::ne, target[i], zero),
                   fmt::format("expected no size of 0 after the {} that the input has", from.size()));
    rest = rest * b.select(isOpen, one, target[i]);
    open = open + b.convert(isOpen, DType::Bool, DType::I64);
  }
  read.require(b.compare(F::OLE, I::sle, open, one), "expected at most one size of -1");
  Term remaining = b.divideIntegers(total, rest, true), elements = one;
  Sizes result;
  for (size_t i = 0; i < target.size(); ++i) {
    Term size = b.select(isEqual(target[i], none), remaining, target[i]);
    elements = elements * size;
    result.push_back(read.add(size, i ? b.number(1) : b.product(from)));
  }
  read.require(isEqual(elements, total), fmt::format("expected a shape of as many elements as {} has", b.print(from)));
  read.read();
  rename(b, result);
}

void expandWhenRunning(NodeBuilder &b) {
  RunTimeSizes read(b);
  std::vector<Term> target = b.scalars(1);
  Sizes own = b.sizes(0), kept, result;
  size_t rank = std::max(own.size(), target.size());
  Term one = number(b, 1);
  for (size_t i = 0; i < rank; ++i) {
    AffineExpr size = i + own.size() < rank ? b.number(1) : own[i + own.size() - rank];
    bool isGiven = i + target.size() >= rank;
    Term wanted = isGiven ? target[i + target.size() - rank] : one, mine = scalarOf(b, size);
    if (graph::constantSize(size) != 1 && isGiven) {
      Term fits = either(isEqual(wanted, one), isEqual(wanted, mine));
      read.require(graph::constantSize(size) ? fits : either(fits, isEqual(mine, one)),
                   fmt::format("expected a shape that {} broadcasts to, got another size at {}", b.print(own), i));
    }
    if (!isGiven || graph::constantSize(size).value_or(1) != 1)
      result.push_back(size);
    else
      result.push_back(read.add(b.select(isEqual(mine, one), wanted, mine), size));
    if (i + own.size() >= rank)
      kept.push_back(graph::constantSize(size) == 1 ? size : result.back());
  }
  read.read();
  Term x = b.raw(0);
  if (kept != own) // either may be 1
    x = b.term(
        graph::RepeatOp::create(b.state.builder, b.state.location, b.state.tensorType(kept, x.element()), x.value));
  b.out(b.broadcast(x, result));
}

void squeezeWhenRunning(NodeBuilder &b) {
  RunTimeSizes read(b);
  RunTimeAxes axes(b, 1, b.rank(0), read);
  b.expect(axes.count() <= b.rank(0),
           fmt::format("expected at most {} axes because of the rank, got {}", b.rank(0), axes.count()));
  Sizes result = sizesWithout(b, axes, b.sizes(0), /*keep=*/false, read);
  for (auto [dim, size] : llvm::enumerate(b.sizes(0)))
    if (graph::constantSize(size) != 1) {
      Term stays = isEqual(axes.contains(dim), b.splatInteger({}, b.state.builder.getI1Type(), 0));
      read.require(either(stays, isEqual(scalarOf(b, size), number(b, 1))),
                   fmt::format("expected dimension {} = 1 where it is dropped", dim));
    }
  read.read();
  rename(b, result);
}

void unsqueezeWhenRunning(NodeBuilder &b) {
  RunTimeSizes read(b);
  const Sizes from = b.sizes(0);
  std::optional<int64_t> count = b.rank(1) <= 1 ? graph::constantSize(b.product(b.sizes(1))) : std::nullopt;
  if (!count)
    decline("how many axes there are is only known at run time");
  int64_t own = b.rank(0), rank = own + *count;
  RunTimeAxes axes(b, 1, rank, read);
  Sizes result;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Term size = number(b, 1), source = number(b, dim) - axes.below(dim);
    for (int64_t at = std::max<int64_t>(0, dim - *count); at <= std::min(dim, own - 1); ++at)
      size = b.select(isEqual(source, number(b, at)), scalarOf(b, from[at]), size);
    result.push_back(
        read.add(b.select(axes.contains(dim), number(b, 1), size), dim < *count ? b.number(1) : from[dim - *count]));
  }
  read.read();
  rename(b, result);
}

//===- Slice ------------------------------------------------------------------------------------------------------===//

namespace {

/// A slice of one dimension: start, step and number of elements.
struct Steps {
  Term start, step, count;
};

/// Negative bounds count from the end, and bounds beyond an end are clamped.
Steps stepsOf(NodeBuilder &b, Term start, Term end, Term step, Term size) {
  Term zero = number(b, 0), one = number(b, 1), isForward = isBelow(zero, step);
  auto bound = [&](Term given) {
    Term at = b.select(isBelow(given, zero), given + size, given);
    return b.select(isForward, clamped(at, zero, size), clamped(at, number(b, -1), size - one));
  };
  // Backward, a start before the first element means the first, and an end there means one before it.
  Term first = bound(start), last = bound(end);
  first = b.select(isForward, first, b.maximum(first, b.minimum(zero, size - one)));
  return {first, step, stepsBetween(first, last, step)};
}

} // namespace

void sliceWhenRunning(NodeBuilder &b) {
  RunTimeSizes read(b);
  std::vector<Term> starts = b.scalars(1), ends = b.scalars(2), steps(starts.size(), number(b, 1));
  if (b.has(4))
    steps = b.scalars(4);
  PerDimension axes(b, 3, starts.size(), read);
  b.expect(ends.size() == starts.size() && axes.count() == starts.size() && steps.size() == starts.size() &&
               starts.size() <= b.sizes(0).size(),
           fmt::format("expected as many starts, ends, axes and steps, at most {}, got {}, {}, {} and {}", b.rank(0),
                       starts.size(), ends.size(), axes.count(), steps.size()));
  if (b.has(4))
    for (Term step : steps)
      read.require(b.compare(F::ONE, I::ne, step, number(b, 0)), "expected steps other than 0");
  Term x = b.raw(0);
  std::vector<Steps> sliced;
  Sizes counts;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < b.rank(0); ++dim) {
    if (!axes.mayName(dim))
      continue;
    Term size = scalarOf(b, x.sizes()[dim]);
    dims.push_back(dim);
    sliced.push_back(stepsOf(b, axes.at(dim, starts, number(b, 0)), axes.at(dim, ends, size),
                             axes.at(dim, steps, number(b, 1)), size));
    counts.push_back(read.add(sliced.back().count, x.sizes()[dim]));
  }
  read.read();
  SmallVector<Term> indices;
  for (auto [steps, count] : llvm::zip_equal(sliced, counts))
    indices.push_back(steps.start + positions(b, count) * steps.step);
  b.out(b.take(x, dims, indices));
}

//===- Pad --------------------------------------------------------------------------------------------------------===//

Term padPositions(NodeBuilder &b, AffineExpr count, Term low, Term high, Term size, const std::string &mode) {
  Term zero = number(b, 0), one = number(b, 1), at = positions(b, count);
  if (mode == "constant")
    return at - low;
  // Negative paddings crop first, then the others pad what is left.
  Term left = size + b.minimum(low, zero) + b.minimum(high, zero), cropped = b.maximum(zero - low, zero);
  at = at - b.maximum(low, zero);
  if (mode == "edge")
    at = clamped(at, zero, left - one);
  else if (mode == "wrap")
    at = floorModulo(at, left);
  else {
    Term period = (left - one) * number(b, 2);
    at = floorModulo(at, b.maximum(period, one));
    at = b.select(isBelow(at, left), at, period - at);
  }
  return at + cropped;
}

Term padTo(NodeBuilder &b, Term x, llvm::ArrayRef<int64_t> dims, const Sizes &counts, llvm::ArrayRef<Term> low,
           llvm::ArrayRef<Term> high, const std::string &mode, Term fill) {
  Sizes result = x.sizes(), larger = x.sizes();
  SmallVector<Term> indices;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    indices.push_back(padPositions(b, counts[i], low[i], high[i], scalarOf(b, x.sizes()[dim]), mode));
    result[dim] = counts[i], larger[dim] = graph::canonicalSize(larger[dim] + 1);
  }
  if (mode != "constant")
    return b.take(x, dims, indices);
  // Elements of the padding read an extra element, which is there even if the dimension is empty.
  Term inside = b.splatInteger(result, b.state.builder.getI1Type(), 1);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Term size = scalarOf(b, x.sizes()[dim]);
    Term isInside = both(b.compare(F::OGE, I::sge, indices[i], number(b, 0)), isBelow(indices[i], size));
    indices[i] = b.select(isInside, indices[i], size);
    inside = both(inside, b.broadcast(isInside, result, {dim}));
  }
  Term padded = b.pad(x, SmallVector<int64_t>(x.rank(), 0), larger, 0);
  return b.select(inside, b.widen(b.take(padded, dims, indices)),
                  b.widen(fill)); // select has no half types
}

namespace {

/// Pads dimensions dims[i] of `x` by low[i] and high[i] elements. `read` must not contain sizes yet, only conditions.
Term padBy(NodeBuilder &b, Term x, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<Term> low, llvm::ArrayRef<Term> high,
           const std::string &mode, Term fill, RunTimeSizes &read) {
  Term zero = number(b, 0);
  Sizes counts;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Term size = scalarOf(b, x.sizes()[dim]);
    Term count = size + low[i] + high[i], left = size + b.minimum(low[i], zero) + b.minimum(high[i], zero);
    if (mode != "constant")
      read.require(either(isBelow(zero, left), isEqual(count, zero)), "expected elements to pad with");
    counts.push_back(read.add(count, x.sizes()[dim]));
  }
  read.read();
  return padTo(b, x, dims, counts, low, high, mode, fill);
}

} // namespace

void padWhenRunning(NodeBuilder &b) {
  RunTimeSizes read(b);
  std::vector<Term> pads = b.scalars(1);
  std::string mode = b.text("mode", "constant");
  b.expect(mode == "constant" || mode == "edge" || mode == "wrap" || mode == "reflect",
           fmt::format("expected a mode of constant, edge, reflect or wrap, got '{}'", mode));
  PerDimension axes(b, 3, pads.size() / 2, read);
  b.expect(pads.size() == 2 * axes.count(), fmt::format("expected {} paddings, got {}", 2 * axes.count(), pads.size()));
  b.expect(static_cast<int64_t>(axes.count()) <= b.rank(0),
           fmt::format("expected at most {} axes, got {}", b.rank(0), axes.count()));
  Term x = b.raw(0), zero = number(b, 0);
  Term fill = mode == "constant" && b.has(2) ? b.reshape(b.raw(2), {}) : b.splat({}, x.element(), b.real("value", 0));
  llvm::ArrayRef<Term> lows = llvm::ArrayRef(pads).take_front(axes.count()),
                       highs = llvm::ArrayRef(pads).drop_front(axes.count());
  std::vector<Term> low, high;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < b.rank(0); ++dim)
    if (axes.mayName(dim)) {
      dims.push_back(dim);
      low.push_back(axes.at(dim, lows, zero)), high.push_back(axes.at(dim, highs, zero));
    }
  b.out(padBy(b, x, dims, low, high, mode, fill, read));
}

/// Crops or pads each dimension equally on both sides, with the odd element at the end.
void centerCropPad(NodeBuilder &b) {
  RunTimeSizes read(b);
  std::vector<Term> target = b.scalars(1), low, high;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < b.rank(0) && !b.hasAttribute("axes"); ++dim)
    dims.push_back(dim);
  for (int64_t axis : b.integers("axes").value_or(std::vector<int64_t>()))
    dims.push_back(b.axis(axis, b.rank(0)));
  b.expect(target.size() == dims.size(), fmt::format("expected {} sizes, got {}", dims.size(), target.size()));
  for (auto [size, dim] : llvm::zip_equal(target, dims)) {
    Term more = size - scalarOf(b, b.sizes(0)[dim]);
    low.push_back(b.divideIntegers(more, number(b, 2), /*isSigned=*/true));
    high.push_back(more - low.back());
  }
  Term x = b.raw(0);
  b.out(padBy(b, x, dims, low, high, "constant", b.splat({}, x.element(), 0), read));
}

//===- Range ------------------------------------------------------------------------------------------------------===//

/// start + iota * delta. The count of floats is computed in f64, as in the reference.
void rangeWhenRunning(NodeBuilder &b) {
  for (size_t i = 0; i < 3; ++i)
    b.expect(b.rank(i) <= 1 && graph::constantSize(b.product(b.sizes(i))) == 1 && b.type(i) == b.type(0),
             "expected three scalars of one type");
  RunTimeSizes read(b);
  DType type = b.type(0);
  DType as = isFloat(type) ? DType::F64 : DType::I64;
  Term start = b.scalars(0, as)[0], limit = b.scalars(1, as)[0], delta = b.scalars(2, as)[0], zero = b.like(delta, 0);
  read.require(b.compare(F::UNE, I::ne, delta, zero), "expected a delta other than 0");
  Term steps = isFloat(type)
                   ? b.convert(b.maximum(b.apply<math::CeilOp>((limit - start) / delta), zero), DType::F64, DType::I64)
                   : stepsBetween(start, limit, delta);
  AffineExpr count = read.add(steps, b.number(1));
  read.read();
  Type element = b.in(0).element();
  Term at = positions(b, count);
  auto scalar = [&](size_t i) { return b.reshape(b.in(i), {}); };
  Term position = llvm::isa<FloatType>(element) ? b.convert(at, DType::I64, isHalf(type) ? DType::F32 : type)
                                                : b.convert(at, DType::I64, type);
  b.out(scalar(0) + position * scalar(2), type);
}

} // namespace tilewright::ops
