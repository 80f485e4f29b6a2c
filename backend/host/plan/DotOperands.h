// SPDX-License-Identifier: Apache-2.0
// Which operands of a tile.dot are read from where they are, and which are copied to the workspace first.
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

/// Columns of a panel of `load`, the right side of a dot, which is packed.
int64_t panelColumns(tile::LoadOp load);

/// The size of the right side of `dot`, if it is a constant stored in panels, of known sizes; else 0.
int64_t bytesOfPanels(tile::DotOp dot);

/// Whether the matrix unit takes `dot`: bytes, packed to the right, of a known and even depth.
bool multipliesOnMatrixUnit(tile::DotOp dot);

/// Neighbours in a row that lie together, and are inside of the buffer or outside of it together: so many from each
/// multiple of that number on. 0 if there are none. An image's channels, channels last, for instance.
int64_t guardedTogether(tile::LoadOp load);

/// Whether only dots read `load`, a window with zeros outside whose elements are inside or outside by runs of 8 or more
/// neighbours: instead of testing each element, dots choose for each run where to read it.
bool isWindowOfRuns(tile::LoadOp load);

/// What the schedule says of the kernel's dots.
struct DotSchedule {
  unsigned registerRows = 0; // rows of the result that are computed together
  bool readsInPlace = false; // left sides that may leave their buffer are read from where they are
  bool matrix = false;       // by the matrix unit
};

/// Whether `value`, an operand of a dot, is read from where it is; otherwise it is copied to the workspace. `rows`:
/// rows of the result.
bool isDirectOperand(mlir::Value value, bool isLhs, int64_t rows, const DotSchedule &schedule);

/// Whether every dot below `op` has direct operands.
bool hasDirectOperands(mlir::Operation *op, const DotSchedule &schedule);

} // namespace tilewright::host
