// SPDX-License-Identifier: Apache-2.0
// Emits the tile of a value from the tiles of its producers; Materialize.h has the picture.
#include "tilegen/emit/Materialize.h"

#include "frontend/graph/Sizes.h"
#include "fusion/keys/NeutralMasks.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilewright::tilegen {

//===- Tiles made before ------------------------------------------------------------------------------------------===//

/// The key of a tile: tiles are the same if they have the same value, coordinates, fill, frame, and offsets of the
/// loops on which the coordinates depend.
Materializer::Key Materializer::keyOf(Value value, const Place &place, const Frame &frame, Attribute fill) const {
  Key key{value.getAsOpaquePointer(), fill.getAsOpaquePointer()};
  for (AffineExpr expr : place.at.exprs)
    key.push_back(expr.getAsOpaquePointer());
  for (Value index : place.indices)
    key.push_back(index.getAsOpaquePointer());
  key.push_back(nullptr);
  for (unsigned loop : frame) {
    key.push_back(reinterpret_cast<const void *>(static_cast<uintptr_t>(loop + 1)));
    if (llvm::any_of(place.at.exprs, [&](AffineExpr expr) { return dependsOn(expr, loop); }))
      key.push_back(emitter.offsetOf(loop).getAsOpaquePointer());
  }
  return key;
}

/// The tile that was made for this key before, or null. Tiles of loops that are closed are still listed, but no key
/// finds them, because their offsets were values of the closed loop.
Value Materializer::find(const Key &key) const {
  auto at = known.find(key);
  return at == known.end() ? Value() : at->second;
}

void Materializer::simplify(Place &place) const {
  IndexAlgebra facts = emitter.algebra(place);
  for (AffineExpr &expr : place.at.exprs)
    expr = facts.simplify(expr);
}

//===- Loads ------------------------------------------------------------------------------------------------------===//

Value Materializer::loadArgument(BlockArgument argument, const Place &place, const Frame &frame, TypedAttr fill) {
  Key key = keyOf(argument, place, frame, fill);
  if (Value tile = find(key))
    return tile;
  unsigned number = argument.getArgNumber();
  Value buffer = emitter.getKernel().getBody().getArgument(number);
  Type element = cast<RankedTensorType>(argument.getType()).getElementType();
  Value tile;
  if (const auto *panel = llvm::find_if(panels, [&](const PanelForm &form) { return form.argument == number; });
      panel != panels.end()) {
    Exprs sizes;
    for (int64_t size : panel->sizes)
      sizes.push_back(emitter.getBuilder().getAffineConstantExpr(size));
    auto zero = cast<TypedAttr>(emitter.getBuilder().getZeroAttr(element));
    tile = emitter.load(buffer, {{panel->coordinates, {}}, {}}, sizes, frame, element, zero);
  } else {
    IndexAlgebra facts = emitter.algebra(place);
    MergedCoordinates merged =
        mergeDims(facts, graph::getSizes(argument), place.at.exprs, emitter.getSpace().buffers[number]);
    Place at{{merged.coordinates, place.at.indexSizes}, place.indices};
    tile = emitter.load(buffer, at, merged.sizes, frame, element, fill);
  }
  known[key] = tile;
  auto load = tile.getDefiningOp<tile::LoadOp>();
  if (load.getGuard().empty()) // without guards the fill is only beyond the loops, where other readers need no value
    known.try_emplace(keyOf(argument, place, frame, {}), tile);
  return tile;
}

/// The tile of an argument that `value` reads through transposes alone, loaded with `fill` outside of the argument.
/// Null if there is anything else between them, which could leave `value` without leaving the buffer.
Value Materializer::loadThroughRenaming(Value value, Place place, const Frame &frame, TypedAttr fill) {
  while (auto transpose = value.getDefiningOp<graph::TransposeOp>()) {
    place.at = throughAccess(cast<graph::AccessOpInterface>(transpose.getOperation()), place.at,
                             emitter.getSpace().loops().size());
    value = transpose.getData();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  simplify(place);
  return loadArgument(argument, place, frame, fill);
}

//===- Accesses ---------------------------------------------------------------------------------------------------===//

/// The checked tile of an index operand of a gather. Where `place` may be outside of the operand, as in another input
/// of a concat or in padding, nothing is read, so whatever would be computed there must not be reported.
Value Materializer::checkedIndex(graph::GatherOp gather, unsigned i, Place place, const Frame &frame) {
  Value index = gather.getIndices()[i], tile = materialize(index, place, frame);
  if (!tile)
    return {};
  auto node = gather->getAttrOfType<IntegerAttr>(graph::nodeAttr);
  AffineExpr size = graph::getSizes(gather.getData())[gatheredDim(gather, i)];
  Key key = keyOf(gather.getResult(), place, frame, node);
  key.push_back(tile.getAsOpaquePointer());
  key.push_back(size.getAsOpaquePointer()); // one tile may be the index in dimensions of several sizes
  if (Value checked = find(key))
    return checked;
  IndexCheck check{size, node ? node.getInt() : 0, {}, !emitter.algebra(place).isNonNegative(size - 1)};
  while (isa_and_nonnull<graph::BroadcastOp, graph::TransposeOp>(index.getDefiningOp())) {
    auto access = cast<graph::AccessOpInterface>(index.getDefiningOp());
    place.at = throughAccess(access, place.at, emitter.getSpace().loops().size());
    index = access.getData();
  }
  simplify(place);
  // A constant is valid everywhere if it is anywhere, and an argument's load gives 0 outside, the index of an element.
  bool isValidOutside = isa<BlockArgument>(index) || index.getDefiningOp<arith::ConstantOp>();
  if (!isValidOutside || check.mayBeEmpty)
    check.mask = emitter.insideMask(place, graph::getSizes(index), frame);
  return known[key] = emitter.check(tile, check, frame);
}

/// The place in `access`'s data, with the index tiles of a gather loaded and checked.
std::optional<Place> Materializer::through(graph::AccessOpInterface access, const Place &place, const Frame &frame) {
  Place data{throughAccess(access, place.at, emitter.getSpace().loops().size()), place.indices};
  if (auto gather = dyn_cast<graph::GatherOp>(access.getOperation()))
    for (unsigned i = 0; i < gather.getIndices().size(); ++i) {
      if (gatheredDim(gather, i) < 0) {
        gather.emitOpError() << "expected index operand " << i << " to be a coordinate by itself, got "
                             << gather.getMapAttr();
        return std::nullopt;
      }
      Value tile = checkedIndex(gather, i, place, frame);
      if (!tile)
        return std::nullopt;
      data.indices.push_back(tile);
    }
  simplify(data);
  return data;
}

Value Materializer::emitAccess(graph::AccessOpInterface access, const Place &place, const Frame &frame) {
  std::optional<Place> data = through(access, place, frame);
  if (!data)
    return {};
  TypedAttr fill = access.getFill();
  if (!fill)
    return materialize(access.getData(), *data, frame);
  if (Value tile = loadThroughRenaming(access.getData(), *data, frame, fill))
    return tile;
  Value tile = materialize(access.getData(), *data, frame);
  Value mask = tile ? emitter.insideMask(*data, graph::getSizes(access.getData()), frame) : Value();
  return mask ? emitter.select(mask, tile, fill) : tile;
}

/// select(c < begin of the second input, first, select(...)): each input is read where it has elements.
Value Materializer::emitConcat(graph::ConcatOp concat, const Place &place, const Frame &frame) {
  Value result;
  for (unsigned i = concat.getInputs().size(); i-- > 0;) {
    Place input{throughConcat(concat, i, place.at), place.indices};
    simplify(input);
    Value tile = materialize(concat.getInputs()[i], input, frame);
    if (!tile)
      return {};
    if (!result) {
      result = tile;
      continue;
    }
    Place boundary{{{place.at.exprs[concat.getAxis()]}, place.at.indexSizes}, place.indices};
    Value mask = emitter.insideMask(boundary, {concatOffset(concat, i + 1)}, frame);
    if (!mask) { // all coordinates are in this input or before it
      result = tile;
      continue;
    }
    SmallVector<int64_t> shape = TileEmitter::joinShapes({mask, tile, result}, TileEmitter::ones(frame));
    mask = emitter.broadcast(mask, shape);
    tile = emitter.broadcast(tile, shape);
    result = emitter.broadcast(result, shape);
    emitter.at(std::max({emitter.depthOf(mask), emitter.depthOf(tile), emitter.depthOf(result)}));
    result = arith::SelectOp::create(emitter.getBuilder(), emitter.loc, mask, tile, result);
  }
  return result;
}

//===- Elementwise ------------------------------------------------------------------------------------------------===//

Value Materializer::emitElementwise(Operation *op, const Place &place, const Frame &frame) {
  IRMapping mapping;
  SmallVector<Value> tiles;
  for (Value operand : op->getOperands()) {
    Value tile = materialize(operand, place, frame);
    if (!tile)
      return {};
    tiles.push_back(tile);
  }
  SmallVector<int64_t> shape = TileEmitter::joinShapes(tiles, TileEmitter::ones(frame));
  unsigned depth = 0;
  for (auto [operand, tile] : llvm::zip_equal(op->getOperands(), tiles)) {
    tile = emitter.broadcast(tile, shape);
    depth = std::max(depth, emitter.depthOf(tile));
    mapping.map(operand, tile);
  }
  emitter.at(depth);
  Operation *clone = emitter.getBuilder().clone(*op, mapping);
  for (StringRef name :
       {StringRef(graph::nodeAttr), StringRef(fusion::neutralFromAttr), StringRef(fusion::neutralBelowAttr)})
    clone->removeAttr(name);
  Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  clone->getResult(0).setType(RankedTensorType::get(shape, element));
  return clone->getResult(0);
}

//===- Any value --------------------------------------------------------------------------------------------------===//

Value Materializer::emit(Value value, const Place &place, const Frame &frame) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return loadArgument(argument, place, frame, {});
  Operation *op = value.getDefiningOp();
  if (auto concat = dyn_cast<graph::ConcatOp>(op))
    return emitConcat(concat, place, frame);
  if (auto access = dyn_cast<graph::AccessOpInterface>(op))
    return emitAccess(access, place, frame);
  if (auto iota = dyn_cast<graph::IotaOp>(op))
    return emitter.evaluate(place.at.exprs[iota.getDim()], place, frame,
                            cast<RankedTensorType>(iota.getType()).getElementType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return emitter.splat(cast<TypedAttr>(splat.getSplatValue<Attribute>()), TileEmitter::ones(frame));
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1)
    return emitElementwise(op, place, frame);
  op->emitOpError(
      "expected an access, a splat constant or an elementwise operation because a tile of its result is needed");
  return {};
}

Value Materializer::materialize(Value value, const Place &place, const Frame &frame) {
  if (Value tile = resolved.lookup(value))
    return tile;
  Key key = keyOf(value, place, frame, {});
  if (Value tile = find(key))
    return tile;
  Value tile = emit(value, place, frame);
  if (tile)
    known[key] = tile;
  return tile;
}

/// `fill` as a number of the narrower float type `from`; null if it is no float, or is not exact in that type.
static TypedAttr narrowFill(TypedAttr fill, Type from) {
  auto number = dyn_cast<FloatAttr>(fill);
  if (!number)
    return {};
  APFloat value = number.getValue();
  bool loses = false;
  value.convert(cast<FloatType>(from).getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return loses ? TypedAttr() : FloatAttr::get(from, value);
}

/// The tile of a value that is a single load, perhaps widened, with `fill` beyond the end of the `masked` loops as the
/// load's own fill. Null for other values.
Value Materializer::materializeWithFill(Value value, Place place, const Frame &frame, ArrayRef<unsigned> masked,
                                        TypedAttr fill) {
  simplify(place);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool decides = llvm::all_of(masked, [&](unsigned loop) {
      return llvm::any_of(place.at.exprs, [&](AffineExpr expr) { return dependsOn(expr, loop); });
    });
    return decides ? loadArgument(argument, place, frame, fill) : Value();
  }
  Operation *op = value.getDefiningOp();
  if (resolved.count(value))
    return {};
  if (auto extend = dyn_cast<arith::ExtFOp>(op)) {
    TypedAttr narrow = narrowFill(fill, cast<RankedTensorType>(extend.getIn().getType()).getElementType());
    Value tile = narrow ? materializeWithFill(extend.getIn(), place, frame, masked, narrow) : Value();
    if (!tile)
      return {};
    emitter.at(emitter.depthOf(tile));
    auto type = cast<RankedTensorType>(tile.getType()).clone(cast<RankedTensorType>(value.getType()).getElementType());
    return arith::ExtFOp::create(emitter.getBuilder(), emitter.loc, type, tile);
  }
  auto access = dyn_cast<graph::AccessOpInterface>(op);
  if (!access || isa<graph::GatherOp>(op))
    return {};
  Place data{throughAccess(access, place.at, emitter.getSpace().loops().size()), place.indices};
  if (!access.getFill())
    return materializeWithFill(access.getData(), data, frame, masked, fill);
  return access.getFill() == fill ? loadThroughRenaming(access.getData(), data, frame, fill) : Value();
}

Value Materializer::materializeMasked(Value value, Place place, const Frame &frame, ArrayRef<unsigned> masked,
                                      TypedAttr dead) {
  simplify(place);
  SmallVector<unsigned> ragged;
  for (unsigned loop : masked)
    if (!emitter.isEven(loop))
      ragged.push_back(loop);
  if (!ragged.empty())
    if (Value tile = materializeWithFill(value, place, frame, ragged, dead))
      return tile;
  Value tile = materialize(value, place, frame);
  for (unsigned loop : ragged)
    if (tile)
      tile = emitter.select(emitter.liveMask(loop, frame), tile, dead);
  return tile;
}

LogicalResult Materializer::store(unsigned i, const Frame &frame) {
  const KernelSpace &space = emitter.getSpace();
  graph::KernelOp source = space.source;
  auto returned = cast<graph::ReturnOp>(source.getBody().front().getTerminator());
  Value value = returned.getOperand(i);
  Place place{{space.outputs[i], {}}, {}};
  simplify(place);
  Value tile = materialize(value, place, frame);
  if (!tile)
    return failure();
  unsigned buffer = source.getNumArguments() + i;
  IndexAlgebra facts = emitter.algebra({});
  MergedCoordinates merged = mergeDims(facts, graph::getSizes(value), place.at.exprs, space.buffers[buffer]);
  emitter.store(tile, emitter.getKernel().getBody().getArgument(buffer), merged.coordinates, frame);
  return success();
}

} // namespace tilewright::tilegen
