// SPDX-License-Identifier: Apache-2.0
// Reductions, with axes as an attribute or input, and operators built on them: ArgMax, CumSum, Hardmax.
#include "frontend/ops/Handlers.h"
#include "frontend/sizes/RunTimeSizes.h"

#include <numeric>

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

struct Reduction {
  std::vector<int64_t> axes;
  bool keep;
  bool nothing; // noop_with_empty_axes
};

/// The number of axes, if their values are only known at run time.
std::optional<int64_t> unknownAxes(NodeBuilder &b) {
  bool contentsUnknown = !b.hasAttribute("axes") && isRunTime(b, 1) && b.rank(1) == 1;
  return contentsUnknown ? graph::constantSize(b.sizes(1)[0]) : std::nullopt;
}

/// The axes, if they are known. Their number is enough if it is zero or the rank.
std::optional<std::vector<int64_t>> axesOf(NodeBuilder &b) {
  std::optional<int64_t> count = unknownAxes(b);
  if (count && (*count == 0 || *count == b.rank(0))) {
    std::vector<int64_t> all(static_cast<size_t>(*count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  return b.integersFrom("axes", 1);
}

Reduction reductionOf(NodeBuilder &b) {
  auto given = axesOf(b);
  bool none = !given || given->empty();
  Reduction reduction{{}, b.integer("keepdims", 1) != 0, none && b.integer("noop_with_empty_axes", 0) != 0};
  if (none && !reduction.nothing)
    given.emplace(static_cast<size_t>(b.rank(0))), std::iota(given->begin(), given->end(), 0);
  if (given)
    reduction.axes = b.axes(*given, b.rank(0));
  return reduction;
}

/// Reduces the node's axes with `combine(x, axes)`, which removes dimensions, and keeps them with size 1 if the node
/// says so. Axes that are only known at run time are reduced one after the other, each in a three-dimensional view.
template <typename Combine> Term overAxes(NodeBuilder &b, Term x, Combine combine) {
  std::optional<int64_t> count = unknownAxes(b);
  if (!count || *count == 0 || *count >= b.rank(0)) {
    Reduction reduction = reductionOf(b);
    return reduction.axes.empty() ? x : b.keepDims(combine(x, reduction.axes), x, reduction.axes, reduction.keep);
  }
  RunTimeSizes read(b);
  RunTimeAxes axes(b, 1, b.rank(0), read);
  std::vector<AxisView> views = viewsAlong(b, axes, x.sizes(), read);
  Sizes result = sizesWithout(b, axes, x.sizes(), b.integer("keepdims", 1) != 0, read);
  read.read();
  for (const AxisView &view : views)
    x = combine(b.conform(x, view.sizes()), {1});
  return b.conform(x, result);
}

/// after(reduce(before(x))): the form of every Reduce operator.
template <typename Before, typename After>
void reduceWith(NodeBuilder &b, ReduceKind kind, Before before, After after) {
  Term x = b.in(0);
  bool isUnsigned = !findDType(b.type(0))->isSigned;
  if (isUnsigned && (kind == ReduceKind::Max || kind == ReduceKind::Min)) { // graph.reduce compares signed integers
    if (b.type(0) == DType::U64)
      decline("reductions of uint64 are not compiled");
    x = b.convert(x, b.type(0), b.type(0) == DType::U32 ? DType::I64 : DType::I32);
  }
  Term reduced = after(
      overAxes(b, before(x), [&](Term part, llvm::ArrayRef<int64_t> axes) { return b.reduce(kind, part, axes); }));
  if (b.type(0) == DType::Bool && kind == ReduceKind::Max) // the maximum of no elements is false
    reduced = b.maximum(reduced, 0);
  b.out(reduced.element() == elementType(b.state.context, b.type(0)) || isFloat(b.type(0))
            ? reduced
            : b.convert(reduced, b.type(0) == DType::U32 ? DType::I64 : DType::I32, b.type(0)));
}

Term same(Term x) { return x; }

} // namespace

void reduceSum(NodeBuilder &b) { reduceWith(b, ReduceKind::Sum, same, same); }
void reduceProd(NodeBuilder &b) { reduceWith(b, ReduceKind::Prod, same, same); }
void reduceMax(NodeBuilder &b) { reduceWith(b, ReduceKind::Max, same, same); }
void reduceMin(NodeBuilder &b) { reduceWith(b, ReduceKind::Min, same, same); }
void reduceSumSquare(NodeBuilder &b) {
  reduceWith(b, ReduceKind::Sum, [](Term x) { return x * x; }, same);
}
void reduceL1(NodeBuilder &b) {
  reduceWith(b, ReduceKind::Sum, [&](Term x) { return b.abs(x); }, same);
}

void reduceL2(NodeBuilder &b) {
  if (!isFloat(b.type(0)))
    decline("ReduceL2 of integers is not compiled");
  reduceWith(b, ReduceKind::Sum, [](Term x) { return x * x; }, [&](Term sum) { return b.sqrt(sum); });
}

void reduceLogSum(NodeBuilder &b) {
  if (!isFloat(b.type(0)))
    decline("ReduceLogSum of integers is not compiled");
  reduceWith(b, ReduceKind::Sum, same, [&](Term sum) { return b.log(sum); });
}

void reduceMean(NodeBuilder &b) {
  b.out(overAxes(b, b.in(0), [&](Term x, llvm::ArrayRef<int64_t> axes) { return b.mean(x, axes); }));
}

/// max + log(sum(exp(x - max))), with 0 for a maximum that is not finite.
void reduceLogSumExp(NodeBuilder &b) {
  if (!isFloat(b.type(0)))
    decline("ReduceLogSumExp of integers is not compiled");
  b.out(overAxes(b, b.in(0), [&](Term x, llvm::ArrayRef<int64_t> axes) {
    Term peak = b.reduce(ReduceKind::Max, x, axes);
    Term finite = b.compare(F::OLT, I::slt, b.abs(peak), b.like(peak, std::numeric_limits<double>::infinity()));
    peak = b.select(finite, peak, b.like(peak, 0));
    return peak + b.log(b.reduce(ReduceKind::Sum, b.exp(x - b.spread(peak, x, axes)), axes));
  }));
}

//===- Positions --------------------------------------------------------------------------------------------------===//

namespace {

/// The first (or last) position of the maximum or minimum along `axis`: reduces x, then the coordinates that match.
Term extremePosition(NodeBuilder &b, Term x, int64_t axis, ReduceKind kind, bool last) {
  Type i64 = b.state.builder.getI64Type();
  Term extreme = b.spread(b.reduce(kind, x, {axis}), x, {axis});
  Term position = b.iota(x.sizes(), axis, i64);
  Term hit = b.compare(F::UEQ, I::eq, x, extreme); // unordered, so that NaN matches
  Term missing = b.splatInteger(x.sizes(), i64, last ? -1 : std::numeric_limits<int64_t>::max());
  return b.reduce(last ? ReduceKind::Max : ReduceKind::Min, b.select(hit, position, missing), {axis});
}

void argExtreme(NodeBuilder &b, ReduceKind kind) {
  int64_t axis = b.axis(b.integer("axis", 0), b.rank(0));
  Term x = b.in(0);
  if (!findDType(b.type(0))->isSigned)
    x = b.convert(x, b.type(0), DType::I64);
  Term position = extremePosition(b, x, axis, kind, b.integer("select_last_index", 0) != 0);
  b.out(b.keepDims(position, x, {axis}, b.integer("keepdims", 1) != 0), DType::I64);
}

} // namespace

void argMax(NodeBuilder &b) { argExtreme(b, ReduceKind::Max); }
void argMin(NodeBuilder &b) { argExtreme(b, ReduceKind::Min); }

/// 1 at the first maximum, 0 elsewhere. Before opset 13 the maximum is over all dimensions from `axis` on.
void hardmax(NodeBuilder &b) {
  bool flattens = b.node.opset < 13;
  int64_t axis = b.axis(b.integer("axis", flattens ? 1 : -1), b.rank(0), flattens);
  Term x = b.in(0);
  Sizes sizes = x.sizes();
  if (flattens)
    x = b.reshape(
        x, {b.product(llvm::ArrayRef(sizes).take_front(axis)), b.product(llvm::ArrayRef(sizes).drop_front(axis))}),
    axis = 1;
  Term position = b.spread(extremePosition(b, x, axis, ReduceKind::Max, false), x, {axis});
  Term hit = b.compare(F::OEQ, I::eq, position, b.iota(x.sizes(), axis, position.element()));
  b.out(b.reshape(b.select(hit, b.like(x, 1), b.like(x, 0)), sizes));
}

namespace {

/// Which elements come before another one, and whether that one counts too.
struct Order {
  bool exclusive, reverse;
};

/// out[i] = sum or product of x[j] over j <= i: a reduction along a new last dimension, with a mask.
Term cumulatedDirectly(NodeBuilder &b, Term x, int64_t axis, ReduceKind kind, Order order) {
  auto [exclusive, reverse] = order;
  int64_t rank = x.rank();
  Sizes sizes = x.sizes();
  sizes.push_back(x.sizes()[axis]); // [..., i, ..., j]
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  dims[axis] = rank;
  // Move j to the end first, because a broadcast cannot reorder dimensions.
  SmallVector<int64_t> perm, kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      perm.push_back(dim), kept.push_back(dim);
  perm.push_back(axis), kept.push_back(rank);
  Term spread = b.broadcast(b.transpose(x, perm), sizes, kept);
  Term i = b.iota(sizes, axis, b.state.builder.getI64Type()), j = b.iota(sizes, rank, b.state.builder.getI64Type());
  I inside = reverse ? (exclusive ? I::sgt : I::sge) : exclusive ? I::slt : I::sle;
  Term masked = b.select(b.compare(F::OLE, inside, j, i), spread, b.neutral(kind, sizes, spread.element()));
  return b.reduce(kind, masked, {rank});
}

/// The same in blocks: within each block, and over the blocks before it. So the work grows with the length, not with
/// its square, and chains of additions are shorter. Blocks of blocks are formed only if the length is known, because
/// each level adds three kernels. Integers of unknown length, such as positions that are counted by a mask of tokens,
/// are cumulated directly, unless their length is more than one size, as that of a square mask is, whose rows follow
/// each other.
Term cumulated(NodeBuilder &b, Term x, int64_t axis, ReduceKind kind, Order order) {
  constexpr int64_t block = 16;
  AffineExpr length = x.sizes()[axis];
  std::optional<int64_t> known = graph::constantSize(length);
  bool isOneSize = isa<AffineSymbolExpr>(length);
  if (known ? *known <= block : !x.isFloat() && isOneSize)
    return cumulatedDirectly(b, x, axis, kind, order);
  AffineExpr blocks = graph::canonicalSize(length.ceilDiv(block));
  Sizes padded = x.sizes(), split = padded;
  padded[axis] = graph::canonicalSize(blocks * block);
  split[axis] = blocks, split.insert(split.begin() + axis + 1, b.number(block));
  Term whole = b.pad(x, SmallVector<int64_t>(padded.size(), 0), padded, kind == ReduceKind::Prod ? 1 : 0);
  Term parts = b.reshape(whole, split);
  Term inside = cumulatedDirectly(b, parts, axis + 1, kind, order);
  Term ofBlocks = b.reduce(kind, parts, {axis + 1});
  Order others{true, order.reverse};
  Term before = graph::constantSize(blocks) ? cumulated(b, ofBlocks, axis, kind, others)
                                            : cumulatedDirectly(b, ofBlocks, axis, kind, others);
  before = b.spread(before, parts, {axis + 1});
  Term result = b.reshape(kind == ReduceKind::Sum ? inside + before : inside * before, padded);
  return b.slice(result, axis, b.number(0), length);
}

void cumulate(NodeBuilder &b, ReduceKind kind) {
  Order order{b.integer("exclusive", 0) != 0, b.integer("reverse", 0) != 0};
  Term x = b.in(0);
  if (b.rank(0) > 1 && isRunTime(b, 1)) {
    RunTimeSizes read(b);
    RunTimeAxes axes(b, 1, b.rank(0), read);
    b.expect(axes.count() == 1, fmt::format("expected one axis, got {}", axes.count()));
    AxisView view = viewsAlong(b, axes, x.sizes(), read).front();
    read.read();
    return b.out(b.conform(cumulated(b, b.conform(x, view.sizes()), 1, kind, order), x.sizes()));
  }
  std::vector<int64_t> given = b.rank(0) == 1 ? std::vector<int64_t>{0} : b.knownIntegers(1);
  b.expect(given.size() == 1, fmt::format("expected one axis, got {}", given.size()));
  b.out(cumulated(b, x, b.axis(given[0], b.rank(0)), kind, order));
}

} // namespace

void cumSum(NodeBuilder &b) { cumulate(b, ReduceKind::Sum); }
void cumProd(NodeBuilder &b) { cumulate(b, ReduceKind::Prod); }

} // namespace tilewright::ops
