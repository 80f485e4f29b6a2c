// SPDX-License-Identifier: Apache-2.0
// Removes the rounding to a half type from operands of tile.dot that were computed in f32.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

/// Rewrites dot(truncf(x), y) of halves to dot(x, extf(y)), and the same with the sides exchanged. The host multiplies
/// in f32 anyway, so it would round x and then widen it again.
void keepPrecision(tile::KernelOp kernel);

} // namespace tilewright::host
