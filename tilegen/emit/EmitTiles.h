// SPDX-License-Identifier: Apache-2.0
// Stage "tile": every graph.kernel becomes a tile.kernel of the same name.
#pragma once

#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Needs a schedule on every kernel. The text made depends on the schedule alone, not on the target.
mlir::LogicalResult emitTiles(mlir::ModuleOp module, const TargetDesc &target);

} // namespace tilewright
