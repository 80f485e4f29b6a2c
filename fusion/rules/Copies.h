// When an epilogue would store a value twice, as it is and permuted.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// True if the edge leads to an access while others read the value too: better let the access be the map of a reader's
/// load.
bool storesACopy(const Edge &edge);

} // namespace tilewright::fusion
