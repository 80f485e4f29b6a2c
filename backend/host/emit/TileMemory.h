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
  llvm::SmallVector<Ix> origin = {}; // by axis: the coordinates of its first element, if it is a part of a tile
};

class TileMemory {
public:
  explicit TileMemory(KernelFunction &function) : function(function), ir(function.ir), math(function.math) {}

  TileInMemory inWorkspace(const Buffer &buffer);
  /// Stores a register tile on the stack, so that its rows can be read one by one. Its first element is at `column`,
  /// `row`.
  TileInMemory onStack(const Rows &registers, Ix column, Ix row, unsigned width);

  Rows load(const TileInMemory &tile, mlir::Value value, const Position &position);
  void store(const TileInMemory &tile, const Rows &rows, const Position &position);
  /// The address of the first element of row number `row` at `position`.
  llvm::Value *address(const TileInMemory &tile, const Position &position, unsigned row, llvm::Type *element);

private:
  KernelFunction &function;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
