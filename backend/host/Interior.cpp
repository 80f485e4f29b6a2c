// The rows for which a window surely lies inside its image, where only running tells the image's size.
//
//   guard 0 <= 2 * row + kx - 1 < w, with kx in [0, 3)      holds for every kx where 1 <= row < (w - 2) floordiv 2 + 1
//
// Register tiles of such rows read without a comparison; the few rows before and after keep their guards.
#include "backend/host/Emitter.h"
#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/SharedValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::host {

namespace {
struct Span {
  int64_t low, high; // inclusive
};
} // namespace

/// What an index is known to lie in: a constant, or the counter of a loop with constant ends.
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

/// The coordinates of `load` that are alive along its dimension `i`.
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

/// Narrows `interior` to the rows for which coordinate `dim` of `load` is inside of the buffer. Nothing is said of
/// coordinates that do not go up with the row, or by other things that have no constant ends.
void Emitter::tighten(Interior &interior, tile::LoadOp load, int64_t dim) {
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
  Ix offset = index(load.getOffsets()[row]), size = evaluate(load.getBuffer().getType().getSizes(), dim),
     by = math.constant(step.getValue());
  Ix first = math.constant(llvm::divideCeilSigned(std::max<int64_t>(0, -others->low), step.getValue()));
  Ix end = math.add(math.floorDiv(math.sub(size, math.constant(1 + others->high)), by), math.constant(1));
  first = math.sub(first, offset), end = math.sub(end, offset);
  interior.first = interior.first ? math.max(interior.first, first) : first;
  interior.end = interior.end ? math.min(interior.end, end) : end;
  interior.guards.insert({load, dim});
}

Emitter::Interior Emitter::interiorOf(const Group &group) {
  Interior result;
  SmallVector<tile::LoadOp> loads;
  for (Value value : group.heavy)
    collectGuarded(value, [&](Value other) { return held.count(other) != 0; }, loads);
  for (tile::LoadOp load : loads)
    if (load.getResult().getType().getRank() >= 2 && !contracted.count(load.getResult()))
      for (int64_t dim : load.getGuard())
        tighten(result, load, dim);
  if (!result.first)
    return result;
  Ix zero = math.constant(0), limit = group.limits[1];
  result.first = math.min(math.max(result.first, zero), limit);
  result.end = math.max(math.min(result.end, limit), result.first);
  return result;
}

} // namespace tilewright::host
