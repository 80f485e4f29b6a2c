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

/// An unrolled schedule of blocks of `tile` results for windows of few elements, such as those of pooling planes: in
/// loops, each load would wait for the one before. Null for other kernels.
tile::ScheduleAttr scheduleShortWindow(const KernelSpace &space, llvm::ArrayRef<int64_t> tile,
                                       const TargetDesc &target);

} // namespace tilewright::tilegen
