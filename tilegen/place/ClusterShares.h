// SPDX-License-Identifier: Apache-2.0
// What stands behind a loop around products, narrowed to the share of the tile that one block of a cluster finishes.
#pragma once

#include "tilegen/place/Place.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace tilewright::tile {

/// The dimension along which the results of `loop`, and every tile behind it, can be cut into `parts` shares. nullopt
/// if there is none, and `why` says what is in the way.
std::optional<unsigned> findShareDim(mlir::scf::ForOp loop, int64_t parts, std::string &why);

/// Puts a tile.part_sum behind the loop, in the block that is number `part` of its cluster, and narrows everything
/// behind it to that block's share along `dim`.
void finishShares(mlir::scf::ForOp loop, unsigned dim, mlir::Value part, int64_t parts);

} // namespace tilewright::tile
