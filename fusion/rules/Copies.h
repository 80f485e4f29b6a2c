// SPDX-License-Identifier: Apache-2.0
// Whether an epilogue would store a value twice: as it is, and permuted.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// True if the edge leads to an access and other operations read the value too. It is better to carry the access to its
/// readers than to store a permuted copy.
bool storesACopy(const Edge &edge);

} // namespace tilewright::fusion
