// SPDX-License-Identifier: Apache-2.0
// Products of computed values that were rounded to a half type multiply the values as they were computed.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

/// dot(truncf(x), y) of halves becomes dot(x, extf(y)), and so on the other side: the host multiplies f32 anyway, so
/// rounding costs twice.
void keepPrecision(tile::KernelOp kernel);

} // namespace tilewright::host
