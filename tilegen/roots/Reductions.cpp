// SPDX-License-Identifier: Apache-2.0
// Kernels whose root is one or several reductions over the same loops: rows (softmax, norms) and windows (pooling,
// depthwise products).
//
//   y = exp(x - max(x)) / sum(exp(x - max(x)))     phases: max; sum, which needs it; the outputs
//
// If a tile holds the whole row it is loaded once and every phase is straight code:
//
//   %x = tile.load ... fill -inf
//   %m = tile.reduce <max> %x dim 1
//   ...
//
// otherwise each phase is a loop over the row that reads it again and carries a full-width partial result, reduced at
// its end:
//
//   %p = scf.for %c = ... iter_args(%acc = -inf) { arith.maximumf %acc, (tile.load ... %c) }
//   %m = tile.reduce <max> %p dim 1
//
// If the schedule is `unrolled`, the elements of a step are combined one after the other instead, and no partial result
// is left to reduce:
//
//   %m = scf.for ... iter_args(%acc = -inf) {
//     %1 = arith.maximumf %acc, (tile.load ... %c)
//     %2 = arith.maximumf %1, (tile.load ... %c + 1)
#include "tilegen/emit/Materialize.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

class ReductionEmitter {
public:
  ReductionEmitter(TileEmitter &emitter, bool isUnrolled)
      : emitter(emitter), space(emitter.getSpace()), values(emitter),
        frame(llvm::to_vector(llvm::seq<unsigned>(0, space.loops().size()))),
        reduced(space.loopsOfKind(LoopKind::Reduction)), isUnrolled(isUnrolled) {}

  LogicalResult emit();

private:
  SmallVector<SmallVector<unsigned>> phases();
  SmallVector<int64_t> partialShape(unsigned which) const;
  TypedAttr identity(graph::ReduceOp reduce) const;
  Value combine(graph::ReduceOp reduce, Value a, Value b);
  Value materializePartial(unsigned which);
  LogicalResult emitPhase(ArrayRef<unsigned> reduces);
  LogicalResult emitOutputs();

  TileEmitter &emitter;
  const KernelSpace &space;
  Materializer values;
  Frame frame;
  SmallVector<unsigned> reduced;
  bool isUnrolled;
};

} // namespace

/// The phases: reductions by how many others they depend on, one after the other. Those of one phase share a loop.
SmallVector<SmallVector<unsigned>> ReductionEmitter::phases() {
  SmallVector<SmallVector<unsigned>> result;
  DenseMap<Operation *, unsigned> level; // the reductions at or before an operation
  graph::KernelOp source = space.source;
  for (Operation &op : source.getBody().front()) {
    unsigned before = 0;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        before = std::max(before, level.lookup(producer));
    auto *at = llvm::find(space.loopOps, &op);
    level[&op] = before + (at != space.loopOps.end());
    if (at == space.loopOps.end())
      continue;
    result.resize(std::max<size_t>(result.size(), before + 1));
    result[before].push_back(at - space.loopOps.begin());
  }
  return result;
}

static arith::AtomicRMWKind combinator(graph::ReduceKind kind, Type element) {
  bool real = isa<FloatType>(element);
  switch (kind) {
  case graph::ReduceKind::Sum:
    return real ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case graph::ReduceKind::Prod:
    return real ? arith::AtomicRMWKind::mulf : arith::AtomicRMWKind::muli;
  case graph::ReduceKind::Max:
    return real ? arith::AtomicRMWKind::maximumf : arith::AtomicRMWKind::maxs;
  default:
    return real ? arith::AtomicRMWKind::minimumf : arith::AtomicRMWKind::mins;
  }
}

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

TypedAttr ReductionEmitter::identity(graph::ReduceOp reduce) const {
  Type element = elementOf(reduce.getResult());
  return arith::getIdentityValueAttr(combinator(reduce.getKind(), element), element, emitter.getBuilder(), emitter.loc);
}

Value ReductionEmitter::combine(graph::ReduceOp reduce, Value a, Value b) {
  emitter.at(std::max(emitter.depthOf(a), emitter.depthOf(b)));
  return arith::getReductionOp(combinator(reduce.getKind(), elementOf(reduce.getResult())), emitter.getBuilder(),
                               emitter.loc, a, b);
}

/// The shape of a tile of partial results: the rows' loops, and all of the reduced ones unless they are unrolled.
SmallVector<int64_t> ReductionEmitter::partialShape(unsigned which) const {
  SmallVector<int64_t> shape = emitter.shapeOf(space.loopOpResults[which], frame);
  for (unsigned loop : reduced)
    shape[loop] = isUnrolled ? 1 : emitter.tileOf(loop);
  return shape;
}

/// The elements that the loops point at, with the identity beyond the row's end, at full width.
Value ReductionEmitter::materializePartial(unsigned which) {
  auto reduce = cast<graph::ReduceOp>(space.loopOps[which]);
  Place place{{space.reducedCoordinates(reduce), {}}, {}};
  Type wide = elementOf(reduce.getResult()), narrow = elementOf(reduce.getInput());
  TypedAttr dead = identity(reduce);
  if (wide != narrow) // sums of half types are f32: the narrow tile has the narrow identity
    dead = cast<TypedAttr>(
        arith::getIdentityValueAttr(combinator(reduce.getKind(), narrow), narrow, emitter.getBuilder(), emitter.loc));
  Value tile = values.materializeMasked(reduce.getInput(), place, frame, reduced, dead);
  if (!tile)
    return {};
  if (wide != narrow) {
    emitter.at(emitter.depthOf(tile));
    tile = arith::ExtFOp::create(emitter.getBuilder(), emitter.loc, cast<RankedTensorType>(tile.getType()).clone(wide),
                                 tile);
  }
  return emitter.broadcast(tile, partialShape(which));
}

LogicalResult ReductionEmitter::emitPhase(ArrayRef<unsigned> reduces) {
  bool carries = isUnrolled || llvm::any_of(reduced, [&](unsigned loop) { return !emitter.isWhole(loop); });
  SmallVector<Value> initial;
  for (unsigned which : reduces)
    if (carries)
      initial.push_back(emitter.splat(identity(cast<graph::ReduceOp>(space.loopOps[which])), partialShape(which)));
  bool ok = true;
  auto step = [&](ValueRange carried) {
    SmallVector<Value> results;
    for (auto [i, which] : llvm::enumerate(reduces)) {
      Value tile = materializePartial(which);
      ok = ok && tile;
      if (!ok)
        return llvm::to_vector_of<Value>(carried);
      results.push_back(carries ? combine(cast<graph::ReduceOp>(space.loopOps[which]), carried[i], tile) : tile);
    }
    return results;
  };
  SmallVector<Value> partial = emitter.forEachTile(reduced, initial, [&](ValueRange carried) {
    return isUnrolled ? emitter.forEachElement(reduced, carried, step) : step(carried);
  });
  if (!ok)
    return failure();
  for (auto [which, tile] : llvm::zip_equal(reduces, partial)) {
    auto reduce = cast<graph::ReduceOp>(space.loopOps[which]);
    for (unsigned loop : llvm::reverse(reduced)) {
      auto type = cast<RankedTensorType>(tile.getType());
      if (type.getDimSize(loop) == 1)
        continue;
      SmallVector<int64_t> shape(type.getShape());
      shape[loop] = 1;
      emitter.at(emitter.depthOf(tile));
      tile = tile::ReduceOp::create(emitter.getBuilder(), emitter.loc, type.clone(shape),
                                    static_cast<tile::ReduceKind>(reduce.getKind()), tile, loop);
    }
    values.resolve(reduce.getResult(), tile);
  }
  return success();
}

/// Outputs of the rows' elements share one more loop over the row.
LogicalResult ReductionEmitter::emitOutputs() {
  SmallVector<unsigned> full, rows;
  for (auto [i, coordinates] : llvm::enumerate(space.outputs)) {
    bool varies = llvm::any_of(reduced, [&](unsigned loop) {
      return llvm::any_of(coordinates, [&](AffineExpr expr) { return dependsOn(expr, loop); });
    });
    (varies ? full : rows).push_back(i);
  }
  for (unsigned i : rows)
    if (failed(values.store(i, frame)))
      return failure();
  LogicalResult status = success();
  if (!full.empty())
    emitter.forEachTile(reduced, {}, [&](ValueRange) {
      for (unsigned i : full)
        if (succeeded(status))
          status = values.store(i, frame);
      return SmallVector<Value>();
    });
  return status;
}

LogicalResult ReductionEmitter::emit() {
  for (ArrayRef<unsigned> phase : phases())
    if (failed(emitPhase(phase)))
      return failure();
  return emitOutputs();
}

LogicalResult emitReductions(TileEmitter &emitter, tile::ScheduleAttr schedule) {
  emitter.mayLoadBeyondEnds(schedule.getUnrolled());
  return ReductionEmitter(emitter, schedule.getUnrolled()).emit();
}

} // namespace tilewright::tilegen
