// SPDX-License-Identifier: Apache-2.0
// Which operands of a tile.dot are read where they lie in memory, and which are copied to the workspace first.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

/// Bytes along k that one instruction multiplies and sums.
inline constexpr int64_t quad = 4;

/// What one instruction of the matrix unit multiplies: AMX, the only one there is.
struct MatrixTile {
  int64_t rows, columns, k;
};
inline constexpr MatrixTile matrixTile{16, 16, 64};

/// Whether the buffer is a constant stored in panels.
bool isPacked(tile::LoadOp load);

/// Whether the right side of `dot` is a constant of bytes in panels of quads along k (tilegen/roots/Roots.h).
bool multipliesPackedBytes(tile::DotOp dot);

/// Columns of a panel of `load`, a packed right side of a dot.
int64_t panelColumns(tile::LoadOp load);

/// The size in bytes of the right side of `dot`, if it is a constant in panels and its sizes are known; else 0.
int64_t bytesOfPanels(tile::DotOp dot);

/// Whether the matrix unit can compute `dot`: the right side is a constant of bytes in panels of quads, and the size of
/// k is known and a multiple of matrixTile.k.
bool multipliesOnMatrixUnit(tile::DotOp dot);

/// The length n of runs of a row: the n neighbours from each multiple of n on are contiguous in memory, and all inside
/// of the buffer or all outside of it. An example are the channels of an image that has channels last. 0 if there are
/// no such runs.
int64_t guardedTogether(tile::LoadOp load);

/// Whether `load` is read by dots only, is 0 outside of its buffer, and has runs (guardedTogether) of 8 or more
/// elements. Then dots do not test each element: for each run they choose whether to read the buffer or zeros.
bool isWindowOfRuns(tile::LoadOp load);

/// What the schedule says of the kernel's dots.
struct DotSchedule {
  unsigned registerRows = 0; // rows of the result that are computed together
  bool readsInPlace = false; // left sides that may leave their buffer are not copied
  bool matrix = false;       // computed by the matrix unit
};

/// Whether `value`, an operand of a dot with `rows` rows of results, is read where it lies in memory or computed in
/// registers. Otherwise it is copied to the workspace.
bool isDirectOperand(mlir::Value value, bool isLhs, int64_t rows, const DotSchedule &schedule);

/// Whether every dot below `op` has direct operands.
bool hasDirectOperands(mlir::Operation *op, const DotSchedule &schedule);

} // namespace tilewright::host
