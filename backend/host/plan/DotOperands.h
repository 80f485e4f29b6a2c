// Which operands of a tile.dot are read from where they are, and which are copied to the workspace first.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

/// Bytes along k that one instruction multiplies and sums.
inline constexpr int64_t quad = 4;

/// Whether the buffer is a constant stored in panels.
bool isPacked(tile::LoadOp load);

/// Whether the right side of `dot` is a constant of bytes in panels of quads along k (tilegen/roots/Roots.h).
bool multipliesPackedBytes(tile::DotOp dot);

/// Whether the left side of a dot is a window of few elements that each program reads for one row of the image: its
/// elements are read in place, one turn of straight code for each, and the guards are the same for many of them.
bool hasFewTaps(mlir::Value lhs);

/// Whether `value`, an operand of a dot, is as cheap to read from where it is as from the workspace. `rows`: rows of
/// the result; `registerRows`: of those computed together.
bool isDirectOperand(mlir::Value value, bool isLhs, int64_t rows, unsigned registerRows);

/// Whether every dot below `op` has direct operands.
bool hasDirectOperands(mlir::Operation *op, unsigned registerRows);

} // namespace tilewright::host
