// SPDX-License-Identifier: Apache-2.0
// Loops, scopes, index values, loads and stores of a tile kernel; TileCoordinates.cpp has coordinates as values.
#include "tilegen/emit/TileEmitter.h"

using namespace mlir;

namespace tilewright::tilegen {

TileEmitter::TileEmitter(tile::KernelOp kernel, const KernelSpace &space, ArrayRef<int64_t> symbols,
                         ArrayRef<int64_t> tiles, Type indexType)
    : loc(kernel.getLoc()), kernel(kernel), context(kernel.getContext()), space(space), builder(kernel.getContext()),
      numSymbols(symbols.size()), indexType(indexType) {
  scopes.push_back({&kernel.getBody().front(), nullptr});
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    localSymbols.resize(std::max<size_t>(localSymbols.size(), symbol + 1), getAffineConstantExpr(0, context));
    localSymbols[symbol] = getAffineSymbolExpr(i, context);
  }
  at(0);
  for (int64_t tile : tiles)
    states.push_back({tile, tile, indexConstant(0), {}});
}

//===- Loops and scopes -------------------------------------------------------------------------------------------===//

bool TileEmitter::isWhole(unsigned loop) const {
  auto size = dyn_cast<AffineConstantExpr>(sizeOf(loop));
  return size && size.getValue() <= states[loop].whole && states[loop].tile == states[loop].whole;
}

bool TileEmitter::isEven(unsigned loop) const {
  auto size = dyn_cast<AffineConstantExpr>(sizeOf(loop));
  if (size)
    return size.getValue() > 0 && size.getValue() % states[loop].whole == 0;
  IndexAlgebra facts = space.nest.algebra();
  return facts.divides(getAffineConstantExpr(states[loop].whole, context), sizeOf(loop));
}

void TileEmitter::setOffset(unsigned loop, Value offset) { states[loop].offset = offset; }

void TileEmitter::narrow(unsigned loop, int64_t start, int64_t size) {
  LoopState &state = states[loop];
  state.offsetOfWhole = state.offset;
  state.offset = start ? index(getAffineDimExpr(0, context) + start, {state.offset}) : state.offset;
  state.tile = size;
}

void TileEmitter::widen(unsigned loop) {
  LoopState &state = states[loop];
  state.offset = state.offsetOfWhole;
  state.tile = state.whole;
}

void TileEmitter::at(unsigned depth) {
  const Scope &scope = scopes[depth];
  if (scope.before)
    builder.setInsertionPoint(scope.before);
  else if (!scope.block->empty() && scope.block->back().hasTrait<OpTrait::IsTerminator>())
    builder.setInsertionPoint(scope.block->getTerminator());
  else
    builder.setInsertionPointToEnd(scope.block);
}

unsigned TileEmitter::depthOf(Value value) const {
  for (unsigned depth = scopes.size(); depth-- > 0;)
    if (scopes[depth].block == value.getParentBlock())
      return depth;
  return 0;
}

SmallVector<Value> TileEmitter::forEachTile(ArrayRef<unsigned> loops, ValueRange initial, Body body) {
  if (loops.empty())
    return body(initial);
  unsigned loop = loops.front();
  auto inner = [&](ValueRange carried) { return forEachTile(loops.drop_front(), carried, body); };
  if (!isWhole(loop))
    return forTilesBetween(loop, indexConstant(0), index(sizeOf(loop), {}), initial, inner);
  Value outerOffset = states[loop].offset;
  states[loop].offset = indexConstant(0);
  SmallVector<Value> results = inner(initial);
  states[loop].offset = outerOffset;
  return results;
}

void TileEmitter::within(Operation *around, Block *block, function_ref<void()> build) {
  unsigned outer = depth();
  scopes[outer].before = around;
  scopes.push_back({block, nullptr});
  build();
  scopes.pop_back();
  scopes[outer].before = nullptr;
  at(outer);
}

SmallVector<Value> TileEmitter::forTilesBetween(unsigned loop, Value first, Value end, ValueRange initial, Body body) {
  Value outerOffset = states[loop].offset, step = indexConstant(states[loop].tile);
  at(depth());
  auto forOp = scf::ForOp::create(builder, loc, first, end, step, initial);
  states[loop].offset = forOp.getInductionVar();
  within(forOp, forOp.getBody(), [&] {
    SmallVector<Value> results = body(forOp.getRegionIterArgs());
    if (!initial.empty()) {
      builder.setInsertionPointToEnd(forOp.getBody());
      scf::YieldOp::create(builder, loc, results);
    }
  });
  states[loop].offset = outerOffset;
  return llvm::to_vector_of<Value>(forOp.getResults());
}

SmallVector<Value> TileEmitter::forEachElement(ArrayRef<unsigned> loops, ValueRange initial, Body body) {
  if (loops.empty())
    return body(initial);
  unsigned loop = loops.front();
  SmallVector<Value> carried(initial);
  for (int64_t i = 0, size = tileOf(loop); i < size; ++i) {
    narrow(loop, i, 1);
    carried = forEachElement(loops.drop_front(), carried, body);
    widen(loop);
  }
  return carried;
}

//===- Index values and tiles -------------------------------------------------------------------------------------===//

AffineExpr TileEmitter::local(AffineExpr expr) const { return expr.replaceSymbols(localSymbols); }

AffineMap TileEmitter::localMap(unsigned dims, ArrayRef<AffineExpr> exprs) const {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : exprs)
    results.push_back(local(expr));
  return AffineMap::get(dims, numSymbols, results, context);
}

Value TileEmitter::indexConstant(int64_t value) {
  Value &constant = indexConstants[value]; // one value each, so that equal offsets are equal values
  if (!constant) {
    builder.setInsertionPointToStart(&kernel.getBody().front());
    constant = arith::ConstantIndexOp::create(builder, loc, value);
  }
  return constant;
}

Value TileEmitter::index(AffineExpr expr, ValueRange dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return indexConstant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  unsigned depth = 0;
  for (Value value : dims)
    depth = std::max(depth, depthOf(value));
  at(depth);
  return tile::SizeOp::create(builder, loc, builder.getIndexType(), AffineMapAttr::get(localMap(dims.size(), {expr})),
                              dims);
}

Value TileEmitter::splat(TypedAttr value, ArrayRef<int64_t> shape) {
  at(0);
  auto type = RankedTensorType::get(shape, value.getType());
  return arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, ArrayRef<Attribute>{value}));
}

Value TileEmitter::broadcast(Value tile, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getShape() == shape)
    return tile;
  if (auto op = tile.getDefiningOp<arith::ConstantOp>())
    if (auto constant = dyn_cast<DenseElementsAttr>(op.getValue()))
      return splat(cast<TypedAttr>(constant.getSplatValue<Attribute>()), shape);
  at(depthOf(tile));
  return tile::BroadcastOp::create(builder, loc, type.clone(shape), tile);
}

SmallVector<int64_t> TileEmitter::shapeOf(ArrayRef<AffineExpr> exprs, const Frame &frame) const {
  SmallVector<int64_t> shape;
  for (unsigned loop : frame) {
    bool varies = llvm::any_of(exprs, [&](AffineExpr expr) { return dependsOn(expr, loop); });
    shape.push_back(varies ? states[loop].tile : 1);
  }
  return shape;
}

SmallVector<int64_t> TileEmitter::joinShapes(ValueRange tiles, SmallVector<int64_t> shape) {
  for (Value tile : tiles)
    for (auto [size, other] : llvm::zip_equal(shape, cast<RankedTensorType>(tile.getType()).getShape()))
      size = std::max(size, other);
  return shape;
}

//===- Memory -----------------------------------------------------------------------------------------------------===//

/// The offsets and bounds of a tile of `shape`: those of the loops along which `exprs` vary, and offset 0 of bound 1
/// for others.
TileEmitter::Window TileEmitter::windowOf(ArrayRef<int64_t> shape, ArrayRef<AffineExpr> exprs, const Frame &frame) {
  Window window;
  for (auto [size, loop] : llvm::zip_equal(shape, frame)) {
    bool varies = size > 1 || llvm::any_of(exprs, [&](AffineExpr expr) { return dependsOn(expr, loop); });
    window.offsets.push_back(varies ? states[loop].offset : indexConstant(0));
    window.bounds.push_back(varies ? sizeOf(loop) : getAffineConstantExpr(1, context));
    window.depth = std::max(window.depth, depthOf(window.offsets.back()));
  }
  return window;
}

/// Expressions of loops as expressions of the frame's dimensions.
SmallVector<AffineExpr> TileEmitter::frameExprs(ArrayRef<AffineExpr> exprs, const Frame &frame,
                                                unsigned indices) const {
  SmallVector<AffineExpr> dims(space.loops().size(), getAffineConstantExpr(0, context)), results;
  for (auto [position, loop] : llvm::enumerate(frame))
    dims[loop] = getAffineDimExpr(position, context);
  dims.append(loopExprs(context, indices, frame.size()));
  for (AffineExpr expr : exprs)
    results.push_back(expr.replaceDims(dims));
  return results;
}

/// Moves the bounds of parallel loops to the end of their last tile, where all coordinates that depend on the loop are
/// guarded.
void TileEmitter::extendBounds(Window &window, ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> guard,
                               const Frame &frame) const {
  for (auto [bound, loop] : llvm::zip_equal(window.bounds, frame)) {
    bool depends = false, isGuarded = space.loops()[loop].kind == LoopKind::Parallel;
    for (auto [i, expr] : llvm::enumerate(exprs))
      if (dependsOn(expr, loop)) {
        depends = true;
        isGuarded &= llvm::is_contained(guard, static_cast<int64_t>(i));
      }
    if (depends && isGuarded)
      bound = bound.ceilDiv(states[loop].tile) * states[loop].tile;
  }
}

Value TileEmitter::load(Value buffer, const Place &place, ArrayRef<AffineExpr> sizes, const Frame &frame, Type element,
                        TypedAttr fill) {
  IndexAlgebra facts = algebra(place);
  SmallVector<int64_t> guard;
  for (auto [i, expr, size] : llvm::enumerate(place.at.exprs, sizes))
    if (!facts.isInside(expr, size))
      guard.push_back(i);
  if (!guard.empty() && !fill)
    fill = cast<TypedAttr>(builder.getZeroAttr(element));
  // Only the index tiles that are still mentioned are operands.
  Exprs exprs = place.at.exprs;
  SmallVector<Value> indices;
  unsigned loops = space.loops().size();
  SmallVector<AffineExpr> renumbered = loopExprs(context, loops);
  for (auto [i, tile] : llvm::enumerate(place.indices)) {
    renumbered.push_back(getAffineDimExpr(loops + indices.size(), context));
    if (llvm::any_of(exprs, [&](AffineExpr expr) { return dependsOn(expr, loops + i); }))
      indices.push_back(tile);
  }
  for (AffineExpr &expr : exprs)
    expr = expr.replaceDims(renumbered);
  SmallVector<int64_t> shape = joinShapes(indices, shapeOf(exprs, frame));
  for (Value &tile : indices)
    tile = broadcast(tile, shape);
  Window window = windowOf(shape, exprs, frame);
  if (loadsBeyondEnds)
    extendBounds(window, exprs, guard, frame);
  for (Value tile : indices)
    window.depth = std::max(window.depth, depthOf(tile));
  AffineMap map = localMap(frame.size() + indices.size(), frameExprs(exprs, frame, indices.size()));
  at(window.depth);
  return tile::LoadOp::create(builder, loc, RankedTensorType::get(shape, element), buffer, window.offsets, indices,
                              AffineMapAttr::get(localMap(0, window.bounds)), AffineMapAttr::get(map),
                              builder.getDenseI64ArrayAttr(guard), fill);
}

void TileEmitter::store(Value tile, Value buffer, ArrayRef<AffineExpr> coordinates, const Frame &frame) {
  SmallVector<int64_t> shape = joinShapes({tile}, shapeOf(coordinates, frame));
  tile = broadcast(tile, shape);
  Window window = windowOf(shape, coordinates, frame);
  at(depth());
  tile::StoreOp::create(builder, loc, tile, buffer, window.offsets, AffineMapAttr::get(localMap(0, window.bounds)),
                        AffineMapAttr::get(localMap(frame.size(), frameExprs(coordinates, frame, 0))));
}

Value TileEmitter::check(Value index, const IndexCheck &check, const Frame &frame) {
  auto element = cast<IntegerType>(cast<RankedTensorType>(index.getType()).getElementType());
  IntegerAttr zero = builder.getIntegerAttr(element, 0);
  bool isCounted = check.mask && check.mayBeEmpty; // of no elements 0 is no valid index: they count from 1, 0 is none
  AffineExpr size = isCounted ? check.size + 1 : check.size;
  if (isCounted) { // a negative index stays negative
    Value zeros = splat(zero, cast<RankedTensorType>(index.getType()).getShape());
    at(depthOf(index));
    Value isValid = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, index, zeros);
    index = arith::AddIOp::create(builder, loc, index, arith::ExtUIOp::create(builder, loc, index.getType(), isValid));
  }
  if (check.mask)
    index = select(check.mask, index, zero);
  Window window = windowOf(cast<RankedTensorType>(index.getType()).getShape(), {}, frame);
  at(std::max(window.depth, depthOf(index)));
  Value checked = tile::CheckOp::create(builder, loc, index.getType(), index, window.offsets,
                                        AffineMapAttr::get(localMap(0, window.bounds)),
                                        AffineMapAttr::get(localMap(0, {size})), builder.getI64IntegerAttr(check.site));
  if (!isCounted)
    return checked;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(checked.getType()).getShape();
  Value ones = splat(builder.getIntegerAttr(element, 1), shape), zeros = splat(zero, shape);
  at(depthOf(checked));
  Value position = arith::SubIOp::create(builder, loc, checked, ones);
  return arith::MaxSIOp::create(builder, loc, position, zeros);
}

} // namespace tilewright::tilegen
