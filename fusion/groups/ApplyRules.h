// SPDX-License-Identifier: Apache-2.0
// Merges groups by the rules of fusion/rules/RuleTable.h.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/groups/FusionGroup.h"
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

/// Applies the rules of `round` in the order of the table, until none of them applies any more.
void applyRules(Round round, GroupGraph &graph, FusionOptions options);

} // namespace tilewright::fusion
