// SPDX-License-Identifier: Apache-2.0
// Schedules for blocks of contractions whose rows are so few that reading the right side is what takes the time.
#pragma once

#include "tilegen/schedule/ContractionTiles.h"

namespace tilewright::tilegen {

/// A gemv, whose sums all threads of a block share, for contractions with too few results to give every unit a tile of
/// a matrix instruction: a vector times a matrix, and, without matrix instructions, small convolutions. Null for
/// others.
tile::ScheduleAttr scheduleGemv(const KernelSpace &space, const TargetDesc &target);

/// Several contractions of one left side with little work, summed by all threads of a block for a few rows at a time.
/// Null where rows are many or not known, or tiles of matrix instructions are faster.
tile::ScheduleAttr scheduleSums(const KernelSpace &space, const TargetDesc &target);

/// Three or four contractions of halves, of one left side, in small tiles of matrix instructions. Null where there
/// would be many tiles, for one or two rows, and where the columns of the right sides are not contiguous in memory.
tile::ScheduleAttr scheduleGated(const KernelSpace &space, const TargetDesc &target);

/// Products whose right side is computed from constants of fewer bytes. Null for others, and where rows are many: then
/// it costs less to compute the right side in a kernel of its own, as fusion does where the number of rows is known.
tile::ScheduleAttr scheduleComputed(const KernelSpace &space, const TargetDesc &target);

/// Halves whose right side is large beside everything else, or the two right sides of a pair: tiles that read long
/// pieces of its rows. Null for others.
tile::ScheduleAttr scheduleStreamed(const KernelSpace &space, const TargetDesc &target);

} // namespace tilewright::tilegen
