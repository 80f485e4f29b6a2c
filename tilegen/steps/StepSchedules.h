// SPDX-License-Identifier: Apache-2.0
// Schedules of programs that run all steps of a loop.
#pragma once

#include "tilegen/schedule/SizeVariants.h"

#include <string>
#include <vector>

namespace tilewright::tilegen {

/// The most elements that the right sides of all gates may have for a cluster to hold them in its registers.
inline constexpr int64_t mostStepWeights = int64_t(8) * 256 * 128;

/// The most recurrent weights, of both, that two directions may have to take their steps together. On a core those of
/// one step should still be in the second-level cache in the next one: a recurrence of four gates, 256 wide, takes
/// 0.85 of the time in two loops on a Xeon with 2 MiB, one of 320 0.71, and one of 128 1.03
/// (docs/performance/recurrences.md, "One direction after the other").
int64_t mostWeightsTogether(const std::vector<std::string> &targets);

/// Whether all of these targets run the steps of a small recurrence in one kernel.
bool runSteps(const std::vector<std::string> &targets);

/// How many neighbouring programs compute together a state of which each reads all: those that differ in columns alone.
/// nullopt if the number of columns is not known.
std::optional<int64_t> blocksOfStates(const KernelSpace &space, tile::ScheduleAttr schedule);

/// The schedules of a contraction whose steps are a loop of the program. Each thread keeps its part of the right sides
/// in registers, and the programs of a state are one cluster. Where the number of rows is not known, a state is one
/// program's, and there are schedules for several ranges of it. nullopt if the target has no clusters, if the right
/// sides are too large for one, or if there are so many rows that a kernel for each step is faster.
std::optional<SizeVariants> scheduleSteps(const KernelSpace &space, const TargetDesc &target);

} // namespace tilewright::tilegen
