// Contractions of which a program takes so few rows that a matrix instruction would multiply mostly padding: a vector
// times a matrix; and, for vectors of one thread, a few rows times rows, dots along k.
//
//   %p = scf.for %k = 0 to K step 512 iter_args(%acc = 0) {
//     %a = tile.load %x ...            tensor<1x1x512xf16>
//     %b = tile.load %w ...            tensor<1x16x512xf16>
//     scf.yield (%acc + extf %a * extf %b)
//   }
//   %c = tile.reduce <sum> %p dim 2
//   the epilogue, pulled from the outputs: the contraction's result is %c
//
// The reduced loop is a dimension like any other, so that all threads of a block (or a vector's lanes) share one
// column's sum, and nothing passes through shared memory before the products are added. The frame is all loops: batch,
// outer reduced, m, n, k.
#include "tilegen/roots/Roots.h"

using namespace mlir;

namespace tilewright::tilegen {

LogicalResult emitGemv(TileEmitter &emitter) {
  const KernelSpace &space = emitter.getSpace();
  auto contract = cast<graph::ContractOp>(space.loopOps[0]);
  OpBuilder &builder = emitter.getBuilder();
  Puller puller(emitter);
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  Frame frame = llvm::to_vector(llvm::seq<unsigned>(0, space.loops().size()));
  SmallVector<int64_t> shape;
  for (unsigned loop : frame)
    shape.push_back(emitter.tileOf(loop));
  Type element = cast<RankedTensorType>(contract.getType()).getElementType();
  bool isFloat = isa<FloatType>(element);

  auto pullSide = [&](Value side, ArrayRef<AffineExpr> coordinates) -> Value {
    Type narrow = cast<RankedTensorType>(side.getType()).getElementType();
    auto zero = cast<TypedAttr>(builder.getZeroAttr(narrow));
    Value tile = puller.pullMasked(side, {{Exprs(coordinates), {}}, {}}, frame, reduced, zero);
    if (!tile)
      return {};
    if (narrow != element) {
      emitter.at(emitter.depthOf(tile));
      RankedTensorType wide = cast<RankedTensorType>(tile.getType()).clone(element);
      bool isUnsigned = side == contract.getLhs() ? contract.getLhsUnsigned() : contract.getRhsUnsigned();
      tile = isFloat      ? arith::ExtFOp::create(builder, emitter.loc, wide, tile).getResult()
             : isUnsigned ? arith::ExtUIOp::create(builder, emitter.loc, wide, tile).getResult()
                          : arith::ExtSIOp::create(builder, emitter.loc, wide, tile).getResult();
    }
    return emitter.broadcast(tile, shape);
  };

  bool ok = true;
  bool loops = llvm::any_of(reduced, [&](unsigned loop) { return !emitter.isWhole(loop); });
  SmallVector<Value> initial;
  if (loops)
    initial.push_back(emitter.splat(cast<TypedAttr>(builder.getZeroAttr(element)), shape));
  SmallVector<Value> partial = emitter.forEachTile(reduced, initial, [&](ValueRange carried) {
    Value lhs = pullSide(space.lhs, space.lhsCoordinates), rhs = pullSide(space.rhs, space.rhsCoordinates);
    ok = lhs && rhs;
    if (!ok)
      return llvm::to_vector_of<Value>(carried);
    emitter.at(std::max(emitter.depthOf(lhs), emitter.depthOf(rhs)));
    Value product = isFloat ? arith::MulFOp::create(builder, emitter.loc, lhs, rhs).getResult()
                            : arith::MulIOp::create(builder, emitter.loc, lhs, rhs).getResult();
    if (loops)
      product = isFloat ? arith::AddFOp::create(builder, emitter.loc, carried[0], product).getResult()
                        : arith::AddIOp::create(builder, emitter.loc, carried[0], product).getResult();
    return SmallVector<Value>{product};
  });
  if (!ok)
    return failure();
  Value sum = partial[0];
  for (unsigned loop : llvm::reverse(reduced)) {
    if (shape[loop] == 1)
      continue;
    shape[loop] = 1;
    emitter.at(emitter.depthOf(sum));
    sum = tile::ReduceOp::create(builder, emitter.loc, RankedTensorType::get(shape, element), tile::ReduceKind::Sum,
                                 sum, loop);
  }
  puller.resolve(contract.getResult(), sum);
  for (unsigned i = 0; i < space.outputs.size(); ++i)
    if (failed(puller.store(i, frame)))
      return failure();
  return success();
}

} // namespace tilewright::tilegen
