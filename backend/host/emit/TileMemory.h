// SPDX-License-Identifier: Apache-2.0
// Tiles in memory: buffers in the workspace, and register tiles on the stack.
#pragma once

#include "backend/host/emit/KernelFunction.h"
#include "backend/host/emit/Vectors.h"
#include "backend/host/plan/KernelPlan.h"

namespace tilewright::host {

struct TileInMemory {
  llvm::Value *base = nullptr;
  Buffer layout;
  llvm::SmallVector<Ix> origin = {}; // by axis, subtracted from coordinates: the first element of a part of a tile
};

class TileMemory {
public:
  explicit TileMemory(KernelFunction &function) : function(function), ir(function.ir), math(function.math) {}

  TileInMemory inWorkspace(const Buffer &buffer);
  /// Puts a register tile on the stack, from where its rows can be read one by one.
  TileInMemory onStack(const Rows &registers, Ix column, Ix row, unsigned width);

  Rows load(const TileInMemory &tile, mlir::Value value, const Position &position);
  void store(const TileInMemory &tile, const Rows &rows, const Position &position);
  /// Of the first element of row `row`.
  llvm::Value *address(const TileInMemory &tile, const Position &position, unsigned row, llvm::Type *element);

private:
  KernelFunction &function;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
