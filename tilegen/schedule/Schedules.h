// SPDX-License-Identifier: Apache-2.0
// How each kind of kernel is scheduled: once for programs that are one thread with vector registers (the host), once
// for programs that are blocks of threads (GPUs). The table of roots says which kernel takes which.
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

namespace vectors {
tile::ScheduleAttr schedulePointwise(const KernelSpace &space, const TargetDesc &target);
tile::ScheduleAttr scheduleReductions(const KernelSpace &space, const TargetDesc &target);
tile::ScheduleAttr scheduleContraction(const KernelSpace &space, const TargetDesc &target);
tile::ScheduleAttr scheduleAttention(const KernelSpace &space, const TargetDesc &target);
} // namespace vectors

namespace blocks {
tile::ScheduleAttr schedulePointwise(const KernelSpace &space, const TargetDesc &target);
tile::ScheduleAttr scheduleReductions(const KernelSpace &space, const TargetDesc &target);
tile::ScheduleAttr scheduleContraction(const KernelSpace &space, const TargetDesc &target);
tile::ScheduleAttr scheduleAttention(const KernelSpace &space, const TargetDesc &target);

/// Elements of a row that one block holds in registers, with 512 threads.
inline constexpr int64_t longestRow = 16384;

/// Tile sizes of all parallel loops, in their order, whose product is at most `elements`. Inner loops get theirs first.
llvm::SmallVector<int64_t> tileParallelLoops(const KernelSpace &space, int64_t elements);
/// How many results there are. Unknown sizes count as 1, because it matters where they are small.
int64_t resultsOf(const KernelSpace &space);

/// Seconds that a contraction is estimated to take with `schedule`, for the sizes that are known or assumed. nullopt if
/// others are not known, or where the estimate does not hold.
std::optional<double> estimateContraction(const KernelSpace &space, tile::ScheduleAttr schedule,
                                          const TargetDesc &target);
} // namespace blocks

} // namespace tilewright::tilegen
