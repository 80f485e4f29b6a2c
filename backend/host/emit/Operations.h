// SPDX-License-Identifier: Apache-2.0
// Operations of which one element needs one element of each operand: arithmetic, constants, broadcasts, coordinates.
#pragma once

#include "backend/host/emit/TileValues.h"

namespace tilewright::host {

class Operations {
public:
  Operations(KernelFunction &function, TileValues &values)
      : function(function), values(values), ir(function.ir), math(function.math) {}

  Rows elementwise(mlir::Operation *op, const Position &position);
  Rows broadcast(tile::BroadcastOp op, const Position &position);
  Rows coordinate(tile::CoordinateOp op, const Position &position);
  /// A value to emit in place of one that cannot be computed, after KernelFunction::fail.
  Rows poison(mlir::Value value, const Position &position);

private:
  KernelFunction &function;
  TileValues &values;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
