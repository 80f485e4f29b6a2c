// SPDX-License-Identifier: Apache-2.0
// Tiles narrowed to the share that one block of a cluster has of them: what stands behind a loop around products, and
// whole kernels that reduce rows.
#pragma once

#include "tilegen/place/Place.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace tilewright::tile {

struct PartOfTile {
  mlir::Value tile, part; // their numbers
};
/// Takes tile and part from the program's number, and multiplies the grid, which has one dimension, by the number of
/// parts. The part is program mod parts, the tile program / parts: only `parts` is divided by, which is a constant, and
/// not the number of tiles.
PartOfTile numberParts(KernelOp kernel, int64_t parts);

/// Does `op` load, compute element by element, or store, so that it can do so for a share of its tile?
bool worksOnShares(mlir::Operation *op);
/// Can the results of `op` be cut along `dim` into `parts` shares? Tiles of size 1 there need no cut. All tiles of a
/// kernel have one rank.
bool canCutResults(mlir::Operation *op, unsigned dim, int64_t parts);
/// What is in the way where they cannot.
inline constexpr const char *sharesAreElsewhere = "a share of its tile is not in the same registers of all threads";

/// Narrows operations, of which both hold, to the share number `part` along `dim`.
class Narrower {
public:
  Narrower(unsigned dim, mlir::Value part, int64_t parts) : dim_(dim), part_(part), parts_(parts) {}
  /// Stores before what they store, since a store's offset depends on the size of the whole tile.
  void narrow(llvm::ArrayRef<mlir::Operation *> ops);
  mlir::Type narrowed(mlir::Type type) const;

private:
  void narrow(mlir::Operation *op);
  void narrowConstants(mlir::Operation *op);
  mlir::Value shifted(mlir::OpBuilder &b, mlir::Location loc, mlir::Value offset, int64_t sizeOfTile);

  unsigned dim_;
  mlir::Value part_;
  int64_t parts_;
};

/// The dimension along which the results of `loop`, and every tile behind it, can be cut into `parts` shares. nullopt
/// if there is none, and `why` says what is in the way.
std::optional<unsigned> findShareDim(mlir::scf::ForOp loop, int64_t parts, std::string &why);

/// Puts a tile.part_sum behind the loop, in the block that is number `part` of its cluster, and narrows everything
/// behind it to that block's share along `dim`.
void finishShares(mlir::scf::ForOp loop, unsigned dim, mlir::Value part, int64_t parts);

} // namespace tilewright::tile
