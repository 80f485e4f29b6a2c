// SPDX-License-Identifier: Apache-2.0
// Gives the copies of a loop around products warps of their own, where the schedule asks for groups and the copy engine
// can bring what the products read (RolePlan.h). The block becomes persistent: it takes programs one after the other.
//
//   %p = tile.program_id 0            roles: multiply (as many warps as the schedule says; once for each group)
//   ...                                 for %p = number of the block, + blocks, ... {
//   for %k {                              ...
//     %a = tile.load A[%k]                for %k {
//     %b = tile.load B[%k]                  %slot = tile.ring_wait ring[%step]
//     tile.dot                 ->           tile.dot of slot %slot ; tile.dot_wait for the step before, and release it
//   }                                     }
//   epilogue, tile.store                  epilogue, tile.store }
//                                     roles: copy (one thread)
//                                       for %p ... for %k {
//                                         %slot = tile.ring_acquire ring[%step]
//                                         tile.bulk_copy A[%k], B[%k] into %slot }
//
// Both roles count the same steps, through all programs, so the copies of the next program run while this one's results
// are stored. MultiplyLoop.h has the forms of the loop that multiplies.
//
// Where programs have loops of different length, each has a block of its own, because the hardware balances that better
// than most fixed assignments. An exception is a schedule whose order puts long programs before short ones (those of a
// causal attention). Then blocks go through the programs there and back (thereAndBack): the block that had the longest
// program of a round has the shortest one of the next round.
//
// Where a kernel may start before the kernels that it reads from end, the thread that copies fills the first slots with
// constants before it waits for those kernels (earlySteps):
//
//   for %k of the first program, in the first slots {
//     tile.ring_acquire ring[%step] ; tile.bulk_copy B[%k] }
//   tile.await_kernels
//   for %p ... for %k {
//     if %step is one of those { tile.bulk_copy A[%k] } else { tile.ring_acquire ; tile.bulk_copy A[%k], B[%k] } }
//
// With two groups the programs alternate between them: one multiplies while the other stores. Only one may multiply at
// a time: an mbarrier has one bit of phase, which tells a step from the one before it in the same slot, but not from
// the steps of another group. So they take turns:
//
//   tile.ring_drain turns[%turn - 1] ; the loop ; tile.ring_release turns[%turn]
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/roles/MultiplyLoop.h"

#include "mlir/IR/Iterators.h"

#include <functional>

using namespace mlir;
using namespace tilewright::tile;

namespace {

/// Registers of a thread, by role. Warps that copy need few: more where they fill several rings, and most where they
/// compute the positions of pixels, unless the warps that multiply split singles and need the registers themselves.
constexpr int64_t registersToCopy = 24, registersToCopyMore = 32, registersToWalk = 40, mostRegisters = 240,
                  warpsToCopy = 4;
constexpr int64_t bytesOfBarriers = 1 << 10; // of all rings, at most

/// Registers of a thread of each role; 0: as many as a thread has at the start.
struct RoleBudget {
  int64_t toMultiply = 0, toCopy = 0;
};

class RoleBuilder {
public:
  RoleBuilder(KernelOp kernel, const PlaceFacts &facts, RolePlan plan, RoleBudget budget)
      : kernel_(kernel), schedule_(kernel.getScheduleAttr()), facts_(facts), b_(kernel.getContext()),
        loc_(kernel.getLoc()), plan_(std::move(plan)), budget_(budget),
        isPersistent_(isEquallyLong(plan_.loop) || schedule_.getOrder() > 1) {}
  void run();

private:
  /// How far a role has come: the numbers of steps and of programs so far. The loop over programs carries both;
  /// `program` is null if neither turns nor rings need it.
  struct Place {
    Value step, program;
  };
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  Value plus(Value value, Value other) { return arith::AddIOp::create(b_, loc_, value, other); }
  bool countsPrograms() const {
    return turns_ || llvm::any_of(plan_.rings, [](auto &ring) { return ring.isOfProgram; });
  }
  int64_t slotsOf(const PlannedRing &ring) const { return ring.isOfProgram ? slotsOfPrograms_ : schedule_.getStages(); }
  int64_t countSlotsOfPrograms();
  Value thereAndBack(Value index, int64_t programs);
  Value makeRoom(RankedTensorType type, unsigned fast, int64_t slots);
  void makeRooms();
  void makeRings();
  void fillBody(Region &body, int64_t group, bool stores);
  Value fillProgram(Value number, bool stores, llvm::function_ref<Value(IRMapping &)> fillLoop);
  Value multiply(IRMapping &now, Place at);
  void stage(const IRMapping &now);
  Value copy(IRMapping &now, Place at);
  void copyInto(size_t ring, const IRMapping &now, Value step);
  Value acquire(size_t ring, Value step);
  void copyOperands(size_t ring, const IRMapping &now, Value slot,
                    llvm::function_ref<bool(const CopiedOperand &)> which);
  bool hasConstantsFirst() const;
  void copyConstants(Value first, Value end);
  IRMapping inLoop(const IRMapping &now, Value position);
  void startCopy(const CopiedOperand &copied, Value map, const IRMapping &now, Value slot, Value ring);
  void when(Value condition, llvm::function_ref<void()> build);

  KernelOp kernel_;
  ScheduleAttr schedule_;
  const PlaceFacts &facts_;
  OpBuilder b_;
  Location loc_;
  RolePlan plan_;
  RoleBudget budget_;
  bool isPersistent_;
  RoleRooms rooms_;
  SmallVector<Value> maps_; // of plan_.copied
  Value turns_;             // the ring by which groups take turns; null if there is one group
  Value earlySteps_;        // how many first steps had their constants copied before the wait; null: none
  int64_t blocks_ = 0;      // of the grid, if it is persistent
  int64_t slotsOfPrograms_ = 1;
};

} // namespace

/// Whether `op` computes a number without side effects. The role that copies needs only these operations of a program.
static bool isIndexArithmetic(Operation &op) {
  return isMemoryEffectFree(&op) && !op.getNumRegions() && op.getNumResults() == 1 &&
         !isa<RankedTensorType>(op.getResult(0).getType());
}

/// How registers are shared out. In blocks whose threads start with fewer than `mostRegisters`, the warps that multiply
/// take some from the warps that copy.
static RoleBudget budgetOf(ScheduleAttr schedule, const RolePlan &plan) {
  int64_t multiplying = schedule.getGroups() * schedule.getWarps(), all = multiplying + warpsToCopy,
          atStart = RolesOp::registersAtStart(all);
  if (atStart >= mostRegisters)
    return {};
  bool walks = !plan.splitsSingles &&
               llvm::any_of(plan.copied, [](const CopiedOperand &copied) { return copied.access.pixels.has_value(); });
  int64_t toCopy = walks                   ? registersToWalk
                   : plan.rings.size() > 1 ? registersToCopyMore
                                           : registersToCopy,
          left = all * atStart - warpsToCopy * toCopy;
  return {std::min<int64_t>(left / multiplying / 8 * 8, mostRegisters), toCopy};
}

static bool isOfConstant(const CopiedOperand &copied) { return isConstant(LoadOp(copied.load).getBuffer()); }

//===- Rooms, maps and rings --------------------------------------------------------------------------------------===//

Value RoleBuilder::makeRoom(RankedTensorType type, unsigned fast, int64_t slots) {
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  return SharedAllocOp::create(b_, loc_, SharedType::get(b_.getContext(), plain, fast, slots), 0);
}

/// How many slots the rings that are filled once a program have: two where a block takes several programs, so that the
/// operands of the next one come before this one has read its own for the last time, and shared memory has room for
/// them beside the results on their way out.
int64_t RoleBuilder::countSlotsOfPrograms() {
  auto extent = dyn_cast<AffineConstantExpr>(kernel_.getGrid().getResult(0));
  if (!isPersistent_ || plan_.splitsSingles || schedule_.getGroups() > 1 || (extent && extent.getValue() <= blocks_))
    return 1;
  int64_t bytes = bytesOfBarriers;
  auto add = [&](Type type, int64_t times) {
    auto tile = cast<RankedTensorType>(type);
    bytes += times * tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
  };
  for (CopiedOperand &copied : plan_.copied)
    add(copied.load.getType(), plan_.rings[copied.ring].isOfProgram ? 2 : schedule_.getStages());
  for (const StagedOperand &staged : plan_.staged)
    add(staged.value.getType(), 1);
  kernel_.walk([&](StoreOp store) { add(store.getValue().getType(), 1); });
  return bytes <= facts_.sharedBytes ? 2 : 1;
}

void RoleBuilder::makeRooms() {
  SmallVector<Value> rooms;
  for (CopiedOperand &copied : plan_.copied) {
    auto type = cast<RankedTensorType>(copied.load.getType());
    rooms.push_back(makeRoom(type, copied.fast, slotsOf(plan_.rings[copied.ring])));
    maps_.push_back(makeTensorMap(b_, loc_, copied.access, copied.load.getBuffer(), plan_.roundsSingles));
  }
  for (auto [load, i] : plan_.copyOf)
    rooms_.room[load] = rooms[i];
  for (const StagedOperand &staged : plan_.staged)
    rooms_.room[staged.value.getDefiningOp()] =
        makeRoom(cast<RankedTensorType>(staged.value.getType()), staged.fast, /*slots=*/1);
  if (plan_.splitsSingles) {
    auto left = cast<RankedTensorType>(plan_.dots.front().getLhs().getType());
    rooms_.rewritten = makeRoom(left, left.getRank() - 1, roomsOfRewritten);
  }
}

void RoleBuilder::makeRings() {
  auto make = [&](int64_t slots) -> Value {
    return RingAllocOp::create(b_, loc_, RingType::get(b_.getContext(), slots, schedule_.getWarps()), 0);
  };
  for (const PlannedRing &ring : plan_.rings)
    rooms_.rings.push_back(make(slotsOf(ring)));
  if (schedule_.getGroups() > 1)
    turns_ = make(schedule_.getGroups());
}

//===- The roles --------------------------------------------------------------------------------------------------===//

void RoleBuilder::when(Value condition, llvm::function_ref<void()> build) {
  auto branch = scf::IfOp::create(b_, loc_, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  build();
}

/// Writes the operands that every step reads and the engine cannot bring. Other warps may still read those of the
/// program before, so there is a barrier in front.
void RoleBuilder::stage(const IRMapping &now) {
  if (plan_.staged.empty())
    return;
  Value zero = constant(0);
  BarrierOp::create(b_, loc_);
  for (const StagedOperand &staged : plan_.staged)
    SharedWriteOp::create(b_, loc_, now.lookup(staged.value), rooms_.room.at(staged.value.getDefiningOp()), zero);
  BarrierOp::create(b_, loc_);
}

/// Emits the loop of a group that multiplies, with its waits. Returns the number of steps after it.
Value RoleBuilder::multiply(IRMapping &now, Place at) {
  if (turns_) {
    Value isLater = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, at.program, constant(0));
    Value before = arith::SubIOp::create(b_, loc_, at.program, constant(1));
    when(isLater, [&] { RingDrainOp::create(b_, loc_, turns_, before); });
  }
  stage(now);
  rooms_.slots.clear();
  for (auto [planned, ring] : llvm::zip(plan_.rings, rooms_.rings))
    rooms_.slots.push_back(planned.isOfProgram ? RingWaitOp::create(b_, loc_, ring, at.program) : Value());
  return emitMultiplyLoop(b_, plan_, rooms_, now, at.step, [&] {
    if (turns_)
      RingReleaseOp::create(b_, loc_, turns_, at.program);
    for (auto [planned, ring] : llvm::zip(plan_.rings, rooms_.rings))
      if (planned.isOfProgram)
        RingReleaseOp::create(b_, loc_, ring, at.program);
  });
}

void RoleBuilder::startCopy(const CopiedOperand &copied, Value map, const IRMapping &now, Value slot, Value ring) {
  SmallVector<Value> offsets;
  LoadOp load = copied.load;
  for (Value offset : load.getOffsets())
    offsets.push_back(now.lookupOrDefault(offset));
  SmallVector<Value> coordinates = boxCoordinates(b_, loc_, copied.access, offsets, kernel_.getNumSymbols());
  SmallVector<Value> pixels;
  if (const auto &box = copied.access.pixels)
    pixels = valuesOf(b_, loc_, box->offsets, offsets, kernel_.getNumSymbols());
  BulkCopyOp::create(b_, loc_, map, coordinates, pixels, rooms_.room.at(load), slot, ring);
}

/// Starts the copies into `slot` of those of one ring's operands for which `which` holds.
void RoleBuilder::copyOperands(size_t ring, const IRMapping &now, Value slot,
                               llvm::function_ref<bool(const CopiedOperand &)> which) {
  for (auto [copied, map] : llvm::zip(plan_.copied, maps_))
    if (copied.ring == ring && which(copied))
      startCopy(copied, map, now, slot, rooms_.rings[ring]);
}

Value RoleBuilder::acquire(size_t ring, Value step) {
  int64_t bytes = 0;
  for (const CopiedOperand &copied : plan_.copiedInto(ring))
    bytes += cast<SharedType>(rooms_.room.at(copied.load).getType()).getSlotBytes();
  return RingAcquireOp::create(b_, loc_, rooms_.rings[ring], step, bytes);
}

/// Fills the slot of `step` in one ring.
void RoleBuilder::copyInto(size_t ring, const IRMapping &now, Value step) {
  auto fill = [&] { copyOperands(ring, now, acquire(ring, step), [](const CopiedOperand &) { return true; }); };
  if (!earlySteps_)
    return fill();
  // Step and slot have the same number in the early steps, of which there are at most as many as slots.
  when(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::uge, step, earlySteps_), fill);
  when(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, step, earlySteps_),
       [&] { copyOperands(ring, now, step, std::not_fn(isOfConstant)); });
}

/// Clones the index arithmetic of a step of the loop at `position`, and returns the mapping to the clones.
IRMapping RoleBuilder::inLoop(const IRMapping &now, Value position) {
  IRMapping inside = now;
  inside.map(plan_.loop.getInductionVar(), position);
  for (Operation &op : plan_.loop.getBody()->without_terminator())
    if (isIndexArithmetic(op))
      b_.clone(op, inside);
  return inside;
}

/// Whether constants are copied before the wait. That pays only where other operands have to wait: if none has, copying
/// constants first would delay them. The block must be persistent, with steps counted through all programs, so that
/// the first slots belong to its first program.
bool RoleBuilder::hasConstantsFirst() const {
  auto isOfAwaited = [](const CopiedOperand &copied) { return isAwaited(LoadOp(copied.load).getBuffer()); };
  return facts_.constantsFirst && isPersistent_ && plan_.carriesSums && llvm::any_of(plan_.copied, isOfConstant) &&
         llvm::any_of(plan_.copied, isOfAwaited);
}

/// Copies the constants of the first slots, for program `first` if it is less than `end`, then waits for the kernels
/// before this one.
void RoleBuilder::copyConstants(Value first, Value end) {
  int64_t bytes = 0;
  for (const CopiedOperand &copied : plan_.copiedInto(0))
    if (isOfConstant(copied))
      bytes += cast<SharedType>(rooms_.room.at(copied.load).getType()).getSlotBytes();
  Value slots = constant(std::clamp<int64_t>(mostEarlyBytes / bytes, 1, schedule_.getStages()));
  earlySteps_ = arith::MinUIOp::create(b_, loc_, slots, tripCount(b_, plan_.loop));
  when(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, first, end), [&] {
    fillProgram(first, /*stores=*/false, [&](IRMapping &now) {
      auto loop = scf::ForOp::create(b_, loc_, constant(0), earlySteps_, constant(1));
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(loop.getBody());
      Value step = loop.getInductionVar();
      Value distance = arith::MulIOp::create(b_, loc_, step, now.lookupOrDefault(plan_.loop.getStep()));
      IRMapping inside = inLoop(now, plus(now.lookupOrDefault(plan_.loop.getLowerBound()), distance));
      copyOperands(/*ring=*/0, inside, acquire(/*ring=*/0, step), isOfConstant);
      return Value();
    });
  });
  AwaitKernelsOp::create(b_, loc_);
}

/// Emits the loop of the thread that copies. Returns the number of steps after it.
Value RoleBuilder::copy(IRMapping &now, Place at) {
  for (auto [i, ring] : llvm::enumerate(plan_.rings))
    if (ring.isOfProgram)
      copyInto(i, now, at.program);
  auto bound = [&](Value value) { return now.lookupOrDefault(value); };
  scf::ForOp source = plan_.loop;
  auto loop = scf::ForOp::create(b_, loc_, bound(source.getLowerBound()), bound(source.getUpperBound()),
                                 bound(source.getStep()), at.step);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  IRMapping inside = inLoop(now, loop.getInductionVar());
  Value step = loop.getRegionIterArgs()[0];
  for (auto [i, ring] : llvm::enumerate(plan_.rings))
    if (!ring.isOfProgram)
      copyInto(i, inside, step);
  scf::YieldOp::create(b_, loc_, plus(step, constant(1)));
  return loop.getResult(0);
}

/// Emits program `number` in one role: everything up to the loop, the loop by `fillLoop`, and the rest if the role
/// `stores`. Returns what `fillLoop` returns.
Value RoleBuilder::fillProgram(Value number, bool stores, llvm::function_ref<Value(IRMapping &)> fillLoop) {
  IRMapping now;
  Value after;
  for (Operation &op : kernel_.getBody().front().without_terminator()) {
    if (isa<SharedAllocOp, TensorMapOp, RingAllocOp, WorkspaceOp, RolesOp>(op))
      continue;
    if (&op == plan_.loop) {
      after = fillLoop(now);
      if (!stores)
        break;
    } else if (isa<ProgramIdOp>(op)) {
      now.map(op.getResult(0), number);
    } else if (!plan_.isCopied(&op) && (stores || isIndexArithmetic(op))) {
      b_.clone(op, now);
    }
  }
  return after;
}

/// The number of the program that is taken as number `index`: of every second round of all blocks, from the first round
/// on, the programs are taken backwards.
Value RoleBuilder::thereAndBack(Value index, int64_t programs) {
  AffineExpr d0 = b_.getAffineDimExpr(0), round = d0.floorDiv(blocks_), isOdd = round % 2;
  auto evaluate = [&](AffineExpr expr) -> Value {
    return SizeOp::create(b_, loc_, AffineMap::get(1, kernel_.getNumSymbols(), expr), ValueRange{index});
  };
  // The last round may have fewer programs than there are blocks. What is not wanted is made negative.
  Value whole = evaluate((round * 2 + 1) * blocks_ - 1 - d0 - isOdd * 2 * programs),
        last = evaluate(round * blocks_ + programs - 1 - d0 - isOdd * 2 * programs),
        forwards = evaluate(d0 + (isOdd - 1) * 2 * programs);
  return arith::MaxSIOp::create(b_, loc_, arith::MinSIOp::create(b_, loc_, whole, last), forwards);
}

/// Emits the body of one role. Of the programs that its block takes, group number `group` takes every `groups`-th.
void RoleBuilder::fillBody(Region &body, int64_t group, bool stores) {
  int64_t groups = stores ? schedule_.getGroups() : 1;
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&body.emplaceBlock());
  Value block = ProgramIdOp::create(b_, loc_, 0);
  AffineExpr programs = kernel_.getGrid().getResult(0);
  if (!isPersistent_) {
    Value zero = constant(0);
    Place at{zero, zero};
    fillProgram(block, stores, [&](IRMapping &now) { return stores ? multiply(now, at) : copy(now, at); });
    return;
  }
  Value first = plus(block, constant(group * blocks_));
  auto number = dyn_cast<AffineConstantExpr>(programs);
  auto count = AffineMap::get(0, kernel_.getNumSymbols(), programs);
  Value end = number ? constant(number.getValue()) : SizeOp::create(b_, loc_, count, ValueRange()).getResult();
  if (!stores && hasConstantsFirst())
    copyConstants(first, end);
  // The bounds of the loop are constants or sizes of the kernel, so each role can compute the trip count by itself.
  auto skipped = [&](int64_t times) { // steps of `times` programs that other groups take
    return arith::MulIOp::create(b_, loc_, tripCount(b_, plan_.loop), constant(times)).getResult();
  };
  SmallVector<Value> inits{group ? skipped(group) : constant(0)};
  bool counts = stores ? countsPrograms() : countsPrograms() && !turns_;
  if (counts)
    inits.push_back(constant(group));
  auto loop = scf::ForOp::create(b_, loc_, first, end, constant(groups * blocks_), inits);
  b_.setInsertionPointToStart(loop.getBody());
  Place at{loop.getRegionIterArgs()[0], counts ? loop.getRegionIterArgs()[1] : Value()};
  bool areSorted = number && !isEquallyLong(plan_.loop);
  Value program = loop.getInductionVar();
  SmallVector<Value> next{fillProgram(areSorted ? thereAndBack(program, number.getValue()) : program, stores,
                                      [&](IRMapping &now) { return stores ? multiply(now, at) : copy(now, at); })};
  if (groups > 1)
    next.front() = plus(next.front(), skipped(groups - 1));
  if (counts)
    next.push_back(plus(at.program, constant(groups)));
  scf::YieldOp::create(b_, loc_, next);
}

void RoleBuilder::run() {
  auto extent = dyn_cast<AffineConstantExpr>(kernel_.getGrid().getResult(0));
  int64_t most = extent ? extent.getValue() : schedule_.getMostTiles() * schedule_.getParts(); // 0: not known
  blocks_ = most ? std::min(most, facts_.units) : facts_.units;
  if (most && kernel_.getClusterBlocks() > 1) // a block of a cluster takes one program (tile.part_sum)
    blocks_ = most;
  slotsOfPrograms_ = countSlotsOfPrograms();
  b_.setInsertionPointToStart(&kernel_.getBody().front());
  makeRooms();
  makeRings();
  int64_t groups = schedule_.getGroups(), warps = schedule_.getWarps();
  SmallVector<int64_t> warpsOf(groups, warps), registers(groups, budget_.toMultiply);
  SmallVector<bool> elected(groups, false);
  registers.push_back(budget_.toCopy);
  warpsOf.push_back(warpsToCopy), elected.push_back(true);

  b_.setInsertionPoint(kernel_.getBody().front().getTerminator());
  auto roles = RolesOp::create(b_, loc_, warpsOf, registers, elected, groups + 1);
  for (int64_t group = 0; group < groups; ++group)
    fillBody(roles.getBodies()[group], group, /*stores=*/true);
  fillBody(roles.getBodies().back(), 0, /*stores=*/false);
  AffineExpr one = b_.getAffineConstantExpr(1);
  if (isPersistent_) {
    if (schedule_.getMostTiles()) // the plan checks that there are no more
      kernel_->setAttr(programsAttr, AffineMapAttr::get(kernel_.getGrid()));
    kernel_.setGrid(
        AffineMap::get(0, kernel_.getNumSymbols(), {b_.getAffineConstantExpr(blocks_), one, one}, b_.getContext()));
  }
}

/// Erases the operations of which the roles have copies.
static void eraseOriginals(KernelOp kernel) {
  SmallVector<Operation *> originals;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!isa<SharedAllocOp, TensorMapOp, RingAllocOp, WorkspaceOp, RolesOp>(op))
      originals.push_back(&op);
  for (Operation *op : llvm::reverse(originals))
    if (op->use_empty())
      op->erase();
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

bool tilewright::tile::assignRoles(KernelOp kernel, const PlaceFacts &facts) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  if (!schedule || !schedule.getGroups() || !facts.copiesBulk)
    return false;
  std::string why;
  scf::ForOp made = loopOfOneStep(kernel);
  std::optional<RolePlan> plan = planRoles(kernel, why);
  if (!plan) {
    IRRewriter rewriter(kernel.getContext());
    if (made && failed(made.promoteIfSingleIteration(rewriter)))
      llvm_unreachable("a loop of one step has one step");
    kernel.emitRemark() << "its copies are started by the warps that multiply because " << why;
    return false;
  }
  RoleBudget budget = budgetOf(schedule, *plan);
  loadAhead(*plan, budget.toMultiply ? budget.toMultiply : mostRegisters);
  RoleBuilder(kernel, facts, std::move(*plan), budget).run();
  eraseOriginals(kernel);
  return true;
}
