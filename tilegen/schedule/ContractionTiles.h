// SPDX-License-Identifier: Apache-2.0
// Tiles of a contraction for programs that are blocks of threads.
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

#include <optional>

namespace tilewright::tilegen {

/// The part of a result that one block of `warps` warps computes, in elements.
struct MatmulTile {
  int64_t rows, columns, warps;
  int64_t blocksOfUnit = 1; // how many blocks a multiprocessor's shared memory is divided among
  double ofGathering = 0;   // the rate at which it multiplies pixels that it gathers (RoleSchedules.h); 0: not known
};

/// The element type of the left side.
mlir::Type elementOf(const KernelSpace &space);
/// The value of a size; nullopt if it is not known when compiling.
std::optional<int64_t> constantOf(mlir::AffineExpr size);
/// The least power of two that is not below `value`; 1 for values below 1.
int64_t powerAbove(int64_t value);
/// Warps of a block of `elements` elements whose threads have about `each` of them.
int64_t warpsFor(int64_t elements, int64_t each, const TargetDesc &target);
/// Are the sizes of all loops constants?
bool areSizesKnown(const KernelSpace &space);

/// How many blocks a result takes, with the expected sizes of loops.
int64_t blocksOf(const KernelSpace &space, const MatmulTile &tile);
/// The schedule of a matmul with this tile, `step` elements along the innermost reduced loop, and the parameters of
/// tile.schedule of the same names (TileOps.td).
tile::ScheduleAttr makeMatmul(const KernelSpace &space, const MatmulTile &chosen, int64_t step, int64_t stages,
                              int64_t groups = 0, int64_t order = 1);
/// The same schedule with each tile shared by `parts` programs. `tiles` is the most tiles that there may be; it is
/// noted where sizes are not known.
tile::ScheduleAttr withParts(const KernelSpace &space, tile::ScheduleAttr schedule, int64_t parts, int64_t tiles,
                             bool clustered = false);
/// The same schedule with tiles of `columns` columns.
tile::ScheduleAttr withColumns(tile::ScheduleAttr schedule, int64_t columns);

/// How many contractions of one left side the kernel has.
int64_t contractionsOf(const KernelSpace &space);
/// Bytes of a row of a contraction's left side, and of its right side, of one matrix, with the expected sizes of loops.
int64_t bytesOfDepth(const KernelSpace &space);
int64_t bytesOfRightSide(const KernelSpace &space);
/// Right sides of more bytes do not stay in the second-level cache until they are read again (H200: 50 MB in two
/// halves).
inline constexpr int64_t bytesThatStay = 20 << 20;
/// The bytes of a pixel's channels that the copy engine brings at a time if the left side consists of windows of an
/// image or a volume whose channels come last (tile::pixelAccess): 128, or `bytesOfHalfRow` of halves with an odd
/// multiple of 32 channels. 0 for other left sides.
int64_t bytesOfPixels(const KernelSpace &space);
inline constexpr int64_t bytesOfHalfRow = 64;
/// Does the copy engine bring the left side so?
bool readsPixels(const KernelSpace &space);
/// Are singles multiplied by matrix instructions, once or three times?
bool multipliesTf32(const KernelSpace &space, const TargetDesc &target);
/// Is this operand of a contraction in memory, and read through nothing but reshapes, transposes, slices and
/// broadcasts? Then a copy engine can bring it, if memory is aligned.
bool isReadPlainly(mlir::Value operand);
/// Are neighbours of the left side along the sum either next to each other in memory or a multiple of 16 bytes apart?
/// Channels of planes of an odd size are not, and pass through registers.
bool isLeftAligned(const KernelSpace &space);
/// How many lines of the cache could be brought in the time of a row of 128 bytes, of the sides that vary along `loop`,
/// one of rows or columns: 1 where rows are lines, more where they do not begin at multiples of a line. Distances that
/// are not known count as lines.
int64_t linesOfRow(const KernelSpace &space, unsigned loop);
/// Are the right sides of all contractions read so?
bool areRightSidesReadPlainly(const KernelSpace &space);

} // namespace tilewright::tilegen
