// SPDX-License-Identifier: Apache-2.0
// In blocks that take several programs, one role multiplies all of them, and while it stores a program's results
// nothing is multiplied. So the results are held in registers, and stored piece by piece in the first steps of the next
// program:
//
//   scf.for %p {                        %last:2 = scf.for %p iter_args(%held = zeros, %at = 0) {
//     %sums = scf.for %k {                %sums = scf.for %k {
//       dot                                 dot
//     }                                     scf.if (%p is not the first) {
//     %h = ... %sums            ->            tile.bulk_store %held at %at turn %k / step - 1
//     tile.bulk_store %h at %n              }
//   }                                     }
//                                         %h = ... %sums
//                                         yield %h, %n
//                                       }
//                                       scf.if (there was a program) { tile.bulk_store %last#0 at %last#1 }
//
// Two roles that take turns need none of this: one stores while the other multiplies. Nor do blocks of which it is not
// known that they take several programs: BERT-base for all sizes took 1.01 to 1.02 of the time.
//
// On an H200 a block of 4096 cubed takes 2,500 cycles a tile to have 32 pieces stored, since the engine takes one after
// the other, and 65,500 to multiply (docs/performance/gpu-products.md, "Stored beside the next tile").
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/Place.h"
#include "tilegen/tile/StorePieces.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

/// A role's loops, and what it stores in each program.
struct Programs {
  scf::ForOp loop;  // over programs
  scf::ForOp steps; // within it, over the steps of the sums
  SmallVector<BulkStoreOp> stores;
};

} // namespace

static int64_t piecesOf(BulkStoreOp store) {
  return storePieces(cast<RankedTensorType>(store.getValue().getType()), store.getFast())->count();
}

/// The loops of a role that multiplies and stores by the engine alone, all directly in one loop over programs.
static std::optional<Programs> programsOf(Region &role) {
  Programs found;
  bool isPlain = true;
  role.walk([&](Operation *op) {
    if (auto store = dyn_cast<BulkStoreOp>(op))
      found.stores.push_back(store);
    else if (auto dot = dyn_cast<DotOp>(op)) {
      auto steps = dyn_cast<scf::ForOp>(dot->getParentOp());
      isPlain &= steps && (!found.steps || found.steps == steps);
      found.steps = steps;
    } else if (isa<StoreOp, PartSumOp, PartArriveOp, PartWriteOp>(op)) {
      isPlain = false;
    }
  });
  if (!isPlain || !found.steps || found.stores.empty())
    return std::nullopt;
  found.loop = dyn_cast<scf::ForOp>(found.steps->getParentOp());
  if (!found.loop || !isa<RolesOp>(found.loop->getParentOp()))
    return std::nullopt;
  auto isInLoop = [&](BulkStoreOp store) {
    return store->getBlock() == found.loop.getBody() && found.steps->isBeforeInBlock(store);
  };
  return llvm::all_of(found.stores, isInLoop) ? std::optional(found) : std::nullopt;
}

/// Does what is stored wait for other memory or for special functions? Then the engine stores one piece while the next
/// one is computed, and to hold all of them takes longer: behind large products GELU takes up to 1.01 of the time, a
/// residual up to 1.09.
static bool overlapsEpilogue(Programs &programs) {
  int64_t elements = cast<RankedTensorType>(programs.stores.front().getValue().getType()).getNumElements();
  return llvm::any_of(*programs.loop.getBody(), [&](Operation &op) {
    auto load = dyn_cast<LoadOp>(op);
    return isa<arith::DivFOp>(op) || isa<math::MathDialect>(op.getDialect()) ||
           (load && load.getResult().getType().getNumElements() >= elements);
  });
}

/// Are there steps enough for all pieces behind the first step, and registers enough for results beside sums?
static bool canHold(Programs &programs, int64_t budget) {
  // What a thread needs beside sums and results; more spills.
  constexpr int64_t others = 48;
  std::optional<int64_t> lower = getConstantIntValue(programs.steps.getLowerBound()),
                         upper = getConstantIntValue(programs.steps.getUpperBound()),
                         step = getConstantIntValue(programs.steps.getStep());
  if (lower != 0 || !upper || !step)
    return false;
  int64_t pieces = 0, registers = others;
  for (BulkStoreOp store : programs.stores)
    pieces += piecesOf(store), registers += registersOf(store.getValue());
  for (Value sum : programs.steps.getRegionIterArgs())
    registers += isa<RankedTensorType>(sum.getType()) ? registersOf(sum) : 0;
  return *upper / *step > pieces && registers <= budget;
}

/// Stores what is held for `store`: the first of the `held` values and the coordinates behind it, which are taken off.
static void storeHeld(OpBuilder &b, BulkStoreOp store, ValueRange &held, Value turn) {
  unsigned coordinates = store.getCoordinates().size();
  BulkStoreOp::create(b, store.getLoc(), held.front(), store.getMap(), held.slice(1, coordinates), turn,
                      store.getFast(), store.getRooms(), store.getScratchAttr());
  held = held.drop_front(1 + coordinates);
}

/// Stores in the steps what the loop over programs holds: in each step the piece whose turn it is.
static void storeInSteps(Programs &programs, ValueRange held) {
  Location loc = programs.steps.getLoc();
  OpBuilder b(programs.steps.getBody()->getTerminator());
  int64_t step = *getConstantIntValue(programs.steps.getStep());
  Value isLater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, programs.loop.getInductionVar(),
                                        programs.loop.getLowerBound());
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, isLater, /*withElseRegion=*/false).thenBlock());
  int64_t first = 1; // the step of the store's first piece
  for (BulkStoreOp store : programs.stores) {
    Value turn = SizeOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0).floorDiv(step) - first),
                                ValueRange{programs.steps.getInductionVar()});
    storeHeld(b, store, held, turn);
    first += piecesOf(store);
  }
}

static void storeLate(Programs programs) {
  IRRewriter rewriter(programs.loop);
  Location loc = programs.loop.getLoc();
  SmallVector<Value> inits, yields;
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  for (BulkStoreOp store : programs.stores) {
    auto tile = cast<RankedTensorType>(store.getValue().getType());
    inits.push_back(arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(tile)));
    inits.append(store.getCoordinates().size(), zero);
    yields.push_back(store.getValue());
    llvm::append_range(yields, store.getCoordinates());
  }
  unsigned before = programs.loop.getNumResults();
  auto loop = cast<scf::ForOp>(*programs.loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return yields; }));
  programs.loop = loop;
  storeInSteps(programs, loop.getRegionIterArgs().drop_front(before));
  rewriter.setInsertionPointAfter(loop);
  Value any =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  rewriter.setInsertionPointToStart(scf::IfOp::create(rewriter, loc, any, /*withElseRegion=*/false).thenBlock());
  ValueRange last = loop.getResults().drop_front(before);
  for (BulkStoreOp store : programs.stores) {
    storeHeld(rewriter, store, last, /*turn=*/Value());
    rewriter.eraseOp(store);
  }
}

void tilewright::tile::storeLate(KernelOp kernel) {
  for (auto roles : kernel.getBody().getOps<RolesOp>()) {
    MutableArrayRef<Region> bodies = roles.getBodies();
    if (llvm::count_if(bodies, storesByEngine) != 1)
      continue;
    auto *role = llvm::find_if(bodies, storesByEngine);
    int64_t budget = roles.getRegisters()[role - bodies.begin()];
    std::optional<Programs> programs = programsOf(*role);
    if (!budget)
      budget = RolesOp::registersAtStart(llvm::sum_of(roles.getWarps()));
    if (programs && programsOfBlock(programs->steps).value_or(1) > 1 && canHold(*programs, budget) &&
        !overlapsEpilogue(*programs))
      ::storeLate(*programs);
  }
}
