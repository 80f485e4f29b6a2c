// SPDX-License-Identifier: Apache-2.0
// Loads, stores and index checks of global memory: whole vectors, masks, gathers and scatters.
#pragma once

#include "backend/host/emit/Addresses.h"
#include "backend/host/emit/TileValues.h"

namespace tilewright::host {

class Memory {
public:
  Memory(KernelFunction &function, Addresses &addresses, TileValues &values)
      : function(function), addresses(addresses), values(values), ir(function.ir), math(function.math) {}

  Rows load(tile::LoadOp op, const Position &position);
  void store(tile::StoreOp op, const Position &position, const Rows &rows);
  /// The indices, clamped to [0, size). A live index outside of it sets the error word, unless a fault has set it
  /// before.
  Rows check(tile::CheckOp op, const Position &position);
  /// The address of lane 0 of row number `row`; `outside` if that element is outside of its bounds or its buffer (by
  /// default memory that can always be read). `panel`: columns are padded to a multiple of this; 0: they are not.
  llvm::Value *addressOf(tile::LoadOp op, const Position &position, unsigned row, int64_t panel) {
    return addressOf(op, position, row, panel, function.readable());
  }
  llvm::Value *addressOf(tile::LoadOp op, const Position &position, unsigned row, int64_t panel, llvm::Value *outside);
  /// Prefetches the cache line `distance` bytes behind `place` into the second-level cache. The address need not be
  /// mapped.
  void prefetch(llvm::Value *place, Ix distance);

private:
  llvm::Value *fillOf(tile::LoadOp op);
  llvm::Value *loadRow(const Access &access, llvm::Type *element, llvm::Value *fill, unsigned width);
  llvm::Value *loadUniform(const Access &access, llvm::Type *memory, llvm::Value *fill, unsigned width);
  llvm::Value *gather(llvm::Value *base, llvm::Value *offsets, llvm::Value *mask, llvm::Type *memory,
                      llvm::Value *fills);
  void storeRow(const Access &target, llvm::Value *value, unsigned width);

  KernelFunction &function;
  Addresses &addresses;
  TileValues &values;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
