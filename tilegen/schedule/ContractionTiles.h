// SPDX-License-Identifier: Apache-2.0
// Tiles of a contraction for programs that are blocks of threads.
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

#include <optional>

namespace tilewright::tilegen {

/// The part of a result that one block computes.
struct MatmulTile {
  int64_t rows, columns, warps;
  int64_t blocksOfUnit = 1; // that shared memory is divided among
};

/// The element type of the operands.
mlir::Type elementOf(const KernelSpace &space);
std::optional<int64_t> constantOf(mlir::AffineExpr size);
/// The least power of two that is not below `value`.
int64_t powerAbove(int64_t value);
/// Warps of a block whose threads have about `each` of its elements.
int64_t warpsFor(int64_t elements, int64_t each, const TargetDesc &target);
bool areSizesKnown(const KernelSpace &space);

/// Blocks that the product is cut into.
int64_t blocksOf(const KernelSpace &space, const MatmulTile &tile);
tile::ScheduleAttr makeMatmul(const KernelSpace &space, const MatmulTile &chosen, int64_t step, int64_t stages,
                              int64_t groups = 0, int64_t order = 1);
/// The same shared by `parts` programs each, which need to know how many tiles there are at most.
tile::ScheduleAttr withParts(const KernelSpace &space, tile::ScheduleAttr schedule, int64_t parts, int64_t tiles);
/// The same with tiles of so many columns.
tile::ScheduleAttr withColumns(tile::ScheduleAttr schedule, int64_t columns);

/// Contractions of the kernel, of one left side.
int64_t contractionsOf(const KernelSpace &space);
/// Is the left side windows of an image, no line, whose channels come last, as the copy engine brings them
/// (tile::pixelAccess)?
bool readsPixels(const KernelSpace &space);
/// Are singles multiplied by matrix instructions, once or three times?
bool multipliesTf32(const KernelSpace &space, const TargetDesc &target);
/// Is this operand of a contraction read as it is in memory? Then a copy engine can bring it, if memory is aligned.
bool isReadPlainly(mlir::Value operand);
/// The same of the right sides of all contractions.
bool areRightSidesReadPlainly(const KernelSpace &space);

} // namespace tilewright::tilegen
