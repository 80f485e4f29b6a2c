// SPDX-License-Identifier: Apache-2.0
// In which form a kernel is computed, as `bench` and `inspect` show it.
#pragma once

#include "tilegen/tile/TileOps.h"

#include <string>

namespace tilewright {

/// The root, the sizes of a tile and of a step of sums, and what the program has of its target. For a block of threads:
/// "matmul 128x192, sums by 64, 8 warps, 5 stages, copy engine" (warps of their own start its copies). On the host:
/// "matmul 96x64, sums by 75, registers 6x64, panels of 64". `kernel` is placed where its target needs that. Empty
/// without a schedule.
std::string formOf(tile::KernelOp kernel);

} // namespace tilewright
