// SPDX-License-Identifier: Apache-2.0
// Merges pointwise groups that read the same value: the parts of a split, a scaled query and a scaled key.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// Merges groups that read the same value and have outputs of the same sizes, so that the value is read once. Only if
/// no path leads from one to the other.
void joinSiblings(GroupGraph &graph, FusionMode mode);

} // namespace tilewright::fusion
