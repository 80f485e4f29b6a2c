// SPDX-License-Identifier: Apache-2.0
// Whether several blocks should share the sums of each tile of a contraction (schedule's `parts`).
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

/// A schedule of a contraction for blocks, and how much of the target's rate of multiplication its tiles reach at best.
struct ContractionSchedule {
  tile::ScheduleAttr schedule;
  double efficiency = 0;
};

/// How long a contraction of the sizes that are known or assumed is estimated to take; none where others are not known.
std::optional<double> estimateSeconds(const KernelSpace &space, const TargetDesc &target,
                                      const ContractionSchedule &candidate);

/// `chosen`, or one of `others` with parts where that is estimated to be done clearly earlier. None of them has parts.
tile::ScheduleAttr shareSums(const KernelSpace &space, const TargetDesc &target, const ContractionSchedule &chosen,
                             llvm::ArrayRef<ContractionSchedule> others);

} // namespace tilewright::tilegen
