// SPDX-License-Identifier: Apache-2.0
// Contractions of which a program takes so few rows that a matrix instruction would multiply mostly padding: a vector
// times a matrix; and, for vectors of one thread, a few rows times rows, dots along k.
//
//   %p = scf.for %k = 0 to K step 512 iter_args(%acc = 0) {
//     %a = tile.load %x ...            tensor<1x1x512xf16>
//     %b = tile.load %w ...            tensor<1x16x512xf16>
//     scf.yield (%acc + extf %a * extf %b)
//   }
//   %c = tile.reduce <sum> %p dim 2
//   the epilogue, computed from the contraction's result %c
//
// The reduced loop is a dimension of the tile like any other, so that all threads of a block (or a vector's lanes)
// share one column's sum, and nothing passes through shared memory before the products are added. Tiles have a
// dimension for each loop: batch, outer reduced, m, n, k.
#include "tilegen/roots/Contraction.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

class GemvEmitter {
public:
  GemvEmitter(TileEmitter &emitter, tile::ScheduleAttr schedule)
      : emitter(emitter), space(emitter.getSpace()), builder(emitter.getBuilder()), operands(emitter),
        dims(llvm::to_vector(llvm::seq<unsigned>(0, space.loops().size()))),
        reduced(space.loopsOfKind(LoopKind::Reduction)),
        shape(llvm::map_to_vector(dims, [&](unsigned loop) { return emitter.tileOf(loop); })),
        element(cast<RankedTensorType>(operands.getContract().getType()).getElementType()) {
    if (schedule.getPack())
      operands.readPanels(schedule.getPack());
  }

  LogicalResult emit();

private:
  bool isFloat() const { return isa<FloatType>(element); }
  Value widen(Value tile, bool isUnsigned);
  Value multiply(size_t contraction);
  Value add(Value a, Value b);
  Value sumOf(Value partial);

  TileEmitter &emitter;
  const KernelSpace &space;
  OpBuilder &builder;
  ContractionOperands operands;
  Frame dims;
  SmallVector<unsigned> reduced;
  SmallVector<int64_t> shape; // of the products
  Type element;               // of the result
};

} // namespace

/// An operand's tile, converted to the result's element type and broadcast to the products' shape; null stays null.
Value GemvEmitter::widen(Value tile, bool isUnsigned) {
  if (!tile)
    return {};
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType() != element) {
    emitter.at(emitter.depthOf(tile));
    RankedTensorType wide = type.clone(element);
    tile = isFloat()    ? arith::ExtFOp::create(builder, emitter.loc, wide, tile).getResult()
           : isUnsigned ? arith::ExtUIOp::create(builder, emitter.loc, wide, tile).getResult()
                        : arith::ExtSIOp::create(builder, emitter.loc, wide, tile).getResult();
  }
  return emitter.broadcast(tile, shape);
}

/// The products of one step; null after a diagnostic.
Value GemvEmitter::multiply(size_t contraction) {
  Value lhs = widen(operands.lhs(dims, reduced), operands.isLhsUnsigned());
  Value rhs = widen(operands.rhs(dims, reduced, contraction), operands.isRhsUnsigned());
  if (!lhs || !rhs)
    return {};
  emitter.at(std::max(emitter.depthOf(lhs), emitter.depthOf(rhs)));
  return isFloat() ? arith::MulFOp::create(builder, emitter.loc, lhs, rhs).getResult()
                   : arith::MulIOp::create(builder, emitter.loc, lhs, rhs).getResult();
}

Value GemvEmitter::add(Value a, Value b) {
  return isFloat() ? arith::AddFOp::create(builder, emitter.loc, a, b).getResult()
                   : arith::AddIOp::create(builder, emitter.loc, a, b).getResult();
}

Value GemvEmitter::sumOf(Value partial) {
  SmallVector<int64_t> left = shape;
  for (unsigned loop : llvm::reverse(reduced)) {
    if (left[loop] == 1)
      continue;
    left[loop] = 1;
    emitter.at(emitter.depthOf(partial));
    partial = tile::ReduceOp::create(builder, emitter.loc, RankedTensorType::get(left, element), tile::ReduceKind::Sum,
                                     partial, loop);
  }
  return partial;
}

LogicalResult GemvEmitter::emit() {
  bool loops = llvm::any_of(reduced, [&](unsigned loop) { return !emitter.isWhole(loop); });
  size_t count = space.loopOps.size();
  SmallVector<Value> initial;
  if (loops)
    initial.append(count, emitter.splat(cast<TypedAttr>(builder.getZeroAttr(element)), shape));
  bool ok = true;
  SmallVector<Value> partial = emitter.forEachTile(reduced, initial, [&](ValueRange carried) {
    SmallVector<Value> next;
    for (size_t i = 0; i < count; ++i) {
      Value product = multiply(i);
      ok = product != nullptr;
      if (!ok)
        return llvm::to_vector_of<Value>(carried);
      next.push_back(loops ? add(carried[i], product) : product);
    }
    return next;
  });
  if (!ok)
    return failure();
  SmallVector<Value> sums;
  for (Value each : partial)
    sums.push_back(sumOf(each));
  return operands.storeOutputs(sums, dims);
}

LogicalResult emitGemv(TileEmitter &emitter, tile::ScheduleAttr schedule) {
  return GemvEmitter(emitter, schedule).emit();
}

} // namespace tilewright::tilegen
