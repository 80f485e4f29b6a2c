// SPDX-License-Identifier: Apache-2.0
// How often a loop runs, and where its last step is, as index arithmetic in front of it.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::tile {

/// The number of steps; 0 for bounds that leave none.
mlir::Value tripCount(mlir::OpBuilder &b, mlir::scf::ForOp loop);

/// The last value that the induction variable takes; the lower bound if it takes none.
mlir::Value lastPosition(mlir::OpBuilder &b, mlir::scf::ForOp loop);

} // namespace tilewright::tile
