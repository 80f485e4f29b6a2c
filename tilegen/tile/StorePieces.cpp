// SPDX-License-Identifier: Apache-2.0
#include "tilegen/tile/StorePieces.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright::tile {

uint32_t StorePieces::address(const TileShape &shape, unsigned fast, uint32_t flat) const {
  TileShape piece({rows, width});
  uint32_t bytes = tensorMapRowBytes / width, row = shape.coordinate(flat, rowDim) & (rows - 1),
           column = shape.coordinate(flat, fast) & (width - 1);
  constexpr uint32_t chunkBytes = 16;
  SharedLayout shared{piece, /*fast=*/1, chunkBytes / bytes, static_cast<unsigned>(width)};
  return shared.address(row * piece.basis(0, 0) + column);
}

unsigned StorePieces::registerAt(int64_t piece, unsigned number) const {
  unsigned r = 0;
  for (auto [i, bit] : llvm::enumerate(pieces))
    r |= (piece >> i & 1) << bit;
  for (auto [i, bit] : llvm::enumerate(within))
    r |= (number >> i & 1) << bit;
  return r;
}

unsigned StorePieces::neighbours(const Layout &layout, const TileShape &shape, unsigned fast, int64_t limit) const {
  unsigned bits = 0;
  while (bits < within.size() && int64_t(2) << bits <= limit && layout.reg[within[bits]] == shape.basis(fast, bits))
    ++bits;
  return 1u << bits;
}

/// The only dimension besides `fast` in which the tile has more than one element; nullopt where there are none or
/// several.
static std::optional<unsigned> otherDimension(const TileShape &shape, unsigned fast) {
  std::optional<unsigned> found;
  for (unsigned d = 0; d < shape.rank(); ++d) {
    if (d == fast || !shape.bits(d))
      continue;
    if (found)
      return std::nullopt;
    found = d;
  }
  return found;
}

std::optional<StorePieces> storePieces(RankedTensorType tile, unsigned fast) {
  TileShape shape(tile.getShape());
  Layout layout = layoutOf(tile);
  std::optional<unsigned> rowDim = otherDimension(shape, fast);
  if (!rowDim)
    return std::nullopt;
  StorePieces result{*rowDim, 1, tensorMapRowBytes / (tile.getElementTypeBitWidth() / 8), {}, {}};
  auto isOfWarp = [&](uint32_t basis) {
    return llvm::is_contained(layout.lane, basis) || llvm::is_contained(layout.reg, basis);
  };
  unsigned columnBits = llvm::Log2_64(result.width), rowBits = 0;
  if (columnBits > shape.bits(fast))
    return std::nullopt;
  uint32_t inPiece = 0;
  for (unsigned bit = 0; bit < columnBits; ++bit) {
    if (!isOfWarp(shape.basis(fast, bit)))
      return std::nullopt;
    inPiece |= shape.basis(fast, bit);
  }
  for (; rowBits < shape.bits(*rowDim) && isOfWarp(shape.basis(*rowDim, rowBits)); ++rowBits)
    inPiece |= shape.basis(*rowDim, rowBits);
  result.rows = int64_t(1) << rowBits;
  if (result.rows > maxTensorMapBox)
    return std::nullopt;
  // Every element must be held by one thread only, and the lanes of a warp must hold elements of the same piece.
  uint32_t held = 0;
  auto isNew = [&](uint32_t basis) { return basis && !(held & basis) && ((held |= basis), true); };
  if (!llvm::all_of(layout.reg, isNew) || !llvm::all_of(layout.lane, isNew) || !llvm::all_of(layout.warp, isNew) ||
      llvm::any_of(layout.lane, [&](uint32_t basis) { return basis & ~inPiece; }))
    return std::nullopt;
  for (auto [i, basis] : llvm::enumerate(layout.reg))
    (basis & inPiece ? result.within : result.pieces).push_back(i);
  return result;
}

bool storesByEngine(Region &region) {
  return region.walk([](BulkStoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

int64_t roomBytes(BulkStoreOp store) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  int64_t warps = int64_t(1) << layoutOf(tile).warp.size();
  return warps * static_cast<int64_t>(store.getRooms()) * store.getMap().getType().getBox()[1] * tensorMapRowBytes;
}

std::optional<StorePieces> stagedPieces(RankedTensorType tile, unsigned fast) {
  unsigned bits = tile.getElementTypeBitWidth();
  if (bits != 16 && bits != 32)
    return std::nullopt;
  std::optional<StorePieces> pieces = storePieces(tile, fast);
  int64_t lanes = int64_t(1) << layoutOf(tile).lane.size();
  return pieces && pieces->rows * lanesOfRow >= lanes ? pieces : std::nullopt;
}

int64_t roomBytes(StoreOp store) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  int64_t warps = int64_t(1) << layoutOf(tile).warp.size();
  return warps * stagedPieces(tile, *store.getStaged())->rows * stagedRowBytes;
}

} // namespace tilewright::tile
