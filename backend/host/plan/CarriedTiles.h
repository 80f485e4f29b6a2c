// SPDX-License-Identifier: Apache-2.0
// Tiles that a loop carries from one iteration to the next.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::host {

/// Whether every element that `loop` yields depends on carried elements of the same position only, so that the loop can
/// run for one register tile alone.
bool isPositionwise(mlir::scf::ForOp loop);

/// Whether carried tile `i` is read by nothing but its own next value, at the same position: it can be updated in
/// place.
bool updatesInPlace(mlir::scf::ForOp loop, unsigned i);

/// Each iteration combines an element with carried tile `i`. Returns the load that this element is read from, if an
/// element that is the load's fill leaves the tile unchanged, as 0 does in a sum and minus infinity in a maximum. Else
/// null.
tile::LoadOp loadOfIteration(mlir::scf::ForOp loop, unsigned i);

/// Whether a loop is unrolled: it has a small constant number of iterations, few operations, and no loop inside.
bool isUnrolled(mlir::scf::ForOp loop);

/// The carried tiles that result `result` needs at its own position: those that its yielded value reads, those that
/// their yielded values read, and so on.
llvm::SmallVector<unsigned> carriedTilesOf(mlir::scf::ForOp loop, unsigned result);

} // namespace tilewright::host
