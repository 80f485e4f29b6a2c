// SPDX-License-Identifier: Apache-2.0
// How reductions along loops that are not innermost are scheduled for programs that are blocks of threads.
#pragma once

#include "tilegen/schedule/Schedules.h"

namespace tilewright::tilegen {

/// A schedule whose threads share each column, for reductions along loops of known sizes whose windows do not overlap.
/// Null for other kernels.
tile::ScheduleAttr scheduleColumns(const KernelSpace &space, const TargetDesc &target);

} // namespace tilewright::tilegen
