// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/InteriorRows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::host {

namespace {
struct Span {
  int64_t low, high; // inclusive
};
} // namespace

/// The range of an index that is a constant or the counter of a loop with constant ends; else nullopt.
static std::optional<Span> spanOf(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return Span{*constant, *constant};
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || index != loop.getInductionVar())
    return std::nullopt;
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound());
  return from && to && *from < *to ? std::optional(Span{*from, *to - 1}) : std::nullopt;
}

/// The range of the coordinates of `load` along its dimension `i` that are inside of its bounds.
static std::optional<Span> spanOf(tile::LoadOp load, unsigned i) {
  std::optional<Span> offset = spanOf(load.getOffsets()[i]);
  auto bound = dyn_cast<AffineConstantExpr>(load.getBounds().getResult(i));
  if (!offset)
    return bound ? std::optional(Span{0, bound.getValue() - 1}) : std::nullopt;
  offset->high += load.getResult().getType().getDimSize(i) - 1;
  if (bound)
    offset->high = std::min(offset->high, bound.getValue() - 1);
  return offset;
}

static std::optional<Span> spanOf(AffineExpr expr, ArrayRef<std::optional<Span>> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Span{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() < dims.size() ? dims[dim.getPosition()] : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  std::optional<Span> left = binary ? spanOf(binary.getLHS(), dims) : std::nullopt,
                      right = binary ? spanOf(binary.getRHS(), dims) : std::nullopt;
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Span{left->low + right->low, left->high + right->high};
  int64_t by = right->low;
  if (by != right->high || (by <= 0 && expr.getKind() != AffineExprKind::Mul))
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return Span{std::min(left->low * by, left->high * by), std::max(left->low * by, left->high * by)};
  case AffineExprKind::FloorDiv:
    return Span{llvm::divideFloorSigned(left->low, by), llvm::divideFloorSigned(left->high, by)};
  case AffineExprKind::Mod:
    return left->low >= 0 && left->high < by ? *left : Span{0, by - 1};
  default:
    return std::nullopt;
  }
}

/// Narrows `interior` to the rows for which coordinate `dim` of `load` is inside of the buffer, and adds that guard.
/// Does nothing if the coordinate does not grow with the row, or depends on something whose range is not constant.
static void tighten(InteriorRows &interior, tile::LoadOp load, int64_t dim, KernelFunction &function) {
  IndexMath &math = function.math;
  auto type = load.getResult().getType();
  unsigned row = type.getRank() - 2;
  AffineMap map = load.getMap();
  AffineExpr expr = map.getResult(dim), zero = getAffineConstantExpr(0, load.getContext());
  auto step = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      expr.replace(getAffineDimExpr(row, load.getContext()), getAffineDimExpr(row, load.getContext()) + 1) - expr,
      map.getNumDims(), map.getNumSymbols()));
  if (!step || step.getValue() <= 0 || type.getDimSize(row) == 1)
    return;
  SmallVector<std::optional<Span>> dims;
  for (unsigned i = 0; i < type.getRank(); ++i)
    dims.push_back(spanOf(load, i));
  std::optional<Span> others = spanOf(expr.replace(getAffineDimExpr(row, load.getContext()), zero), dims);
  if (!others)
    return;
  Ix offset = function.index(load.getOffsets()[row]),
     size = function.evaluate(load.getBuffer().getType().getSizes(), dim), by = math.constant(step.getValue());
  Ix first = math.constant(llvm::divideCeilSigned(std::max<int64_t>(0, -others->low), step.getValue()));
  Ix end = math.add(math.floorDiv(math.sub(size, math.constant(1 + others->high)), by), math.constant(1));
  first = math.sub(first, offset), end = math.sub(end, offset);
  interior.first = interior.first ? math.max(interior.first, first) : first;
  interior.end = interior.end ? math.min(interior.end, end) : end;
  interior.guards.insert({load, dim});
}

InteriorRows interiorOf(const OpenNest &nest, KernelFunction &function) {
  IndexMath &math = function.math;
  InteriorRows result;
  for (tile::LoadOp load : nest.plan->windows)
    for (int64_t dim : load.getGuard())
      tighten(result, load, dim, function);
  if (!result.first)
    return result;
  Ix zero = math.constant(0), limit = nest.limits[1];
  result.first = math.min(math.max(result.first, zero), limit);
  result.end = math.max(math.min(result.end, limit), result.first);
  return result;
}

} // namespace tilewright::host
