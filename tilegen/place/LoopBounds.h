// SPDX-License-Identifier: Apache-2.0
// How often a loop runs, and where its last step is, as index arithmetic in front of it. And how many programs a block
// takes.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::tile {

/// The number of steps; 0 for bounds that leave none.
mlir::Value tripCount(mlir::OpBuilder &b, mlir::scf::ForOp loop);

/// The last value that the induction variable takes; the lower bound if it takes none.
mlir::Value lastPosition(mlir::OpBuilder &b, mlir::scf::ForOp loop);

/// How many programs a block takes at most, by the loop over programs around `op`, which stands in a role and directly
/// in that loop; nullopt where its bounds are not constants.
std::optional<int64_t> programsOfBlock(mlir::Operation *op);

} // namespace tilewright::tile
