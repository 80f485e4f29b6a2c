// SPDX-License-Identifier: Apache-2.0
// Tiles whose neighbours in memory lie along a column: square blocks of them are transposed in registers, where rows
// would be gathered or scattered element by element.
//
//   registers = 16 columns of y, 16 rows long       lane = row            lane = column
//   registers = transpose(registers)             x[k, c .. c+15] -> panel[c .. c+15, k]
//   store 16 rows                                                     y[c .. c+15, r] <- buffer[r, c .. c+15]
#pragma once

#include "backend/host/emit/Memory.h"
#include "backend/host/loops/OpenNest.h"

namespace tilewright::host {

class TransposedBlocks {
public:
  TransposedBlocks(KernelFunction &function, TileMemory &tileMemory, TileValues &values, Memory &memory)
      : function(function), tileMemory(tileMemory), values(values), memory(memory), ir(function.ir),
        math(function.math), side(function.vectors.narrow) {}

  /// Fills a buffer with a load that is read by columns.
  void fillBuffer(const OpenNest &nest);
  /// Stores values that are computed from loads which are read by columns. Everything else that they need is computed
  /// for as many rows as a block has.
  void storeFromColumns(const OpenNest &nest);
  /// Stores by columns a value that is computed by rows.
  void storeByColumns(const OpenNest &nest);

private:
  void overBlocks(const OpenNest &nest, llvm::function_ref<void(Ix, Ix, const Position &)> body);
  llvm::SmallVector<Ix, 8> clampedSide(Ix first, Ix limit);
  llvm::SmallVector<Ix, 8> wholeSide(Ix first);
  bool isWhole(Ix first, Ix limit);
  void forgetPartial(Position &position, unsigned axis, Ix first, Ix limit);
  Rows blockByColumns(mlir::Value value, const Position &position, Ix column, Ix row, Ix columns);

  KernelFunction &function;
  TileMemory &tileMemory;
  TileValues &values;
  Memory &memory;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
  unsigned side; // of a block
};

} // namespace tilewright::host
