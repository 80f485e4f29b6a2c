// SPDX-License-Identifier: Apache-2.0
// Moves reshapes at the border of a group out of it.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// Moves reshapes of a group's inputs and outputs out of the group. Between kernels a reshape is free, a view of the
/// same memory, and kernels that differ only in such reshapes become equal.
void releaseViews(GroupGraph &graph);

} // namespace tilewright::fusion
