// SPDX-License-Identifier: Apache-2.0
// What holds in a placed kernel beyond each operation.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::tile {

/// Checks that every tile has a layout, and that layouts agree with each other and with the kernel's threads and shared
/// memory. Code generation relies on it.
mlir::LogicalResult verifyPlaced(KernelOp kernel);

} // namespace tilewright::tile
