// SPDX-License-Identifier: Apache-2.0
// Makes one loop of perfectly nested loops around a tile.dot: one software pipeline then covers all their steps.
//
//   for %i = 0 to 3 { for %j = 0 to 64 step 32 { body(%i, %j) } }   ->   for %t = 0 to 6 { body(%t / 2, %t % 2 * 32) }
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/Place.h"

using namespace mlir;
using namespace tilewright::tile;

/// The loop directly inside `outer` if besides it there is only index arithmetic, and both carry the same tiles.
static scf::ForOp perfectlyNested(scf::ForOp outer) {
  scf::ForOp inner;
  for (Operation &op : outer.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (inner)
        return {};
      inner = loop;
    } else if (!isMemoryEffectFree(&op) || llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>)) {
      return {};
    }
  }
  if (!inner || inner.getInitArgs() != outer.getRegionIterArgs() ||
      outer.getBody()->getTerminator()->getOperands() != inner.getResults())
    return {};
  for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!outer.isDefinedOutsideOfLoop(bound))
      return {};
  return inner;
}

static Value position(OpBuilder &b, scf::ForOp loop, Value trip) {
  Value scaled = arith::MulIOp::create(b, loop.getLoc(), trip, loop.getStep());
  return arith::AddIOp::create(b, loop.getLoc(), loop.getLowerBound(), scaled);
}

static scf::ForOp flatten(scf::ForOp outer, scf::ForOp inner) {
  OpBuilder b(outer);
  Location loc = outer.getLoc();
  Value innerTrips = tripCount(b, inner), outerTrips = tripCount(b, outer);
  // In front of all loops, where a loop around this one can be flattened as well.
  OpBuilder first = OpBuilder::atBlockBegin(&outer->getParentOfType<KernelOp>().getBody().front());
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(first, loc, value); };
  Value zero = constant(0), one = constant(1);
  auto outerNumber = getConstantIntValue(outerTrips), innerNumber = getConstantIntValue(innerTrips);
  Value trips = outerNumber && innerNumber ? constant(*outerNumber * *innerNumber)
                                           : arith::MulIOp::create(b, loc, outerTrips, innerTrips).getResult();
  auto flat = scf::ForOp::create(b, loc, zero, trips, one, outer.getInitArgs());
  b.setInsertionPointToStart(flat.getBody());
  IRMapping mapping;
  mapping.map(outer.getInductionVar(),
              position(b, outer, arith::DivUIOp::create(b, loc, flat.getInductionVar(), innerTrips)));
  mapping.map(inner.getInductionVar(),
              position(b, inner, arith::RemUIOp::create(b, loc, flat.getInductionVar(), innerTrips)));
  mapping.map(outer.getRegionIterArgs(), flat.getRegionIterArgs());
  mapping.map(inner.getRegionIterArgs(), flat.getRegionIterArgs());
  if (!flat.getRegionIterArgs().empty())
    b.setInsertionPointToEnd(flat.getBody());
  for (Operation &op : outer.getBody()->without_terminator())
    if (&op != inner)
      b.clone(op, mapping);
  for (Operation &op : *inner.getBody())
    if (!isa<scf::YieldOp>(op) || flat.getNumResults())
      b.clone(op, mapping);
  outer.replaceAllUsesWith(flat.getResults());
  outer.erase();
  return flat;
}

void tilewright::tile::flattenLoops(KernelOp kernel) {
  bool changed = true;
  while (changed) {
    changed = false;
    kernel.walk([&](scf::ForOp outer) {
      scf::ForOp inner = perfectlyNested(outer);
      if (!inner || inner.getBody()->getOps<DotOp>().empty())
        return WalkResult::advance();
      flatten(outer, inner);
      changed = true;
      return WalkResult::interrupt();
    });
  }
}
