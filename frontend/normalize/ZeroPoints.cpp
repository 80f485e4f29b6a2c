// SPDX-License-Identifier: Apache-2.0
// Subtracts from the sums of an integer contraction what the zero points contribute: the zero point of one side times
// the sum of the other side along k.
#include "frontend/normalize/ByteSums.h"
#include "frontend/normalize/IntegerContraction.h"

#include "frontend/graph/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

/// From this number of channels on, summing a window's weights inside of the image costs little compared with the
/// products: one 32-bit sum for each tap, but a product of bytes for each tap and channel.
static constexpr int64_t fewChannels = 8;

/// factor * (sums of the weights - products * their zero point), as a constant. Sums over the dimensions that have no
/// place; the others are kept, in the order of their places. Each sum has `products` terms.
Value IntegerContraction::sumsOfWeights(ArrayRef<std::optional<int64_t>> places, int64_t products, int64_t factor) {
  SmallVector<int32_t> sums =
      sumBytes(side[weights].integers.getDefiningOp<graph::ConstantOp>(), side[weights].accesses, places);
  for (int32_t &sum : sums)
    sum = static_cast<int32_t>(factor * (sum - products * *side[weights].knownZero()));
  SmallVector<std::pair<int64_t, int64_t>> kept; // place, size
  for (auto [place, size] : llvm::zip_equal(places, tensorOf(op->getOperand(weights)).getShape()))
    if (place)
      kept.emplace_back(*place, size);
  llvm::sort(kept);
  auto type = RankedTensorType::get(llvm::to_vector(llvm::make_second_range(kept)), rewriter.getI32Type());
  if (llvm::all_equal(sums))
    return arith::ConstantOp::create(rewriter, op.getLoc(),
                                     DenseElementsAttr::get(type, sums.empty() ? 0 : sums.front()));
  auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  return graph::ConstantOp::create(rewriter, op.getLoc(), type,
                                   pool.add(std::as_bytes(std::span(sums.data(), sums.size()))));
}

/// Whether a window or pad fills with a zero point that is only known at run time.
bool IntegerContraction::fillsWithUnknownZero(unsigned i) {
  return !side[i].knownZero() &&
         llvm::any_of(side[i].accesses, [](Operation *access) { return access->hasAttr("fill"); });
}

/// Whether `sumsInside` applies and is cheap: the padding is that of one window, over enough channels.
bool IntegerContraction::canSumInside() {
  ArrayRef<Operation *> accesses = side[1 - weights].accesses;
  auto window = dyn_cast<graph::WindowOp>(accesses.front());
  if (!window || llvm::any_of(accesses.drop_front(), [](Operation *access) { return access->hasAttr("fill"); }))
    return false;
  int64_t taps = 1;
  size_t spatial = window.getDims().size();
  for (AffineExpr size : ArrayRef(sizesOf(window)).slice(window.getDims().front() + spatial, spatial))
    taps *= graph::constantSize(size).value_or(0);
  return taps > 0 && depth() && *depth() >= fewChannels * taps;
}

/// The sums of the weights (minus their zero point), for each position of a window, over the taps that lie inside of
/// the image:
///
///     %inside = graph.window (an image of ones) ... fill 0
///     %sums = graph.contract %inside, (weights summed over channels)
Along IntegerContraction::sumsInside() {
  unsigned data = 1 - weights;
  auto window = cast<graph::WindowOp>(side[data].accesses.front());
  MLIRContext *context = op.getContext();
  Type i32 = rewriter.getI32Type();
  int64_t spatial = window.getDims().size(), first = window.getDims().front();
  Sizes image(ArrayRef(sizesOf(window.getData())).slice(first, spatial)),
      windows(ArrayRef(sizesOf(window)).slice(first, 2 * spatial));
  Value inside = make<graph::WindowOp>(graph::makeTensorType(context, windows, i32), number(1, i32, image),
                                       llvm::to_vector(llvm::seq<int64_t>(0, spatial)), window.getStrides(),
                                       window.getDilations(), window.getLow(), rewriter.getI32IntegerAttr(0));
  // The loops of this contraction: those of the window, and those of the weights except the channels.
  SmallVector<AffineExpr> insideLoops(op.getMap(data).getResults().slice(first, 2 * spatial));
  SmallVector<std::optional<int64_t>> places = resultDims(weights); // those of taps follow those of the result
  SmallVector<std::pair<int64_t, AffineExpr>> weightLoops;
  int64_t channels = 1;
  for (auto [d, loop] : llvm::enumerate(op.getMap(weights).getResults())) {
    if (!places[d] && llvm::is_contained(insideLoops, loop))
      places[d] = op.getType().getRank() + cast<AffineDimExpr>(loop).getPosition();
    if (places[d])
      weightLoops.emplace_back(*places[d], loop);
    else
      channels *= tensorOf(op->getOperand(weights)).getDimSize(d);
  }
  llvm::sort(weightLoops, llvm::less_first());
  SmallVector<AffineExpr> numbered, rhs, result;
  auto renumbered = [&](AffineExpr loop) {
    auto *at = llvm::find(numbered, loop);
    if (at == numbered.end())
      at = numbered.insert(at, loop);
    return getAffineDimExpr(at - numbered.begin(), context);
  };
  SmallVector<AffineExpr> lhs = llvm::map_to_vector(insideLoops, renumbered);
  for (auto [place, loop] : weightLoops)
    rhs.push_back(renumbered(loop));
  Along sums;
  Sizes sizes, all = sizesOf(op);
  for (auto [dim, loop] : llvm::enumerate(op.getMap(2).getResults()))
    if (llvm::is_contained(numbered, loop)) {
      result.push_back(renumbered(loop));
      sums.dims.push_back(dim);
      sizes.push_back(all[dim]);
    }
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(numbered.size(), 0, results, context); };
  AffineMap maps[] = {mapOf(lhs), mapOf(rhs), mapOf(result)};
  sums.value = make<graph::ContractOp>(graph::makeTensorType(context, sizes, i32), inside,
                                       sumsOfWeights(places, channels, 1), rewriter.getAffineMapArrayAttr(maps));
  return sums;
}

/// The sums along k of an operand that is not constant, by a reduction.
Along IntegerContraction::sumsAtRunTime(unsigned i, Value operand) {
  SmallVector<int64_t> axes, kept;
  for (auto [d, dim] : llvm::enumerate(resultDims(i)))
    if (dim)
      kept.push_back(*dim);
    else
      axes.push_back(static_cast<int64_t>(d));
  RankedTensorType wide = graph::withElementType(tensorOf(operand), rewriter.getI32Type());
  Value extended = side[i].isUnsigned ? make<arith::ExtUIOp>(wide, operand) : make<arith::ExtSIOp>(wide, operand);
  Sizes sizes, all = sizesOf(op);
  for (int64_t dim : kept)
    sizes.push_back(all[dim]);
  auto type = graph::makeTensorType(op.getContext(), sizes, rewriter.getI32Type());
  return {make<graph::ReduceOp>(type, graph::ReduceKind::Sum, extended, axes), kept};
}

/// a * b, of integers. A scalar is multiplied before the other factor is broadcast, so that what may be stored stays
/// small.
Along IntegerContraction::product(Along a, Along b) {
  if (a.dims.empty())
    std::swap(a, b);
  SmallVector<int64_t> dims = a.dims;
  if (!b.dims.empty()) {
    dims = llvm::to_vector(llvm::seq<int64_t>(0, op.getType().getRank()));
    a.value = broadcast(a), b.value = broadcast(b);
  } else if (!a.dims.empty()) {
    b.value = make<graph::BroadcastOp>(tensorOf(a.value), b.value, ArrayRef<int64_t>());
  }
  return {make<arith::MulIOp>(b.value, a.value), dims};
}

/// sums - (zero point of side `i`) * sum_k (the other side). For the data, the weights are summed minus their zero
/// point, which covers the product of both zero points.
Value IntegerContraction::minusZeroPoint(unsigned i, Value sums, Value otherOperand) {
  if (!side[i].hasZero())
    return sums;
  Along others;
  if (i == weights || !isConstant(weights)) {
    others = sumsAtRunTime(1 - i, otherOperand);
  } else if (fillsWithUnknownZero(i)) {
    others = sumsInside();
  } else {
    SmallVector<std::optional<int64_t>> places = resultDims(weights);
    std::optional<int64_t> zero = side[i].knownZero();
    others.value = sumsOfWeights(places, *depth(), zero.value_or(1));
    for (const std::optional<int64_t> &place : places)
      if (place)
        others.dims.push_back(*place);
    llvm::sort(others.dims);
    if (zero)
      return make<arith::SubIOp>(sums, broadcast(others));
  }
  QuantizationParameter parameter = side[i].zero.value_or(QuantizationParameter{0.0, {}, -1});
  Along zeros = along(i, parameter, rewriter.getI32Type(), static_cast<double>(side[i].offset));
  return make<arith::SubIOp>(sums, broadcast(product(zeros, others)));
}
