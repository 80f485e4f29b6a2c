// SPDX-License-Identifier: Apache-2.0
// Moves accesses and widening casts into the groups of their readers, before the rules are applied.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

enum class Carry {
  Free,       // accesses other than gathers and transposes, iotas and multiples of them, widening casts
  Transposes, // these, and the transposes that no producer's epilogue has taken
};

/// Puts each such operation into the group that reads it; if several do, a copy into each. Reading through an access is
/// free, while storing its result would cost memory traffic.
void carryAccesses(GroupGraph &graph, FusionMode mode, Carry what);

} // namespace tilewright::fusion
