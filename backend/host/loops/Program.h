// SPDX-License-Identifier: Apache-2.0
// The steps of a plan, in order: nests that share rows together, and loops over memory.
//
//   nest a, nest b, nest c  ->  for row { a[row]; b[row]; c[row] }       where b and c read of a row only that row
#pragma once

#include "backend/host/loops/NestRows.h"
#include "backend/host/loops/RegisterBlocks.h"
#include "backend/host/loops/TransposedBlocks.h"

namespace tilewright::host {

class Program {
public:
  Program(KernelFunction &function, TileMemory &memory, TileValues &values, NestRows &nestRows,
          RegisterBlocks &registerBlocks, TransposedBlocks &transposedBlocks, const KernelPlan &plan)
      : function(function), memory(memory), values(values), nestRows(nestRows), registerBlocks(registerBlocks),
        transposedBlocks(transposedBlocks), plan(plan), math(function.math) {}

  void emit(const Steps &steps);

private:
  void emitAddress(const Nest &nest);
  void emitNest(const Nest &nest);
  void emitOpened(const Nest &nest);
  void emitLoop(const MemoryLoop &loop);
  void emitWaiting();
  void openLoops(llvm::MutableArrayRef<OpenNest> nests, unsigned axis);
  OpenNest open(const Nest &nest) { return openNest(nest, plan, function, memory); }

  KernelFunction &function;
  TileMemory &memory;
  TileValues &values;
  NestRows &nestRows;
  RegisterBlocks &registerBlocks;
  TransposedBlocks &transposedBlocks;
  const KernelPlan &plan;
  IndexMath &math;
  std::vector<OpenNest> waiting; // nests that are not emitted yet, because the next one may share their rows
};

} // namespace tilewright::host
