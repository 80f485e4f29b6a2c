// SPDX-License-Identifier: Apache-2.0
// Results of roles go through shared memory, and the copy engine stores them while the role goes on with its next
// program:
//
//   tile.store %h, %y[%m, %n]    ->    tile.bulk_store %h, %map[%n, %m]
//
// A block that takes one program has no next one to go on with, and ends earlier if its threads store by themselves.
//
// Neither the engine nor wide accesses of threads can store rows that begin at no multiple of 16 bytes. Such results go
// through shared memory too, where the threads of a warp put its rows together and store them from there:
//
//   tile.store %h, %y[%m, %n]    ->    tile.store %h, %y[%m, %n] staged 1
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/Place.h"
#include "tilegen/place/roles/BulkAccess.h"
#include "tilegen/tile/StorePieces.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

/// A store as the engine does it.
struct EngineStore {
  unsigned fast;
  BulkAccess access;
};

} // namespace

static std::optional<EngineStore> asEngineStore(StoreOp store) {
  Access access = Access::of(store);
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  if (tile.getElementType() != store.getBuffer().getType().getElementType())
    return std::nullopt;
  for (unsigned fast = tile.getRank(); fast-- > 0;) {
    std::string why;
    if (tile.getDimSize(fast) == 1 || !isContiguous(access, fast))
      continue;
    std::optional<StorePieces> pieces = storePieces(tile, fast);
    std::optional<BulkAccess> boxes = pieces ? bulkAccess(access, fast, why) : std::nullopt;
    if (!boxes)
      return std::nullopt;
    boxes->box[1] = pieces->rows; // behind the rows come the dimensions in which the tile has one element
    return EngineStore{fast, std::move(*boxes)};
  }
  return std::nullopt;
}

/// Creates the bulk store in front of `store`, with one room; null where the engine cannot do it.
static BulkStoreOp makeBulkStore(StoreOp store) {
  std::optional<EngineStore> engine = asEngineStore(store);
  if (!engine)
    return {};
  OpBuilder b(store->getParentOfType<RolesOp>());
  Value map = makeTensorMap(b, store.getLoc(), engine->access, store.getBuffer());
  b.setInsertionPoint(store);
  unsigned symbols = store->getParentOfType<KernelOp>().getNumSymbols();
  return BulkStoreOp::create(b, store.getLoc(), store.getValue(), map,
                             boxCoordinates(b, store.getLoc(), engine->access, store.getOffsets(), symbols),
                             /*turn=*/Value(), /*shares=*/1, engine->fast, /*rooms=*/1, IntegerAttr());
}

/// Stores by the engine. Gives each warp two rooms, so that one is written while the engine reads the other, or one
/// room where shared memory does not suffice for two. Where it does not suffice for one, nothing changes.
static void storeByEngine(KernelOp kernel, const PlaceFacts &facts) {
  SmallVector<StoreOp> stores;
  kernel.walk([&](StoreOp store) {
    if (store->getParentOfType<RolesOp>() && facts.bulkStoresFrom &&
        programsOfBlock(store).value_or(facts.bulkStoresFrom) >= facts.bulkStoresFrom)
      stores.push_back(store);
  });
  SmallVector<std::pair<StoreOp, BulkStoreOp>> found;
  for (StoreOp store : stores)
    if (BulkStoreOp bulk = makeBulkStore(store))
      found.push_back({store, bulk});
  auto fits = [&](int64_t rooms) {
    for (auto [store, bulk] : found) {
      auto tile = cast<RankedTensorType>(bulk.getValue().getType());
      bulk.setRooms(std::min(rooms, storePieces(tile, bulk.getFast())->count()));
    }
    return assignAddresses(kernel) <= facts.sharedBytes;
  };
  bool changes = fits(2) || fits(1);
  for (auto [store, bulk] : found) {
    Operation *map = bulk.getMap().getDefiningOp();
    changes ? store.erase() : bulk.erase();
    if (map->use_empty())
      map->erase();
  }
}

/// The dimension along which rows of the buffer run that do not all begin at multiples of a chunk; nullopt where they
/// do, or where a staged store could not store them.
static std::optional<unsigned> oddRows(StoreOp store) {
  Access access = Access::of(store);
  if (access.tile.getElementType() != store.getBuffer().getType().getElementType())
    return std::nullopt;
  for (unsigned fast = access.tile.getRank(); fast-- > 0;) {
    std::optional<StorePieces> pieces = stagedPieces(access.tile, fast);
    if (!pieces || !hasRows(access, fast, pieces->width))
      continue;
    int64_t chunk = storedChunkBytes * 8 / access.tile.getElementTypeBitWidth();
    return vectorWidth(access, fast, chunk, allSymbols) < chunk ? std::optional(fast) : std::nullopt;
  }
  return std::nullopt;
}

/// Stores of odd rows are staged where shared memory suffices for all of them.
static void stageOddRows(KernelOp kernel, const PlaceFacts &facts) {
  SmallVector<StoreOp> staged;
  kernel.walk([&](StoreOp store) {
    std::optional<unsigned> fast = store->getParentOfType<RolesOp>() ? oddRows(store) : std::nullopt;
    if (!fast)
      return;
    store.setStaged(*fast);
    staged.push_back(store);
  });
  if (staged.empty() || assignAddresses(kernel) <= facts.sharedBytes)
    return;
  for (StoreOp store : staged) {
    store.removeStagedAttr();
    store.removeScratchAttr();
  }
}

void tilewright::tile::stageStores(KernelOp kernel, const PlaceFacts &facts) {
  storeByEngine(kernel, facts);
  stageOddRows(kernel, facts);
}
