// SPDX-License-Identifier: Apache-2.0
// How the warps that hold a tile store it through shared memory: piece by piece, each warp without the others.
#pragma once

#include "tilegen/tile/TileLayouts.h"

namespace tilewright::tile {

/// How a tile is cut into pieces. A piece is some rows of 128 bytes of which one warp holds all elements. Each bit of a
/// register's number either chooses an element within a piece (`within`) or a piece (`pieces`).
struct StorePieces {
  unsigned rowDim = 0;     // of the tile; its other long dimension is the one along which rows run
  int64_t rows = 0, width; // of a piece, in elements
  llvm::SmallVector<unsigned> within, pieces;

  int64_t count() const { return int64_t(1) << pieces.size(); }
  /// The elements of a piece that a thread holds.
  int64_t elements() const { return int64_t(1) << within.size(); }
  /// How many shares a piece has at most: a thread writes 16 bytes of halves at once.
  static constexpr int64_t shareElements = 8;
  int64_t mostShares() const { return std::max<int64_t>(1, elements() / shareElements); }
  /// The number of the register that holds element `number` of a thread's part of a piece.
  unsigned registerAt(int64_t piece, unsigned number) const;
  /// How many elements of a thread's part, from each multiple of that number on, are neighbours in a row: a power of
  /// two, at most `limit`.
  unsigned neighbours(const Layout &layout, const TileShape &shape, unsigned fast, int64_t limit) const;
  /// Where the tile's element `flat` is in its piece, as an index of elements in shared memory.
  uint32_t address(const TileShape &shape, unsigned fast, uint32_t flat) const;
};

/// The pieces of a placed tile whose rows run along dimension `fast`. nullopt where a warp's elements do not fill rows
/// of 128 bytes, or several threads hold the same element.
std::optional<StorePieces> storePieces(mlir::RankedTensorType tile, unsigned fast);

/// Does the copy engine store anything in this region?
bool storesByEngine(mlir::Region &region);

/// The alignment of a room's address: the swizzle of chunks in rows repeats after as many bytes.
inline constexpr int64_t roomAlignment = 1024;
/// The bytes of shared memory that the rooms of a placed tile.bulk_store take.
int64_t roomBytes(BulkStoreOp store);

/// What threads store at once, and how many lanes a row of a piece takes then.
inline constexpr int64_t storedChunkBytes = 16, lanesOfRow = tensorMapRowBytes / storedChunkBytes;
/// In the room of a staged tile.store a row begins where its address begins in a chunk of global memory, and so may
/// take one chunk more. With it, the same columns of eight rows are in different banks.
inline constexpr int64_t stagedRowBytes = tensorMapRowBytes + storedChunkBytes;
/// The pieces of a tile that a staged tile.store can store: of elements that a chunk holds several of, and with as many
/// rows as the lanes of a warp store at once. Else nullopt.
std::optional<StorePieces> stagedPieces(mlir::RankedTensorType tile, unsigned fast);
/// The bytes of shared memory that the rooms of a placed tile.store take, which is staged: one for each warp.
int64_t roomBytes(StoreOp store);

} // namespace tilewright::tile
