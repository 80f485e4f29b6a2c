// SPDX-License-Identifier: Apache-2.0
// Schedules of contractions for blocks with roles: warps that start the copy engine's copies, and one or two groups of
// warps that multiply (docs/decisions/gpu-products.md).
#pragma once

#include "tilegen/schedule/ContractionTiles.h"

namespace tilewright::tilegen {

/// Bytes along k of a step where warps issue an instruction together: 64 halves.
inline constexpr int64_t bytesOfWarpgroups = 128;

/// The schedule with roles whose tile is estimated to be the fastest. Blocks take `steps` steps of `step` elements for
/// each tile. Null where there would be blocks for less than half of the units.
tile::ScheduleAttr scheduleRoles(const KernelSpace &space, int64_t step, int64_t steps, const TargetDesc &target);

/// Is `roles`, a schedule that takes half a row of pixels in each of its `steps`, faster than warps without roles that
/// gather windows into the tile `gathering`, `stepsOfGathering` times 128 bytes along k?
bool areHalfRowsFaster(const KernelSpace &space, tile::ScheduleAttr roles, int64_t steps, const MatmulTile &gathering,
                       int64_t stepsOfGathering, const TargetDesc &target);

/// A schedule, whose sums programs may share, for each tile of the table whose epilogue has registers. Tiles of unusual
/// widths are for pixels alone: for products, shared sums of 160 columns took 1.1 to 1.2 times as long as the best.
llvm::SmallVector<tile::ScheduleAttr> allRoleSchedules(const KernelSpace &space, int64_t step, int64_t steps,
                                                       const TargetDesc &target);

/// The same schedule in the order in which neighbouring programs (RoleOptions) read the fewest rows and columns of the
/// operands, or a round of blocks where the right side does not stay in the cache. Without roles, as it is. For 99
/// products and convolutions, before there were orders of rounds, it took 1.007 times as long as the best of up to
/// eleven orders, groups of eight rows in any case 1.024 (docs/performance/gpu-products.md, "Which tiles are
/// neighbours", "Fewer instructions a step").
tile::ScheduleAttr inOrder(const KernelSpace &space, tile::ScheduleAttr schedule, const TargetDesc &target);

/// The same schedule with a first strip of half of the columns or fewer, where blocks with roles take one tile each
/// whatever the sizes are: it is stored while products of the others run. Where blocks take several tiles, several
/// strips multiply less fast than one, and planes are not stored any faster (docs/performance/gpu-products.md, "Strips
/// awaited one by one").
tile::ScheduleAttr inStrips(const KernelSpace &space, tile::ScheduleAttr schedule, const TargetDesc &target);

/// The same schedule with roles, with no more stages than leave so many bytes of shared memory. Null if fewer than
/// three are left.
tile::ScheduleAttr leaveRoom(const KernelSpace &space, tile::ScheduleAttr roles, int64_t bytes,
                             const TargetDesc &target);

/// The rate of the matrix units that a schedule with roles reaches, relative to that of the best tile. nullopt without
/// roles.
std::optional<double> efficiencyOfRoles(const KernelSpace &space, tile::ScheduleAttr schedule);

} // namespace tilewright::tilegen
