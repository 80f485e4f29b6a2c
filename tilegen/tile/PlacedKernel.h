// SPDX-License-Identifier: Apache-2.0
// What must hold in a placed kernel as a whole, beyond what each operation's verifier checks.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::tile {

/// Checks that every tile has a layout, and that layouts agree with each other and with the kernel's threads and shared
/// memory. Fails with a diagnostic. Code generation relies on it.
mlir::LogicalResult verifyPlaced(KernelOp kernel);

} // namespace tilewright::tile
