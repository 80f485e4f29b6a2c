// SPDX-License-Identifier: Apache-2.0
// tile.reduce of one register tile: a loop over the reduced axis with accumulators in registers.
//
//   along columns    vectors of accumulators, then their lanes are combined     sum[row] = across(acc16 + acc64)
//   along others     one accumulator for each element of the result
#pragma once

#include "backend/host/emit/Addresses.h"
#include "backend/host/loops/Columns.h"

namespace tilewright::host {

class Reduction {
public:
  Reduction(KernelFunction &function, TileMemory &tileMemory, TileValues &values, Addresses &addresses,
            Columns &columns)
      : function(function), tileMemory(tileMemory), values(values), addresses(addresses), columns(columns),
        ir(function.ir), math(function.math) {}

  Rows emit(tile::ReduceOp op, const Position &position);

  /// Until `tile` is null again, reductions of `value` store to it what they combine.
  void storeInput(mlir::Value value, const TileInMemory *tile) { stored = {value, tile}; }

private:
  /// One accumulator for each row, for each vector width that the loop over columns uses.
  struct Accumulators;
  void accumulate(tile::ReduceOp op, const Position &position, Accumulators &accumulators);
  void runInsideAndOut(tile::ReduceOp op, const Position &position, llvm::function_ref<void()> loop);
  void runLoop(tile::ReduceOp op, const Position &position, Accumulators &accumulators);
  Rows results(const Accumulators &accumulators, unsigned width, bool sumsLanes);

  llvm::Value *combine(tile::ReduceKind kind, llvm::Value *a, llvm::Value *b);
  llvm::Value *acrossLanes(tile::ReduceKind kind, llvm::Value *vector);

  KernelFunction &function;
  TileMemory &tileMemory;
  TileValues &values;
  Addresses &addresses;
  Columns &columns;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
  std::pair<mlir::Value, const TileInMemory *> stored = {}; // storeInput
  bool keepsNaN = true;                                     // of the reduction that is emitted: emit
};

} // namespace tilewright::host
