// SPDX-License-Identifier: Apache-2.0
// How the warps that hold a tile store it by the copy engine: piece by piece, each warp without the others.
#pragma once

#include "tilegen/tile/TileLayouts.h"

namespace tilewright::tile {

/// A piece is rows of 128 bytes of which one warp holds all elements. The bits of a register's number choose an element
/// of a piece (`within`) or a piece (`pieces`).
struct StorePieces {
  unsigned rowDim = 0;     // of the tile; its other long dimension is the one along which rows run
  int64_t rows = 0, width; // of a piece, in elements
  llvm::SmallVector<unsigned> within, pieces;

  int64_t count() const { return int64_t(1) << pieces.size(); }
  /// Where the tile's element `flat` is in its piece, as an index of elements in shared memory.
  uint32_t address(const TileShape &shape, unsigned fast, uint32_t flat) const;
};

/// None where a warp's elements do not fill rows of 128 bytes, or several warps hold the same.
std::optional<StorePieces> storePieces(mlir::RankedTensorType tile, unsigned fast);

/// Of the address of a room, because of the order of chunks in rows.
inline constexpr int64_t roomAlignment = 1024;
/// The bytes of shared memory that the rooms of a placed tile.bulk_store take.
int64_t roomBytes(BulkStoreOp store);

} // namespace tilewright::tile
