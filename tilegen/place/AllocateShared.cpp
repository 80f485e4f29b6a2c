// SPDX-License-Identifier: Apache-2.0
// Gives shared memory addresses: first to the slots of operands, then to what reductions exchange between warps, and to
// what tile.part_arrive tells a block's threads or other blocks give it for tile.part_sum and tile.part_reduce, last to
// the rooms through which results are stored.
#include "tilegen/place/Place.h"
#include "tilegen/tile/StorePieces.h"

using namespace mlir;
using namespace tilewright::tile;

constexpr int64_t bankRowBytes = 128;

/// The role that `op` stands in; the kernel's body if it stands in none.
static Region *roleOf(Operation *op) {
  Region *region = op->getParentRegion();
  while (!isa<RolesOp, KernelOp>(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

int64_t tilewright::tile::assignAddresses(KernelOp kernel) {
  int64_t used = 0;
  auto take = [&](int64_t bytes, int64_t alignment) {
    int64_t offset = llvm::alignTo(used, alignment);
    used = offset + llvm::alignTo(bytes, bankRowBytes);
    return offset;
  };
  kernel.walk(
      [&](SharedAllocOp alloc) { alloc.setOffset(take(alloc.getType().getBytes(), alloc.getType().getAlignment())); });
  kernel.walk([&](RingAllocOp alloc) { alloc.setOffset(take(alloc.getType().getBytes(), bankRowBytes)); });
  kernel.walk([&](ReduceOp reduce) {
    if (int64_t bytes = exchangedBytes(reduce))
      reduce.setScratch(take(bytes, bankRowBytes));
  });
  kernel.walk([&](PartArriveOp arrive) { arrive.setScratch(take(arrivalBytes, bankRowBytes)); });
  kernel.walk([&](PartSumOp sum) { sum.setScratch(take(givenBytes(sum), bankRowBytes)); });
  kernel.walk([&](PartReduceOp reduce) { reduce.setScratch(take(givenBytes(reduce), bankRowBytes)); });
  // A tile that is stored in two places of a role, as storeLate leaves it, has one set of rooms.
  llvm::DenseMap<std::tuple<Region *, Value, Type>, int64_t> roomsOf;
  kernel.walk([&](BulkStoreOp store) {
    auto [rooms, isNew] = roomsOf.try_emplace({roleOf(store), store.getMap(), store.getValue().getType()});
    if (isNew)
      rooms->second = take(roomBytes(store), roomAlignment);
    store.setScratch(rooms->second);
  });
  // Warps store one tile after the other, so the staged stores of a role share their rooms.
  kernel.walk([&](RolesOp roles) {
    for (Region &role : roles.getBodies()) {
      SmallVector<StoreOp> staged;
      role.walk([&](StoreOp store) {
        if (store.getStaged())
          staged.push_back(store);
      });
      int64_t bytes = 0;
      for (StoreOp store : staged)
        bytes = std::max(bytes, roomBytes(store));
      int64_t rooms = bytes ? take(bytes, bankRowBytes) : 0;
      for (StoreOp store : staged)
        store.setScratch(rooms);
    }
  });
  return used;
}

LogicalResult tilewright::tile::allocateShared(KernelOp kernel, const PlaceFacts &facts) {
  int64_t used = assignAddresses(kernel);
  if (failed(checkShared(kernel, used, facts)))
    return failure();
  int64_t warps = warpsOf(kernel);
  kernel.walk([&](RolesOp roles) { warps = llvm::sum_of(roles.getWarps()); });
  kernel.setThreads(warps * facts.lanes);
  kernel.setSharedBytes(used);
  return success();
}
