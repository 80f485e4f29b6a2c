// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/NestRows.h"

#include "backend/host/plan/AccessOrder.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

static constexpr int64_t mostRuns = 32; // runs of a row that get code of their own

/// The length of the contiguous runs by which a row is read; 0 if they are long or many. Each run gets straight code of
/// its own, in which all divisions are folded.
int64_t NestRows::shortRun(const OpenNest &nest, Ix to) const {
  int64_t columnCount = nest.plan->shape.back();
  const Nest::Root &root = nest.plan->roots.front();
  if (nest.plan->roots.size() != 1 || !root.value || root.target.panel || to != math.constant(columnCount))
    return 0;
  int64_t run = shortRunOfRow(root.value, function.vectors.masks);
  return run && columnCount % run == 0 && columnCount / run <= mostRuns ? run : 0;
}

unsigned NestRows::widestVector(const OpenNest &nest) const {
  unsigned widest = function.vectors.wide;
  for (const Nest::Root &root : nest.plan->roots)
    if (root.target.panel)
      widest = std::gcd(widest, static_cast<unsigned>(root.target.panel)); // no vector crosses a panel's edge
    else if (root.store)
      widest = widestStore(root.store, nest.plan->laneAxis, widest, function.vectors.narrow);
  return widest;
}

/// Computes the values that are equal for all columns, and adds facts about the columns to `position`. Returns the
/// column up to which these facts hold.
Ix NestRows::prepareRow(const OpenNest &nest, Position &position, Ix to) {
  Ix whole = to;
  llvm::DenseSet<Value> seen;
  for (const Nest::Root &root : nest.plan->roots) {
    Value value = root.store ? tile::StoreOp(root.store).getValue() : root.value;
    SmallVector<Position::Live> facts;
    if (root.value) { // a buffered tile is computed whole, so the loads decide how far that is possible without masks
      whole = math.min(whole, columns.liveSize(value, position.laneAxis, to, facts));
      position.live.append(facts.begin(), facts.end());
      seen.clear(); // with more facts, more values may be uniform
    }
    values.computeUniform(value, position, seen);
  }
  return whole;
}

void NestRows::emitAt(const OpenNest &nest, const Position &position) {
  for (auto [root, target] : llvm::zip_equal(nest.plan->roots, nest.targets))
    if (tile::StoreOp store = root.store)
      memory.store(store, position, values.tileOf(store.getValue(), position));
    else
      tileMemory.store(target, values.tileOf(root.value, position), position);
}

void NestRows::emit(const OpenNest &nest, Position position, Ix from, Ix to, unsigned strip) {
  SmallVector<std::pair<Value, TileInMemory>> computed; // this nest computes them, so it must not read them
  for (auto [root, target] : llvm::zip_equal(nest.plan->roots, nest.targets))
    if (const TileInMemory *tile = root.value ? values.memoryOf(root.value) : nullptr;
        tile && tile->base == target.base) {
      computed.push_back({root.value, *tile});
      values.dropMemory(root.value);
    }
  Ix whole = prepareRow(nest, position, to);
  unsigned widest = std::gcd(widestVector(nest), strip);
  if (int64_t run = whole == to ? shortRun(nest, to) : 0) {
    for (int64_t column = 0, end = nest.plan->shape.back(); column < end; column += run) {
      position.column = math.constant(column);
      position.width = llvm::PowerOf2Ceil(run);
      position.run = run;
      emitAt(nest, position);
    }
  } else {
    columns.run(from, to, math.max(whole, from), widest, position, [&](const Position &inner) { emitAt(nest, inner); });
  }
  for (auto &[value, target] : computed)
    values.setMemory(value, target);
}

/// Whether `next` reduces the whole rows that `nest` computes and stores, and does nothing else.
bool NestRows::isReducedBy(const OpenNest &nest, const OpenNest &next) const {
  const Nest &plan = *nest.plan;
  if (plan.roots.size() != 1 || next.plan->roots.size() != 1 || !plan.isBuffered || plan.roots.front().target.panel ||
      nest.position.laneAxis != 0)
    return false;
  Value reduced = next.plan->roots.front().value;
  auto reduce = reduced ? reduced.getDefiningOp<tile::ReduceOp>() : nullptr;
  Ix whole = math.constant(plan.shape.back());
  return reduce && reduce.getInput() == plan.roots.front().value && reduce.getDim() + 1 == plan.shape.size() &&
         nest.limits[0] == whole && columns.endOfKeys(reduce.getInput(), 0, whole) == whole && !shortRun(nest, whole);
}

void NestRows::emit(ArrayRef<OpenNest> nests) {
  for (; !nests.empty(); nests = nests.drop_front()) {
    const OpenNest &nest = nests.front();
    Value value = nest.plan->roots.front().value;
    if (nests.size() == 1 || !isReducedBy(nest, nests[1])) {
      emit(nest, nest.position, math.constant(0), nest.limits[0]);
      continue;
    }
    TileInMemory tile = *values.memoryOf(value);
    values.dropMemory(value);
    reduction.storeInput(value, &tile);
    emit(nests[1], nests[1].position, math.constant(0), nests[1].limits[0]);
    reduction.storeInput({}, nullptr);
    values.setMemory(value, tile);
    nests = nests.drop_front();
  }
}

} // namespace tilewright::host
