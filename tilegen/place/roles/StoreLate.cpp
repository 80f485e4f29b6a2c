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
// Functions of the results are computed late too, each piece's in front of its store, beside the products. What is held
// then is what the functions read, rounded to the type of the results: wider values and the sums need more registers
// than a thread has.
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

/// What is held for a store.
struct Held {
  BulkStoreOp store;
  Value value;                   // what is held, before it is rounded
  SmallVector<Operation *> late; // what makes the stored tile of it, in their order
};

/// A role's loops, and what it stores in each program.
struct Programs {
  scf::ForOp loop;  // over programs
  scf::ForOp steps; // within it, over the steps of the sums
  SmallVector<BulkStoreOp> stores;
};

} // namespace

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

/// Does each element of the results come from the same element of the operands, which are all tiles?
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

static bool isFunction(Operation *op) { return isa<arith::DivFOp>(op) || isa<math::MathDialect>(op->getDialect()); }

/// Holds the last value from which the stored tile can be computed, without other tiles, by operations among which are
/// the functions. Without functions that is the stored tile itself.
static Held heldFor(BulkStoreOp store) {
  Held held{store, store.getValue(), {}};
  Block *body = store->getBlock();
  SetVector<Value> open;       // what has been found to be read
  SetVector<Operation *> late; // by these
  bool isBehindFunction = false;
  open.insert(store.getValue());
  auto isEarlier = [&](Value a, Value b) {
    auto isIn = [&](Value value) { return value.getDefiningOp() && value.getDefiningOp()->getBlock() == body; };
    return isIn(b) && (!isIn(a) || a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp()));
  };
  while (true) {
    if (open.size() == 1 && isBehindFunction) {
      held.value = open.front(), held.late = llvm::to_vector(late);
      isBehindFunction = false;
    }
    Value last = open.empty() ? Value() : *llvm::max_element(open, isEarlier);
    Operation *op = last ? last.getDefiningOp() : nullptr;
    if (!op || op->getBlock() != body || !isElementwise(op))
      break;
    open.remove(last);
    late.insert(op);
    isBehindFunction |= isFunction(op);
    for (Value operand : op->getOperands())
      if (auto constant = operand.getDefiningOp<arith::ConstantOp>(); constant && constant->getBlock() == body)
        late.insert(constant);
      else if (!constant)
        open.insert(operand);
  }
  llvm::sort(held.late, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return held;
}

/// The type in which a loop carries what is held: halves, where the stored tile has these and singles are held.
static RankedTensorType carriedType(Held &held) {
  auto own = cast<RankedTensorType>(held.value.getType());
  Type stored = cast<RankedTensorType>(held.store.getValue().getType()).getElementType();
  bool isRounded = own.getElementType().isF32() && (stored.isF16() || stored.isBF16());
  return isRounded ? own.clone(stored) : own;
}

static StorePieces piecesOf(BulkStoreOp store) {
  return *storePieces(cast<RankedTensorType>(store.getValue().getType()), store.getFast());
}

/// The steps that a piece takes. Functions of a whole piece in one step delay the products: behind 4096 cubed GELU
/// takes 1.02 of the time so, and 0.98 of it in four shares (docs/performance/gpu-products.md, "Functions beside the
/// next tile").
static int64_t sharesOf(Held &held) { return held.late.empty() ? 1 : piecesOf(held.store).mostShares(); }
static int64_t turnsOf(Held &held) { return piecesOf(held.store).count() * sharesOf(held); }

/// 32-bit registers of a thread that hold the sums, and what is held beside them.
static int64_t registersHeld(Programs &programs, MutableArrayRef<Held> held) {
  int64_t registers = 0;
  for (Held &of : held)
    registers += registersOf(carriedType(of));
  for (Value sum : programs.steps.getRegionIterArgs())
    if (auto type = dyn_cast<RankedTensorType>(sum.getType()))
      registers += registersOf(type);
  return registers;
}

/// Are there steps enough for all pieces behind the first step, and registers enough for what is held?
static bool canHold(Programs &programs, MutableArrayRef<Held> held, int64_t budget) {
  // What a thread needs beside sums and results; more spills.
  constexpr int64_t others = 48;
  std::optional<int64_t> lower = getConstantIntValue(programs.steps.getLowerBound()),
                         upper = getConstantIntValue(programs.steps.getUpperBound()),
                         step = getConstantIntValue(programs.steps.getStep());
  if (lower != 0 || !upper || !step)
    return false;
  int64_t turns = 0;
  for (Held &of : held)
    turns += turnsOf(of);
  return llvm::divideCeilSigned(*upper, *step) > turns && registersHeld(programs, held) + others <= budget;
}

/// Stores what a loop carries for `held`: the first of the `carried` values and the coordinates behind it, which are
/// taken off.
static void storeHeld(OpBuilder &b, Held &held, ValueRange &carried, Value turn) {
  BulkStoreOp store = held.store;
  Location loc = store.getLoc();
  Value value = carried.front();
  if (value.getType() != held.value.getType())
    value = arith::ExtFOp::create(b, loc, held.value.getType(), value);
  IRMapping made;
  made.map(held.value, value);
  for (Operation *op : held.late)
    b.clone(*op, made);
  unsigned coordinates = store.getCoordinates().size();
  BulkStoreOp::create(b, loc, made.lookup(store.getValue()), store.getMap(), carried.slice(1, coordinates), turn,
                      turn ? sharesOf(held) : 1, store.getFast(), store.getRooms(), store.getScratchAttr());
  carried = carried.drop_front(1 + coordinates);
}

/// Stores in the steps what the loop over programs carries: in each step the piece whose turn it is.
static void storeInSteps(Programs &programs, MutableArrayRef<Held> held, ValueRange carried) {
  Location loc = programs.steps.getLoc();
  OpBuilder b(programs.steps.getBody()->getTerminator());
  int64_t step = *getConstantIntValue(programs.steps.getStep());
  Value isLater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, programs.loop.getInductionVar(),
                                        programs.loop.getLowerBound());
  b.setInsertionPointToStart(scf::IfOp::create(b, loc, isLater, /*withElseRegion=*/false).thenBlock());
  int64_t first = 1; // the step of the store's first turn
  for (Held &of : held) {
    Value turn = SizeOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0).floorDiv(step) - first),
                                ValueRange{programs.steps.getInductionVar()});
    storeHeld(b, of, carried, turn);
    first += turnsOf(of);
  }
}

/// Functions need registers in the steps. Tiles that were loaded in front of the steps for the results are loaded
/// behind them, unless they fit as well. (4096 cubed with GELU, whose row of biases fits, would take 0.1 to 1 % more
/// time so.)
static void loadBehindSteps(Programs &programs, MutableArrayRef<Held> held, int64_t budget) {
  constexpr int64_t others = 32; // what a thread needs beside sums, results and these tiles; more spills
  int64_t free = budget - registersHeld(programs, held) - others;
  Block *body = programs.loop.getBody();
  for (auto load : llvm::make_early_inc_range(body->getOps<LoadOp>())) {
    SmallVector<Operation *> users =
        llvm::map_to_vector(load->getUsers(), [&](Operation *user) { return body->findAncestorOpInBlock(*user); });
    auto isBehind = [&](Operation *user) { return programs.steps->isBeforeInBlock(user); };
    if (!load->isBeforeInBlock(programs.steps) || users.empty() || !llvm::all_of(users, isBehind))
      continue;
    free -= registersOf(load.getResult());
    if (free < 0)
      load->moveBefore(*llvm::min_element(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); }));
  }
}

/// Takes the store out of the loop over programs, and what is computed late.
static void eraseEarly(RewriterBase &rewriter, Held &held) {
  rewriter.eraseOp(held.store);
  for (Operation *op : llvm::reverse(held.late))
    if (op->use_empty())
      rewriter.eraseOp(op);
}

static void storeLate(Programs &programs, MutableArrayRef<Held> held) {
  IRRewriter rewriter(programs.loop);
  Location loc = programs.loop.getLoc();
  SmallVector<Value> inits, yields;
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  for (Held &of : held) {
    RankedTensorType type = carriedType(of);
    inits.push_back(arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)));
    inits.append(of.store.getCoordinates().size(), zero);
    OpBuilder b(of.store);
    bool isRounded = type != of.value.getType();
    yields.push_back(isRounded ? arith::TruncFOp::create(b, of.store.getLoc(), type, of.value) : of.value);
    llvm::append_range(yields, of.store.getCoordinates());
  }
  unsigned before = programs.loop.getNumResults();
  auto loop = cast<scf::ForOp>(*programs.loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return yields; }));
  programs.loop = loop;
  storeInSteps(programs, held, loop.getRegionIterArgs().drop_front(before));
  rewriter.setInsertionPointAfter(loop);
  Value any =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  rewriter.setInsertionPointToStart(scf::IfOp::create(rewriter, loc, any, /*withElseRegion=*/false).thenBlock());
  ValueRange last = loop.getResults().drop_front(before);
  for (Held &of : held)
    storeHeld(rewriter, of, last, /*turn=*/Value());
  for (Held &of : held)
    eraseEarly(rewriter, of);
}

/// Is what is multiplied of the type that is stored? Then the model has products of that type, and what functions read
/// may be rounded to it. Sums of bytes, for instance, may be beyond the greatest half.
static bool keepsType(Programs &programs, Held &held) {
  Type stored = held.store.getMap().getType().getElement();
  return llvm::all_of(programs.steps.getBody()->getOps<DotOp>(),
                      [&](DotOp dot) { return dot.getLhs().getType().getElementType() == stored; });
}

/// What is held for each store; nothing if tiles are loaded, or functions would be computed in front of what is held:
/// the engine stores one piece while the next one is waited for or computed, and to hold all of them takes longer.
/// Behind large products a residual takes up to 1.09 of the time.
static std::optional<SmallVector<Held>> heldIn(Programs &programs) {
  SmallVector<Held> all = llvm::map_to_vector(programs.stores, heldFor);
  auto isLate = [&](Operation *op) {
    return llvm::any_of(all, [&](const Held &held) { return llvm::is_contained(held.late, op); });
  };
  int64_t elements = cast<RankedTensorType>(programs.stores.front().getValue().getType()).getNumElements();
  auto delays = [&](Operation &op) {
    auto load = dyn_cast<LoadOp>(op);
    return (isFunction(&op) && !isLate(&op)) || (load && load.getResult().getType().getNumElements() >= elements);
  };
  auto isRight = [&](Held &held) { return held.late.empty() || keepsType(programs, held); };
  bool holds = llvm::all_of(all, isRight) && llvm::none_of(*programs.loop.getBody(), delays);
  return holds ? std::optional(all) : std::nullopt;
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
    if (!programs || programsOfBlock(programs->steps).value_or(1) <= 1)
      continue;
    std::optional<SmallVector<Held>> held = heldIn(*programs);
    if (!held || !canHold(*programs, *held, budget))
      continue;
    if (llvm::any_of(*held, [](const Held &of) { return !of.late.empty(); }))
      loadBehindSteps(*programs, *held, budget);
    ::storeLate(*programs, *held);
  }
}
