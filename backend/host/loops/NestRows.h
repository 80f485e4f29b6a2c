// SPDX-License-Identifier: Apache-2.0
// All stores and buffered values of one row of a nest, column by column.
//
// A nest whose row is reduced by the next one is emitted with that, so that the row is not read again:
//
//   e = exp(x - max) -> buffer, sum = reduce e     for column { buffer[column] = e = exp(x - max), sum += e }
#pragma once

#include "backend/host/emit/Memory.h"
#include "backend/host/loops/Columns.h"
#include "backend/host/loops/OpenNest.h"
#include "backend/host/loops/Reduction.h"

namespace tilewright::host {

class NestRows {
public:
  NestRows(KernelFunction &function, TileMemory &tileMemory, TileValues &values, Memory &memory, Columns &columns,
           Reduction &reduction)
      : function(function), tileMemory(tileMemory), values(values), memory(memory), columns(columns),
        reduction(reduction), math(function.math) {}

  /// Emits the row of nests that share it.
  void emit(llvm::ArrayRef<OpenNest> nests);

  /// Emits columns [from, to) of the row at `position`. If `strip` is not 0, widths of vectors divide it.
  void emit(const OpenNest &nest, Position position, Ix from, Ix to, unsigned strip = 0);

private:
  Ix prepareRow(const OpenNest &nest, Position &position, Ix to);
  void emitAt(const OpenNest &nest, const Position &position);
  unsigned widestVector(const OpenNest &nest) const;
  int64_t shortRun(const OpenNest &nest, Ix to) const;
  bool isReducedBy(const OpenNest &nest, const OpenNest &next) const;

  KernelFunction &function;
  TileMemory &tileMemory;
  TileValues &values;
  Memory &memory;
  Columns &columns;
  Reduction &reduction;
  IndexMath &math;
};

} // namespace tilewright::host
