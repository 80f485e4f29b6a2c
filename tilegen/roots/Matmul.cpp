// Kernels whose root is a contraction.
//
//   %c = scf.for %k = 0 to K step 64 iter_args(%acc = 0) {
//     %a = tile.load %x ...            the left side, with whatever precedes it
//     %b = tile.load %w ...            the right side; a constant may be stored in panels
//     scf.yield (tile.dot %a, %b, %acc)
//   }
//   the epilogue, pulled from the outputs: the contraction's result is %c
#include "tilegen/roots/Roots.h"

using namespace mlir;

namespace tilewright::tilegen {

//===- Panels -----------------------------------------------------------------------------------------------------===//

/// Whether a column beyond the last lies outside of the buffer: some coordinate is the column, or what goes up with
/// every so many columns.
static bool leavesWithColumn(const KernelSpace &space, ArrayRef<AffineExpr> coordinates, ArrayRef<int64_t> sizes) {
  unsigned column = space.loopsOfKind(LoopKind::Column).front();
  AffineExpr n = getAffineDimExpr(column, space.nest.context);
  return llvm::any_of(llvm::zip_equal(coordinates, sizes), [&](auto pair) {
    auto [coordinate, size] = pair;
    auto divided = dyn_cast<AffineBinaryOpExpr>(coordinate);
    auto by = divided ? dyn_cast<AffineConstantExpr>(divided.getRHS()) : AffineConstantExpr();
    bool counts = by && divided.getKind() == AffineExprKind::FloorDiv && divided.getLHS() == n;
    return coordinate == n ||
           (counts && space.loops()[column].size == getAffineConstantExpr(size * by.getValue(), space.nest.context));
  });
}

/// The argument behind renamings of the right side, with its coordinates. PanelForm fills with zeros what lies outside
/// the source, so columns must leave it.
static std::optional<std::pair<unsigned, Exprs>> packedSource(const KernelSpace &space) {
  Coordinates at{space.rhsCoordinates, {}};
  Value value = space.rhs;
  while (auto access = value.getDefiningOp<graph::AccessOpInterface>()) {
    if (access.getFill() || !access.getIndexOperands().empty())
      return std::nullopt;
    at = throughAccess(access, at, space.loops().size());
    value = access.getData();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  graph::KernelOp source = space.source;
  if (!argument || !cast<RankedTensorType>(argument.getType()).hasStaticShape() ||
      !source.getArgAttr(argument.getArgNumber(), graph::constantAttr))
    return std::nullopt;
  unsigned uses = llvm::count_if(space.nest.accesses,
                                 [&](const Access &access) { return access.buffer == argument.getArgNumber(); });
  IndexAlgebra facts = space.nest.algebra();
  for (AffineExpr &expr : at.exprs)
    expr = facts.simplify(expr);
  if (uses != 1 || !leavesWithColumn(space, at.exprs, cast<RankedTensorType>(argument.getType()).getShape()))
    return std::nullopt;
  return std::pair(argument.getArgNumber(), at.exprs);
}

std::optional<unsigned> packableArgument(const KernelSpace &space) {
  auto source = packedSource(space);
  return source ? std::optional(source->first) : std::nullopt;
}

/// Bytes lie in quads along k, each quad of a column one word, so that a machine's dot of four bytes takes whole
/// vectors. What fills the last quad of a column must lie outside of the source, as PanelForm says.
static bool packsQuads(const KernelSpace &space, llvm::function_ref<bool(unsigned)> varies,
                       llvm::function_ref<int64_t(unsigned)> sizeOf) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  if (!cast<RankedTensorType>(space.rhs.getType()).getElementType().isInteger(8) || !varies(reduced.back()))
    return false;
  return sizeOf(reduced.back()) % quad == 0 ||
         (reduced.size() == 1 && llvm::none_of(space.loopsOfKind(LoopKind::Parallel), varies));
}

PanelForm makePanelForm(const KernelSpace &space, unsigned, int64_t width) {
  Exprs source = packedSource(space)->second;
  MLIRContext *context = space.nest.context;
  unsigned column = space.loopsOfKind(LoopKind::Column).front();
  auto varies = [&](unsigned loop) {
    return llvm::any_of(source, [&](AffineExpr expr) { return dependsOn(expr, loop); });
  };
  auto sizeOf = [&](unsigned loop) { return cast<AffineConstantExpr>(space.loops()[loop].size).getValue(); };
  bool quads = packsQuads(space, varies, sizeOf);
  unsigned inner = space.loopsOfKind(LoopKind::Reduction).back();
  PanelForm packing;
  Exprs loops(space.loops().size(), getAffineConstantExpr(0, context)); // as expressions of packed coordinates
  auto addDim = [&](int64_t size, AffineExpr coordinate) {
    packing.sizes.push_back(size);
    packing.coordinates.push_back(coordinate);
    return getAffineDimExpr(packing.sizes.size() - 1, context);
  };
  AffineExpr n = getAffineDimExpr(column, context);
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    if (varies(loop))
      loops[loop] = addDim(sizeOf(loop), getAffineDimExpr(loop, context));
  AffineExpr panel = addDim((sizeOf(column) + width - 1) / width, n.floorDiv(width));
  AffineExpr k = getAffineDimExpr(inner, context);
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction))
    if (quads && loop == inner)
      loops[loop] = addDim((sizeOf(loop) + quad - 1) / quad, k.floorDiv(quad)) * quad;
    else if (varies(loop))
      loops[loop] = addDim(sizeOf(loop), getAffineDimExpr(loop, context));
  loops[column] = panel * width + addDim(width, n % width);
  if (quads)
    loops[inner] = loops[inner] + addDim(quad, k % quad);
  Exprs from;
  for (AffineExpr expr : source)
    from.push_back(expr.replaceDims(loops));
  packing.from = AffineMap::get(packing.sizes.size(), 0, from, context);
  return packing;
}

//===- Emission ---------------------------------------------------------------------------------------------------===//

LogicalResult emitMatmul(TileEmitter &emitter, int64_t pack) {
  const KernelSpace &space = emitter.getSpace();
  auto contract = cast<graph::ContractOp>(space.loopOps[0]);
  OpBuilder &builder = emitter.getBuilder();
  Puller puller(emitter);
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  unsigned k = reduced.back(), m = space.loopsOfKind(LoopKind::Row).front(),
           n = space.loopsOfKind(LoopKind::Column).front();
  Frame outer = space.loopsOfKind(LoopKind::Parallel);
  outer.append(reduced.begin(), reduced.end() - 1);
  auto frameOf = [&](unsigned row, unsigned column) {
    Frame frame = outer;
    frame.push_back(row);
    frame.push_back(column);
    return frame;
  };
  Frame lhsFrame = frameOf(m, k), rhsFrame = frameOf(k, n), resultFrame = frameOf(m, n);
  auto shapeOf = [&](const Frame &frame) {
    SmallVector<int64_t> shape;
    for (unsigned loop : frame)
      shape.push_back(emitter.tileOf(loop));
    return shape;
  };
  Type operandType = cast<RankedTensorType>(contract.getLhs().getType()).getElementType();
  Type resultType = cast<RankedTensorType>(contract.getType()).getElementType();
  auto zero = cast<TypedAttr>(builder.getZeroAttr(operandType));
  std::optional<unsigned> packed = pack ? packableArgument(space) : std::nullopt;

  auto pullSide = [&](Value side, ArrayRef<AffineExpr> coordinates, const Frame &frame) -> Value {
    Value tile;
    if (packed && side == space.rhs) {
      PanelForm packing = makePanelForm(space, *packed, pack);
      Exprs sizes;
      for (int64_t size : packing.sizes)
        sizes.push_back(builder.getAffineConstantExpr(size));
      tile = emitter.load(emitter.getKernel().getBody().getArgument(*packed), {{packing.coordinates, {}}, {}}, sizes,
                          frame, operandType, zero);
    } else {
      tile = puller.pullMasked(side, {{Exprs(coordinates), {}}, {}}, frame, {k}, zero);
    }
    return tile ? emitter.broadcast(tile, shapeOf(frame)) : Value();
  };

  bool ok = true;
  Value initial = emitter.splat(cast<TypedAttr>(builder.getZeroAttr(resultType)), shapeOf(resultFrame));
  SmallVector<Value> sums = emitter.forEachTile(reduced, {initial}, [&](ValueRange carried) {
    Value lhs = pullSide(space.lhs, space.lhsCoordinates, lhsFrame),
          rhs = pullSide(space.rhs, space.rhsCoordinates, rhsFrame);
    ok = lhs && rhs;
    if (!ok)
      return llvm::to_vector_of<Value>(carried);
    emitter.at(std::max({emitter.depthOf(lhs), emitter.depthOf(rhs), emitter.depthOf(carried[0])}));
    auto isUnsigned = [&](Value side) {
      return side == contract.getLhs() ? contract.getLhsUnsigned() : contract.getRhsUnsigned();
    };
    return SmallVector<Value>{
        tile::DotOp::create(builder, emitter.loc, lhs, rhs, carried[0], isUnsigned(space.lhs), isUnsigned(space.rhs))};
  });
  if (!ok)
    return failure();
  puller.resolve(contract.getResult(), sums[0]);
  for (unsigned i = 0; i < space.outputs.size(); ++i)
    if (failed(puller.store(i, resultFrame)))
      return failure();
  return success();
}

} // namespace tilewright::tilegen
