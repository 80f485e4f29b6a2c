// SPDX-License-Identifier: Apache-2.0
// How threads are blocked over the tiles of a group: first so that most accesses are wide, then so that neighbours that
// need the same elements are in one thread.
#include "tilegen/place/ChooseBlocking.h"

#include "tilegen/place/AccessFacts.h"
#include "tilegen/tile/TileLayouts.h"

using namespace mlir;
using namespace tilewright::tile;

static constexpr unsigned bytesOfAccess = 16; // of a load or store, at most

static SmallVector<Access> accessesOf(const LayoutGroup &group) {
  SmallVector<Access> accesses;
  for (Value value : group.values) {
    if (auto load = value.getDefiningOp<LoadOp>())
      accesses.push_back(Access::of(load));
    for (Operation *user : value.getUsers())
      if (auto store = dyn_cast<StoreOp>(user))
        accesses.push_back(Access::of(store));
  }
  return accesses;
}

static int64_t elementBytes(Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }

/// The dimension along which most elements are neighbours in memory.
static unsigned fastDimension(ArrayRef<Access> accesses, unsigned rank) {
  SmallVector<int64_t> score(rank, 0);
  for (const Access &access : accesses)
    for (unsigned d = 0; d < rank; ++d)
      if (isContiguous(access, d))
        score[d] += access.tile.getNumElements() * elementBytes(access.tile.getElementType());
  unsigned best = rank - 1;
  for (unsigned d = rank; d-- > 0;)
    if (score[d] > score[best])
      best = d;
  return best;
}

/// How many neighbours along `fast` a thread holds: as many as the widest access takes at once. Stores of whole tiles
/// that take less than the 16 bytes of an access limit it: else each of them writes a part of a sector, and each sector
/// is written several times. Rows of 283 halves, loaded 8 at a time and stored one by one, took 154 of a network's 700
/// us; loaded one by one too, the network takes 584 (H100). Threads that hold whole rows stay as they are: rows of 7
/// halves, spread over lanes, took 1.03 of a network's time.
static unsigned vectorAlong(unsigned fast, ArrayRef<int64_t> shape, ArrayRef<Access> accesses) {
  unsigned widest = 1, limit = 0; // 0 where nothing is stored along `fast`, or only what is left of a reduction
  for (const Access &access : accesses) {
    unsigned most = bytesOfAccess / elementBytes(access.tile.getElementType()),
             width = vectorWidth(access, fast, most, allSymbols);
    widest = std::max(widest, width);
    if (isa<StoreOp>(access.op) && access.tile.getShape() == shape && isContiguous(access, fast))
      limit = std::max(limit, width == most ? bytesOfAccess : width);
  }
  return limit && shape[fast] > widest ? std::min(widest, limit) : widest;
}

Blocking tilewright::tile::chooseBlocking(const LayoutGroup &group, unsigned lanes, unsigned warps) {
  SmallVector<Access> accesses = accessesOf(group);
  unsigned rank = group.shape.size(), fast = fastDimension(accesses, rank);
  Blocking blocking{{fast}, 1, lanes, warps};
  for (unsigned d = rank; d-- > 0;)
    if (d != fast)
      blocking.order.push_back(d);
  blocking.vector = vectorAlong(fast, group.shape, accesses);
  while (blocking.vector > 1 && TileShape(group.shape).elements() < blocking.vector * lanes * warps)
    blocking.vector /= 2;
  return blocking;
}

void tilewright::tile::transposeInRegisters(Blocking &blocking, const LayoutGroup &group, DotOp dot, bool isLhs) {
  unsigned k = group.shape.size() - (isLhs ? 1 : 2);
  const Fragments *fragments = fragmentsOf(dot);
  if (!fragments || !fragments->readsAlongK(isLhs ? Operand::A : Operand::B) || blocking.order[0] == k)
    return;
  unsigned held = TileShape(group.shape).elements() / (blocking.lanes * blocking.warps * blocking.vector);
  blocking.registerDim = k;
  blocking.registerCount = std::clamp(llvm::bit_floor(held), 1u, 4u);
}

/// Whether neighbours along `dim` read the same element of the buffer, because the map divides that coordinate.
static bool sharesAlong(const Access &access, unsigned dim) {
  bool shares = false;
  for (AffineExpr expr : access.map.getResults())
    expr.walk([&](AffineExpr inner) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(inner);
      shares |= binary && inner.getKind() == AffineExprKind::FloorDiv && binary.getLHS().isFunctionOfDim(dim);
    });
  return shares;
}

void tilewright::tile::holdSharingNeighbours(Blocking &blocking, const LayoutGroup &group, bool isLhs) {
  constexpr unsigned mostHeld = 8;
  unsigned k = group.shape.size() - (isLhs ? 1 : 2);
  if (blocking.order[0] == k ||
      llvm::none_of(accessesOf(group), [&](const Access &access) { return sharesAlong(access, k); }))
    return;
  Type element = cast<RankedTensorType>(group.values.front().getType()).getElementType();
  if (blocking.vector == 1) // each element needs an address of its own, and registers do not suffice for many
    return;
  blocking.vector = std::min<unsigned>(blocking.vector, bytesOfAccess / elementBytes(element));
  unsigned held = TileShape(group.shape).elements() / (blocking.lanes * blocking.warps * blocking.vector);
  blocking.registerDim = k;
  blocking.registerCount = std::clamp(llvm::bit_floor(held), 1u, mostHeld);
}

void tilewright::tile::holdWindowNeighbours(Blocking &blocking, const LayoutGroup &group) {
  unsigned rank = group.shape.size(),
           held = TileShape(group.shape).elements() / (blocking.lanes * blocking.warps * blocking.vector);
  for (unsigned dim = rank; dim-- > 0 && !blocking.registerDim;)
    for (const Access &access : accessesOf(group)) {
      // Along a window's dimension a coordinate is that of a result plus that of an element of its window.
      bool slides = llvm::any_of(access.map.getResults(), [&](AffineExpr expr) {
        return expr.isFunctionOfDim(dim) && expr.getKind() != AffineExprKind::DimId &&
               llvm::any_of(llvm::seq<unsigned>(0, rank),
                            [&](unsigned other) { return other != dim && expr.isFunctionOfDim(other); });
      });
      if (slides && group.shape[dim] > 1 && dim != blocking.order[0])
        blocking.registerDim = dim;
    }
  blocking.registerCount = blocking.registerDim ? std::max(1u, llvm::bit_floor(held)) : 1;
}

void tilewright::tile::holdTransposedNeighbours(Blocking &blocking, const LayoutGroup &group) {
  unsigned held = TileShape(group.shape).elements() / (blocking.lanes * blocking.warps * blocking.vector);
  for (const Access &access : accessesOf(group))
    for (unsigned dim = group.shape.size(); dim-- > 0 && !blocking.registerDim;) {
      if (dim == blocking.order[0] || ArrayRef(group.shape) != access.tile.getShape())
        continue;
      unsigned width = vectorWidth(access, dim, bytesOfAccess / elementBytes(access.tile.getElementType()), allSymbols);
      if (width == 1)
        continue;
      blocking.registerDim = dim;
      blocking.registerCount = std::clamp(llvm::bit_floor(held), 1u, width);
    }
}

void tilewright::tile::holdColumns(Blocking &blocking, const LayoutGroup &group) {
  unsigned rank = group.shape.size(), sum = blocking.order[0];
  if (rank < 2 || sum != rank - 1)
    return;
  auto columns = static_cast<unsigned>(group.shape[rank - 2]);
  blocking.mostLanes = std::max(1u, blocking.lanes * blocking.warps / columns);
}
