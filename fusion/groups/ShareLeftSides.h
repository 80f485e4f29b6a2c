// SPDX-License-Identifier: Apache-2.0
// Lets all contractions of a kernel read one value as their left side. CarryAccesses.h has copied the accesses in front
// of it for each reader, so the contractions of one kernel may read equal copies.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// Sets the left side of the contractions `Geometry::more` of each group to that of its root, and erases the copies
/// that nothing reads any more.
void shareLeftSides(GroupGraph &graph);

} // namespace tilewright::fusion
