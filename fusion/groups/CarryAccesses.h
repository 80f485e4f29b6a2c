// What only renames or widens elements goes to its readers before the rules look at anything else.
#pragma once

#include "fusion/groups/FormGroups.h"
#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

enum class Carry {
  Free,       // broadcasts, slices, pads, windows, reshapes, iotas, widening casts: nobody wants them in memory
  Transposes, // those too that no producer stores permuted
};

/// Puts each such operation into the group of its reader, a copy for each if several read it. Reading through it is
/// free; its result in memory would be bytes written for nothing.
void carryAccesses(GroupGraph &graph, FusionMode mode, Carry what);

} // namespace tilewright::fusion
