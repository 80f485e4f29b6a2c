// SPDX-License-Identifier: Apache-2.0
// Lets all contractions of a kernel read one left side: accesses were copied for each reader (CarryAccesses.h), and
// equal ones that stay with their kernel, or leave it (ReleaseViews.h), would be two values.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

void shareLeftSides(GroupGraph &graph);

} // namespace tilewright::fusion
