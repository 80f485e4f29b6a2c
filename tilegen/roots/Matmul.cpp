// SPDX-License-Identifier: Apache-2.0
// Contractions with matrix instructions, or with register tiles.
//
//   %c = scf.for %k = 0 to K step 64 iter_args(%acc = 0) {
//     %a = tile.load %x ...            the left side, with whatever precedes it
//     %b = tile.load %w ...            the right side; a constant may be stored in panels
//     scf.yield (tile.dot %a, %b, %acc)
//   }
//   the epilogue, computed from the contraction's result %c
#include "tilegen/roots/Contraction.h"
#include "tilegen/roots/Panels.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

class MatmulEmitter {
public:
  MatmulEmitter(TileEmitter &emitter, int64_t pack)
      : emitter(emitter), space(emitter.getSpace()), builder(emitter.getBuilder()), operands(emitter), pack(pack),
        reduced(space.loopsOfKind(LoopKind::Reduction)), k(reduced.back()), m(space.loopsOfKind(LoopKind::Row).front()),
        n(space.loopsOfKind(LoopKind::Column).front()) {}

  LogicalResult emit();

private:
  Frame dimsOf(unsigned row, unsigned column) const;
  SmallVector<int64_t> shapeOf(const Frame &dims) const;
  Value loadPanels(const Frame &dims);
  Value multiply(Value sums);

  TileEmitter &emitter;
  const KernelSpace &space;
  OpBuilder &builder;
  ContractionOperands operands;
  int64_t pack; // width of the right side's panels; 0 for none
  SmallVector<unsigned> reduced;
  unsigned k, m, n;
};

} // namespace

/// The dimensions of a matrix of `row` by `column`: the batch and the outer reduced loops come first.
Frame MatmulEmitter::dimsOf(unsigned row, unsigned column) const {
  Frame dims = space.loopsOfKind(LoopKind::Parallel);
  dims.append(reduced.begin(), reduced.end() - 1);
  dims.append({row, column});
  return dims;
}

SmallVector<int64_t> MatmulEmitter::shapeOf(const Frame &dims) const {
  return llvm::map_to_vector(dims, [&](unsigned loop) { return emitter.tileOf(loop); });
}

Value MatmulEmitter::loadPanels(const Frame &dims) {
  PanelForm panels = makePanelForm(space, pack);
  Exprs sizes;
  for (int64_t size : panels.sizes)
    sizes.push_back(builder.getAffineConstantExpr(size));
  Type element = cast<RankedTensorType>(space.rhs.getType()).getElementType();
  return emitter.load(emitter.getKernel().getBody().getArgument(*packableArgument(space)),
                      {{panels.coordinates, {}}, {}}, sizes, dims, element,
                      cast<TypedAttr>(builder.getZeroAttr(element)));
}

/// One step of the reduced loops: the sums with a product added; null after a diagnostic.
Value MatmulEmitter::multiply(Value sums) {
  Frame lhsDims = dimsOf(m, k), rhsDims = dimsOf(k, n);
  Value lhs = operands.lhs(lhsDims, {k});
  if (lhs)
    lhs = emitter.broadcast(lhs, shapeOf(lhsDims));
  Value rhs = pack ? loadPanels(rhsDims) : operands.rhs(rhsDims, {k});
  if (rhs)
    rhs = emitter.broadcast(rhs, shapeOf(rhsDims));
  if (!lhs || !rhs)
    return {};
  emitter.at(std::max({emitter.depthOf(lhs), emitter.depthOf(rhs), emitter.depthOf(sums)}));
  return tile::DotOp::create(builder, emitter.loc, lhs, rhs, sums, operands.isLhsUnsigned(), operands.isRhsUnsigned());
}

LogicalResult MatmulEmitter::emit() {
  Frame dims = dimsOf(m, n);
  Type element = cast<RankedTensorType>(operands.getContract().getType()).getElementType();
  Value zero = emitter.splat(cast<TypedAttr>(builder.getZeroAttr(element)), shapeOf(dims));
  bool ok = true;
  SmallVector<Value> sums = emitter.forEachTile(reduced, {zero}, [&](ValueRange carried) {
    Value sum = multiply(carried[0]);
    ok = sum != nullptr;
    return SmallVector<Value>{ok ? sum : carried[0]};
  });
  return ok ? operands.storeOutputs(sums[0], dims) : failure();
}

LogicalResult emitMatmul(TileEmitter &emitter, tile::ScheduleAttr schedule) {
  return MatmulEmitter(emitter, schedule.getPack()).emit();
}

} // namespace tilewright::tilegen
