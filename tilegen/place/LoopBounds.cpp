// SPDX-License-Identifier: Apache-2.0
// Trip counts and last positions: constants where the bounds are, one tile.size where only the step is a constant, and
// arithmetic otherwise, because an affine expression cannot divide by a computed value.
#include "tilegen/place/LoopBounds.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
/// The bounds of a loop, as far as they are constants.
struct Bounds {
  std::optional<int64_t> lower, upper, step;

  explicit Bounds(scf::ForOp loop)
      : lower(getConstantIntValue(loop.getLowerBound())), upper(getConstantIntValue(loop.getUpperBound())),
        step(getConstantIntValue(loop.getStep())) {}
  bool areConstant() const { return lower && upper && step; }
};
} // namespace

/// The value of an expression of the lower bound (d0) and the upper bound (d1).
static Value sizeOf(OpBuilder &b, scf::ForOp loop, AffineExpr expr) {
  return SizeOp::create(b, loop.getLoc(), AffineMap::get(2, 0, expr),
                        ValueRange{loop.getLowerBound(), loop.getUpperBound()});
}

Value tilewright::tile::tripCount(OpBuilder &b, scf::ForOp loop) {
  Bounds bounds(loop);
  Location loc = loop.getLoc();
  if (bounds.areConstant())
    return arith::ConstantIndexOp::create(
        b, loc, std::max<int64_t>(llvm::divideCeilSigned(*bounds.upper - *bounds.lower, *bounds.step), 0));
  Value trips;
  if (bounds.step) {
    trips = sizeOf(b, loop, (b.getAffineDimExpr(1) - b.getAffineDimExpr(0)).ceilDiv(*bounds.step));
  } else {
    Value length = arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound());
    trips = arith::CeilDivSIOp::create(b, loc, length, loop.getStep());
  }
  return arith::MaxSIOp::create(b, loc, trips, arith::ConstantIndexOp::create(b, loc, 0));
}

Value tilewright::tile::lastPosition(OpBuilder &b, scf::ForOp loop) {
  Bounds bounds(loop);
  Location loc = loop.getLoc();
  if (bounds.areConstant())
    return arith::ConstantIndexOp::create(
        b, loc, *bounds.lower + std::max<int64_t>(*bounds.upper - *bounds.lower - 1, 0) / *bounds.step * *bounds.step);
  Value last;
  if (bounds.step) {
    AffineExpr lower = b.getAffineDimExpr(0), upper = b.getAffineDimExpr(1);
    last = sizeOf(b, loop, lower + (upper - lower - 1).floorDiv(*bounds.step) * *bounds.step);
  } else {
    Value length = arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound());
    length = arith::SubIOp::create(b, loc, length, arith::ConstantIndexOp::create(b, loc, 1));
    Value steps = arith::FloorDivSIOp::create(b, loc, length, loop.getStep());
    last = arith::AddIOp::create(b, loc, loop.getLowerBound(), arith::MulIOp::create(b, loc, steps, loop.getStep()));
  }
  return arith::MaxSIOp::create(b, loc, last, loop.getLowerBound());
}

std::optional<int64_t> tilewright::tile::programsOfBlock(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!loop)
    return 1;
  Bounds bounds(loop); // the lower one is the block's number
  return bounds.upper && bounds.step ? std::optional(llvm::divideCeil(*bounds.upper, *bounds.step)) : std::nullopt;
}
