// SPDX-License-Identifier: Apache-2.0
// Among how many programs the keys of each tile of an attention should be split (schedule's `parts`).
#pragma once

#include "tilegen/TargetDesc.h"

#include <cstdint>

namespace tilewright::tilegen {

/// The programs of a schedule without parts.
struct KeySteps {
  int64_t tiles;                 // programs
  int64_t steps;                 // of each, through the keys
  int64_t bytesOfStep;           // of the keys and values of one step
  int64_t bytesOfPart;           // what a program writes to the workspace: mostly the mix
  int64_t resident;              // programs that a multiprocessor holds at a time
  int64_t multiplicationsOfWarp; // in one step; 0 with roles, where a step takes as long as its copies
};

/// The number of programs among which to split the keys of a tile; 1 where splitting is not estimated to be clearly
/// faster, or the target's bandwidth is not known.
int64_t partsOfKeys(const KeySteps &programs, const TargetDesc &target);

} // namespace tilewright::tilegen
