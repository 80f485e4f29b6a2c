// SPDX-License-Identifier: Apache-2.0
// How windows that slide over an image are scheduled for programs that are blocks of threads.
#pragma once

#include "tilegen/schedule/Schedules.h"

namespace tilewright::tilegen {

/// The reduced loop along which the windows of neighbours along `loop` overlap; nullopt if there is none.
std::optional<unsigned> windowAlong(const KernelSpace &space, unsigned loop);

/// An unrolled schedule for windows of known sizes that slide along at least one loop, but not along the innermost one,
/// such as those of depthwise convolutions and pooling with channels last. Null for other kernels.
tile::ScheduleAttr scheduleSlidingWindow(const KernelSpace &space, const TargetDesc &target);

} // namespace tilewright::tilegen
