// SPDX-License-Identifier: Apache-2.0
// Stage "tile": every graph.kernel becomes a tile.kernel of the same name.
#pragma once

#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Replaces every graph.kernel by a tile.kernel. Fails with a diagnostic where a kernel has no schedule, or one that
/// does not fit it. The text depends on the schedule alone, not on the target.
mlir::LogicalResult emitTiles(mlir::ModuleOp module, const TargetDesc &target);

} // namespace tilewright
