// SPDX-License-Identifier: Apache-2.0
// All stores and buffered values of one row of a nest, column by column.
#pragma once

#include "backend/host/emit/Memory.h"
#include "backend/host/loops/Columns.h"
#include "backend/host/loops/OpenNest.h"

namespace tilewright::host {

class NestRows {
public:
  NestRows(KernelFunction &function, TileMemory &tileMemory, TileValues &values, Memory &memory, Columns &columns)
      : function(function), tileMemory(tileMemory), values(values), memory(memory), columns(columns),
        math(function.math) {}

  /// Emits columns [from, to) of the row at `position`. If `strip` is not 0, widths of vectors divide it.
  void emit(const OpenNest &nest, Position position, Ix from, Ix to, unsigned strip = 0);

private:
  Ix prepareRow(const OpenNest &nest, Position &position, Ix to);
  void emitAt(const OpenNest &nest, const Position &position);
  unsigned widestVector(const OpenNest &nest) const;
  int64_t shortRun(const OpenNest &nest, Ix to) const;

  KernelFunction &function;
  TileMemory &tileMemory;
  TileValues &values;
  Memory &memory;
  Columns &columns;
  IndexMath &math;
};

} // namespace tilewright::host
