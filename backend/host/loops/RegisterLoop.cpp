// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/RegisterLoop.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/CarriedTiles.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tilewright::host {

struct RegisterLoop::Carried {
  scf::ForOp op;
  SmallVector<unsigned> tiles;                               // numbers of tiles, the wanted one first
  std::map<unsigned, SmallVector<llvm::Value *>> slots = {}; // of each, by row
};

void RegisterLoop::start(scf::ForOp op, const Position &position, Carried &carried) {
  for (unsigned i : carried.tiles)
    for (llvm::Value *value : values.tileOf(op.getInitArgs()[i], position)) {
      carried.slots[i].push_back(function.slot(value->getType()));
      ir.CreateStore(value, carried.slots[i].back());
    }
}

Rows RegisterLoop::read(const Carried &carried, unsigned i, const Position &position) {
  Rows rows;
  llvm::Type *vector = vectorOf(function.typeOf(scf::ForOp(carried.op).getResult(i)), position.width);
  for (llvm::Value *place : carried.slots.at(i))
    rows.push_back(ir.CreateLoad(vector, place));
  return rows;
}

/// Emits one iteration. It is skipped when running where everything that it would combine is the fill of a load that
/// leaves the sums as they are (loadOfIteration).
void RegisterLoop::iterate(scf::ForOp op, const Position &position, const Carried &carried, Ix iv) {
  function.setIndex(op.getInductionVar(), iv);
  tile::LoadOp load = carried.tiles.size() == 1 ? loadOfIteration(op, carried.tiles.front()) : nullptr;
  auto guards = load ? addresses.commonGuards(load, position, op) : SmallVector<llvm::Value *>();
  addresses.whereInside(guards, [&] {
    for (unsigned i : carried.tiles)
      values.remember(op.getRegionIterArg(i), position, read(carried, i, position));
    std::map<unsigned, Rows> next;
    for (unsigned i : carried.tiles)
      next[i] = values.tileOf(op.getBody()->getTerminator()->getOperand(i), position);
    for (unsigned i : carried.tiles)
      for (auto [value, place] : llvm::zip_equal(next[i], carried.slots.at(i)))
        ir.CreateStore(value, place);
  });
}

Rows RegisterLoop::emit(scf::ForOp op, unsigned result, const Position &position) {
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  if (!step) {
    function.fail(op, "expected a constant step");
    return values.tileOf(op.getInitArgs()[result], position);
  }
  Carried carried{op, carriedTilesOf(op, result)};
  start(op, position, carried);
  if (isUnrolled(op))
    for (int64_t iv = *getConstantIntValue(op.getLowerBound()), end = *getConstantIntValue(op.getUpperBound());
         iv < end; iv += *step)
      math.once([&] { iterate(op, position, carried, math.constant(iv)); });
  else
    math.loop(function.index(op.getLowerBound()), function.index(op.getUpperBound()), *step,
              [&](Ix iv) { iterate(op, position, carried, iv); });
  for (unsigned i : carried.tiles)
    if (i != result)
      values.remember(op.getResult(i), position, read(carried, i, position));
  return read(carried, result, position);
}

} // namespace tilewright::host
