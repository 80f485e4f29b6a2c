// SPDX-License-Identifier: Apache-2.0
// What iterations of a loop pass on to the next: tiles that are carried from one to the next.
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

/// The load from which each iteration takes the element that it combines with carried tile `i`, if an element that is
/// the load's fill leaves the tile as it is: a sum of products of zeros, a maximum with minus infinity. Null if there
/// is no such load.
tile::LoadOp loadOfIteration(mlir::scf::ForOp loop, unsigned i);

/// Whether the iterations of a loop become straight code: few, without a loop inside, and as many for every size.
bool isUnrolled(mlir::scf::ForOp loop);

/// The carried tiles that result `result` needs at its own position: those that its yielded value reads, and so on.
llvm::SmallVector<unsigned> carriedTilesOf(mlir::scf::ForOp loop, unsigned result);

} // namespace tilewright::host
