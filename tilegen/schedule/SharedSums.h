// SPDX-License-Identifier: Apache-2.0
// Whether several blocks should share the sums of each tile of a contraction (schedule's `parts`).
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

/// A schedule of a contraction for blocks, and the share of the target's peak rate that its tiles reach at best (0 to
/// 1).
struct ContractionSchedule {
  tile::ScheduleAttr schedule;
  double efficiency = 0;
};

/// The estimated time of a contraction, in seconds, for the sizes that are known or assumed. nullopt where others are
/// not known, or the target's rates are not.
std::optional<double> estimateSeconds(const KernelSpace &space, const TargetDesc &target,
                                      const ContractionSchedule &candidate);

/// `chosen`, or one of `others` with parts added, where that is estimated to be clearly faster. A gemv may also give
/// way to one of `others` without parts, and a tile without roles to one with them. The schedules that are passed have
/// no parts.
tile::ScheduleAttr shareSums(const KernelSpace &space, const TargetDesc &target, const ContractionSchedule &chosen,
                             llvm::ArrayRef<ContractionSchedule> others);

} // namespace tilewright::tilegen
