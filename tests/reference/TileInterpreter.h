// SPDX-License-Identifier: Apache-2.0
// Tile kernels executed program by program, in doubles. Deliberately independent of the graph interpreter, with which
// tests compare it.
//
// Undefined elements of a tile (outside of the bounds of a load without fill) are NaN, so that a test notices if a
// program lets them reach its results.
#pragma once

#include "tests/reference/Dense.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tests {

/// Runs every program of the grid. `buffers` are those of the inputs, then of the outputs; `symbols` are the kernel's
/// own. False if a load or store is out of bounds, a check fails, or an element is stored twice; `error` says which.
bool interpretTile(tile::KernelOp kernel, std::vector<Dense> &buffers, llvm::ArrayRef<int64_t> symbols,
                   std::string &error);

} // namespace tilewright::tests
