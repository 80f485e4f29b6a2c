// SPDX-License-Identifier: Apache-2.0
// How register tiles of contractions and reductions cover the rows and columns of a nest, and the epilogue that follows
// each.
//
//   rows known:        first | whole ... whole | last                     for columns by 64
//   rows not known:    whole ... whole | halves; of large weights, a single row that is left over goes with
//                                         the last whole one
//   of an image whose size is not known (InteriorRows.h):   border rows | whole ... whole | halves | border rows
#pragma once

#include "backend/host/loops/InteriorRows.h"
#include "backend/host/loops/NestRows.h"

namespace tilewright::host {

class RegisterBlocks {
public:
  RegisterBlocks(KernelFunction &function, TileMemory &memory, TileValues &values, Addresses &addresses,
                 NestRows &nestRows, const KernelPlan &plan)
      : function(function), memory(memory), values(values), addresses(addresses), nestRows(nestRows),
        registerRows(plan.dots.registerRows), registerColumns(plan.registerColumns), usesMatrixUnit(plan.dots.matrix),
        math(function.math) {}

  /// All register tiles of a nest whose outer loops are open.
  void emit(const OpenNest &nest);

private:
  /// The columns of one register tile.
  struct Strip {
    Ix column, end;
    unsigned width;
  };
  void emitStrip(const OpenNest &nest, const Strip &strip);
  void emitKnownRows(const OpenNest &nest, const Strip &strip, int64_t rows, int64_t count);
  void emitImageRows(const OpenNest &nest, const Strip &strip, const InteriorRows &interior, int64_t count);
  void emitRowRange(const OpenNest &nest, const Strip &strip, Ix from, Ix to, int64_t count);
  void emitRest(const OpenNest &nest, const Strip &strip, Ix from, Ix to, int64_t count);
  bool takesOneMore(const OpenNest &nest, const Strip &strip, int64_t count) const;
  void emitWhole(const OpenNest &nest, const Strip &strip, Ix row, int64_t count);
  void emitRagged(const OpenNest &nest, const Strip &strip, Ix row, int64_t count, Ix end);
  void emitTile(const OpenNest &nest, const Strip &strip, llvm::ArrayRef<Ix> rows, Ix rowEnd);

  KernelFunction &function;
  TileMemory &memory;
  TileValues &values;
  Addresses &addresses;
  NestRows &nestRows;
  unsigned registerRows, registerColumns;
  bool usesMatrixUnit;
  IndexMath &math;
};

} // namespace tilewright::host
