// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/Program.h"

using namespace mlir;

namespace tilewright::host {

/// Emits the address of a nest's buffer before the loops of the waiting nests, so that it dominates them.
void Program::emitAddress(const Nest &nest) {
  if (nest.isBuffered)
    memory.inWorkspace(nest.roots.front().target);
}

void Program::emit(const Steps &steps) {
  for (auto [i, step] : llvm::enumerate(steps)) {
    auto *nest = std::get_if<Nest>(&step), *next = i + 1 < steps.size() ? std::get_if<Nest>(&steps[i + 1]) : nullptr;
    if (nest && next && nest->order == Nest::Order::Rows && !nest->isBuffered)
      emitAddress(*next);
    if (nest)
      emitNest(*nest);
    else
      emitLoop(*std::get<std::unique_ptr<MemoryLoop>>(step));
  }
  emitWaiting();
}

void Program::emitNest(const Nest &nest) {
  emitAddress(nest);
  if (nest.keptFor) {
    emitWaiting();
    math.when(function.differsFromPrevious(*nest.keptFor), [&] {
      emitOpened(nest);
      emitWaiting();
    });
  } else {
    emitOpened(nest);
  }
  if (nest.isBuffered)
    values.setMemory(nest.roots.front().value, memory.inWorkspace(nest.roots.front().target));
}

void Program::emitOpened(const Nest &nest) {
  if (nest.order == Nest::Order::Rows) {
    OpenNest opened = open(nest);
    if (!waiting.empty() && !sharesRows(waiting.back(), opened))
      emitWaiting();
    waiting.push_back(std::move(opened));
    if (waiting.back().isRegisterBlocked())
      emitWaiting();
  } else {
    emitWaiting();
    if (nest.order == Nest::Order::TransposedLoad)
      transposedBlocks.fillBuffer(open(nest));
    else
      transposedBlocks.storeByColumns(open(nest));
  }
}

/// Emits the waiting nests together, row by row, so that a row stays in the first-level cache from the first nest to
/// the last.
void Program::emitWaiting() {
  if (waiting.empty())
    return;
  std::vector<OpenNest> nests = std::move(waiting);
  waiting.clear();
  if (nests.size() == 1 && !nests.front().plan->transposedLoads.empty())
    transposedBlocks.storeFromColumns(nests.front());
  else
    openLoops(nests, nests.front().limits.size() - 1);
}

/// Emits the loops from `axis` inwards, which the nests share, and inside of them each nest's row.
void Program::openLoops(MutableArrayRef<OpenNest> nests, unsigned axis) {
  if (axis == 1 && nests.front().isRegisterBlocked())
    return registerBlocks.emit(nests.front());
  math.loop(math.constant(0), nests.front().limits[axis], 1, [&](Ix coordinate) {
    for (OpenNest &nest : nests)
      if (axis == 1)
        nest.position.rows = {coordinate};
      else
        nest.position.outerAt(axis) = coordinate;
    if (axis > 1)
      return openLoops(nests, axis - 1);
    nestRows.emit(nests);
  });
}

void Program::emitLoop(const MemoryLoop &loop) {
  scf::ForOp op = loop.op;
  emitWaiting();
  for (auto [current, next, initial] : llvm::zip_equal(loop.current, loop.next, loop.initial)) {
    memory.inWorkspace(current);
    memory.inWorkspace(next);
    emitNest(std::get<Nest>(initial));
  }
  emitWaiting();
  math.loop(function.index(op.getLowerBound()), function.index(op.getUpperBound()), loop.step, [&](Ix iv) {
    function.setIndex(op.getInductionVar(), iv);
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      values.setMemory(op.getRegionIterArg(i), memory.inWorkspace(loop.current[i]));
    emit(loop.body);
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      values.setMemory(op.getResult(i), memory.inWorkspace(loop.next[i]));
    emit(loop.update);
  });
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    values.setMemory(op.getResult(i), memory.inWorkspace(loop.current[i]));
}

} // namespace tilewright::host
