// SPDX-License-Identifier: Apache-2.0
// Coordinates as values of a tile: index arithmetic element by element, and the masks made of it.
//
//   d1 - 3 at offset %j      tile.coordinate (%j - 3) dim 1
//   d0 * 7 + d1              arith on two coordinates, broadcast to the tile
#include "tilegen/emit/TileEmitter.h"

#include "frontend/index/Evaluate.h"
#include "tilegen/index/ArithEmitter.h"
#include "tilegen/index/Facts.h"

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

/// The algebra of coordinates (frontend/index/Evaluate.h): each with its expression, whose sign decides how it is
/// divided.
struct TileEmitter::Coordinates {
  struct Value {
    mlir::Value tile;
    AffineExpr expr;
  };
  TileEmitter &emitter;
  const Place &place;
  const Frame &frame;
  Type type;
  IndexAlgebra facts;

  /// The value of a coordinate that needs no arithmetic on tiles: one that is the same everywhere, an index tile, or a
  /// loop plus a constant. nullopt for others.
  std::optional<Value> leaf(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return Value{emitter.splat(emitter.builder.getIntegerAttr(type, constant.getValue()), ones(frame)), expr};
    if (expr.isSymbolicOrConstant()) // along a dimension of size 1, a coordinate is its offset
      return Value{coordinate(emitter.index(expr, {}), ones(frame), 0), expr};
    unsigned loops = emitter.space.loops().size();
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() >= loops)
      return Value{emitter.castInteger(place.indices[dim.getPosition() - loops], type), expr};
    for (auto [position, loop] : llvm::enumerate(frame)) {
      AffineExpr rest = facts.simplify(expr - getAffineDimExpr(loop, expr.getContext()));
      if (!rest.isSymbolicOrConstant())
        continue;
      mlir::Value offset = // takes the constant
          emitter.index(getAffineDimExpr(0, expr.getContext()) + rest, {emitter.states[loop].offset});
      SmallVector<int64_t> shape = ones(frame);
      shape[position] = emitter.states[loop].tile;
      return Value{coordinate(offset, shape, position), expr};
    }
    return std::nullopt;
  }

  Value add(Value a, Value b) { return {arith(a, b).add(a.tile, b.tile), a.expr + b.expr}; }
  Value multiply(Value a, Value b) { return {arith(a, b).multiply(a.tile, b.tile), a.expr * b.expr}; }
  Value floorDivide(Value a, Value b) {
    bool isNonNegative = facts.isNonNegative(a.expr);
    return {arith(a, b).floorDivide(a.tile, b.tile, isNonNegative), a.expr.floorDiv(b.expr)};
  }
  Value modulo(Value a, Value b) {
    bool isNonNegative = facts.isNonNegative(a.expr);
    return {arith(a, b).modulo(a.tile, b.tile, isNonNegative), a.expr % b.expr};
  }
  Value ceilDivide(Value a, Value b) { return index::evaluate((a.expr + b.expr - 1).floorDiv(b.expr), *this); }

private:
  mlir::Value coordinate(mlir::Value offset, ArrayRef<int64_t> shape, unsigned dim) {
    emitter.at(emitter.depthOf(offset));
    return tile::CoordinateOp::create(emitter.builder, emitter.loc, RankedTensorType::get(shape, type), offset, dim);
  }

  /// Broadcasts both operands to the shape of the result, and sets the insertion point to where both are defined.
  index::ArithEmitter arith(Value &a, Value &b) {
    SmallVector<int64_t> shape = joinShapes({a.tile, b.tile}, ones(frame));
    a.tile = emitter.broadcast(a.tile, shape);
    b.tile = emitter.broadcast(b.tile, shape);
    emitter.at(std::max(emitter.depthOf(a.tile), emitter.depthOf(b.tile)));
    return {emitter.builder, emitter.loc, index::ArithEmitter::Divisions::Tiles};
  }
};

Value TileEmitter::evaluate(AffineExpr expr, const Place &place, const Frame &frame, Type type) {
  Coordinates coordinates{*this, place, frame, type, algebra(place)};
  return index::evaluate(expr, coordinates).tile;
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

/// The type in which to compute a coordinate: the kernel's index type, or 64 bits where a part of the expression may
/// exceed 32 bits although every size is small, such as the linear index behind a reshape. Sizes between two accesses
/// may be symbols, of which nothing is known, even where those of all loops and buffers are numbers.
static Type typeOf(AffineExpr expr, const TileEmitter &emitter, const Place &place) {
  Type wide = IntegerType::get(expr.getContext(), 64);
  bool hasSymbols = false;
  expr.walk([&](AffineExpr part) { hasSymbols |= isa<AffineSymbolExpr>(part); });
  if (hasSymbols || emitter.getIndexType() == wide)
    return wide;
  SmallVector<index::Facts> values;
  for (unsigned loop = 0; loop < emitter.getSpace().loops().size(); ++loop)
    values.push_back( // the last tile may reach beyond the end
        index::Facts::between(0, *graph::constantSize(emitter.sizeOf(loop)) + emitter.tileOf(loop)));
  for (AffineExpr size : place.at.indexSizes)
    values.push_back(index::Facts::between(0, graph::constantSize(size)));
  return index::fitsIn32(expr, values, {}) ? emitter.getIndexType() : wide;
}

Value TileEmitter::insideMask(const Place &place, ArrayRef<AffineExpr> sizes, const Frame &frame) {
  IndexAlgebra facts = algebra(place);
  Value mask;
  auto compare = [&](AffineExpr expr, arith::CmpIPredicate predicate) {
    expr = facts.simplify(expr);
    Type type = typeOf(expr, *this, place);
    Value tile = evaluate(expr, place, frame, type);
    Value zero = splat(builder.getIntegerAttr(type, 0), cast<RankedTensorType>(tile.getType()).getShape());
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

Value TileEmitter::liveMask(unsigned loop, Value end, const Frame &frame) {
  Value rest = index(getAffineDimExpr(0, context) - getAffineDimExpr(1, context), {states[loop].offset, end});
  unsigned position = llvm::find(frame, loop) - frame.begin();
  SmallVector<int64_t> shape = ones(frame);
  shape[position] = states[loop].tile;
  at(depthOf(rest));
  Value tile = tile::CoordinateOp::create(builder, loc, RankedTensorType::get(shape, indexType), rest, position);
  Value zero = splat(builder.getIntegerAttr(indexType, 0), shape);
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
