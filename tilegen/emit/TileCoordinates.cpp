// Coordinates as values of a tile: index arithmetic element by element, and the masks made of it.
//
//   d1 - 3 at offset %j      tile.coordinate (%j - 3) dim 1
//   d0 * 7 + d1              arith on two coordinates, broadcast to the tile
#include "tilegen/emit/TileEmitter.h"

using namespace mlir;

namespace tilewright::tilegen {

Value TileEmitter::castInteger(Value tile, Type type) {
  auto from = cast<RankedTensorType>(tile.getType());
  unsigned width = from.getElementTypeBitWidth(), wanted = type.getIntOrFloatBitWidth();
  if (width == wanted)
    return tile;
  at(depthOf(tile));
  Type result = from.clone(type);
  if (width < wanted)
    return arith::ExtSIOp::create(builder, loc, result, tile);
  return arith::TruncIOp::create(builder, loc, result, tile);
}

Value TileEmitter::evaluate(AffineExpr expr, const Place &place, const Frame &frame, Type type) {
  SmallVector<int64_t> shape = ones(frame);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return splat(builder.getIntegerAttr(type, constant.getValue()), shape);
  if (expr.isSymbolicOrConstant()) { // a coordinate along a dimension of size 1 is its offset
    Value offset = index(expr, {});
    at(depthOf(offset));
    return tile::CoordinateOp::create(builder, loc, RankedTensorType::get(shape, type), offset, 0);
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() >= space.loops().size())
    return castInteger(place.indices[dim.getPosition() - space.loops().size()], type);
  // One loop plus a constant: the offset takes the constant.
  for (auto [position, loop] : llvm::enumerate(frame)) {
    AffineExpr rest = algebra(place).simplify(expr - getAffineDimExpr(loop, expr.getContext()));
    if (!rest.isSymbolicOrConstant())
      continue;
    Value offset = index(getAffineDimExpr(0, expr.getContext()) + rest, {states[loop].offset});
    shape[position] = states[loop].tile;
    at(depthOf(offset));
    return tile::CoordinateOp::create(builder, loc, RankedTensorType::get(shape, type), offset, position);
  }
  return evaluateBinary(cast<AffineBinaryOpExpr>(expr), place, frame, type);
}

Value TileEmitter::evaluateBinary(AffineBinaryOpExpr expr, const Place &place, const Frame &frame, Type type) {
  Value lhs = evaluate(expr.getLHS(), place, frame, type), rhs = evaluate(expr.getRHS(), place, frame, type);
  SmallVector<int64_t> shape = joinShapes({lhs, rhs}, ones(frame));
  lhs = broadcast(lhs, shape);
  rhs = broadcast(rhs, shape);
  at(std::max(depthOf(lhs), depthOf(rhs)));
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  default:
    break;
  }
  // Divisors are positive; where the dividend cannot be negative, truncation is the floor.
  bool positive = algebra(place).isNonNegative(expr.getLHS());
  if (positive && expr.getKind() == AffineExprKind::FloorDiv)
    return arith::DivSIOp::create(builder, loc, lhs, rhs);
  if (positive)
    return arith::RemSIOp::create(builder, loc, lhs, rhs);
  Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return quotient;
  return arith::SubIOp::create(builder, loc, lhs, arith::MulIOp::create(builder, loc, quotient, rhs));
}

static Value conjunction(TileEmitter &emitter, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  SmallVector<int64_t> shape =
      TileEmitter::joinShapes({a, b}, SmallVector<int64_t>(cast<RankedTensorType>(a.getType()).getRank(), 1));
  a = emitter.broadcast(a, shape);
  b = emitter.broadcast(b, shape);
  emitter.at(std::max(emitter.depthOf(a), emitter.depthOf(b)));
  return arith::AndIOp::create(emitter.getBuilder(), emitter.loc, a, b);
}

Value TileEmitter::insideMask(const Place &place, ArrayRef<AffineExpr> sizes, const Frame &frame) {
  IndexAlgebra facts = algebra(place);
  Value mask;
  auto compare = [&](AffineExpr expr, arith::CmpIPredicate predicate) {
    Value tile = evaluate(facts.simplify(expr), place, frame, indexType);
    Value zero = splat(builder.getIntegerAttr(indexType, 0), cast<RankedTensorType>(tile.getType()).getShape());
    at(depthOf(tile));
    mask = conjunction(*this, mask, arith::CmpIOp::create(builder, loc, predicate, tile, zero));
  };
  for (auto [expr, size] : llvm::zip_equal(place.at.exprs, sizes)) {
    if (facts.isInside(expr, size))
      continue;
    if (!facts.isNonNegative(expr))
      compare(expr, arith::CmpIPredicate::sge);
    if (!facts.isNonNegative(size - 1 - expr))
      compare(expr - size, arith::CmpIPredicate::slt);
  }
  return mask;
}

Value TileEmitter::liveMask(unsigned loop, const Frame &frame) {
  Value tile = evaluate(getAffineDimExpr(loop, context) - sizeOf(loop), {}, frame, indexType);
  Value zero = splat(builder.getIntegerAttr(indexType, 0), cast<RankedTensorType>(tile.getType()).getShape());
  at(depthOf(tile));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, tile, zero);
}

Value TileEmitter::select(Value mask, Value tile, TypedAttr otherwise) {
  SmallVector<int64_t> shape =
      joinShapes({mask, tile}, SmallVector<int64_t>(cast<RankedTensorType>(tile.getType()).getRank(), 1));
  mask = broadcast(mask, shape);
  tile = broadcast(tile, shape);
  Value other = splat(otherwise, shape);
  at(std::max(depthOf(mask), depthOf(tile)));
  return arith::SelectOp::create(builder, loc, mask, tile, other);
}

} // namespace tilewright::tilegen
