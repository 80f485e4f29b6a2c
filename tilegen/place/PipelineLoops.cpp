// SPDX-License-Identifier: Apache-2.0
// Overlaps loading with multiplying, in loops around tile.dot.
//
//   for %k {                          copies for steps 0 .. stages-2, each a group
//     %a = tile.load A[%k]            %next = tile.load B[first]
//     %b = tile.load B[%k]            for %k (%raw = %next, %slot = 0) {
//     tile.shared_write %a, %sa         tile.shared_write prologue(%raw), %sb[%slot]
//     tile.shared_write %b', %sb        tile.copy_wait stages-2 ; tile.barrier
//     tile.barrier                ->    tile.shared_copy A[%k + stages-1 steps] into %sa[%slot - 1] ; tile.copy_commit
//     tile.dot                          %next = tile.load B[%k + 1 step]
//     tile.barrier                      tile.dot of slot %slot
//   }                                 }
//
// An operand that is a plain load is copied asynchronously where the target can (A above). Any other operand (B: one
// that is computed, or whose accesses are narrower than a copy may be) is loaded into registers one step ahead; its
// arithmetic happens when it is written to shared memory. One barrier a step is enough: a slot is overwritten only in a
// step whose barrier comes after every thread's last read of that slot.
//
// Where a kernel may start before the kernels that it reads from end, copies of constants for the first steps, and
// loads of constants into registers, come before the wait for those kernels. The other copies of these steps follow;
// they are committed as one group with the earlier ones:
//
//   tile.shared_copy B[first steps] ; tile.await_kernels ; tile.shared_copy A[first] ; tile.copy_commit ; ...
//
// Where the instruction reads shared memory by itself, a step's products continue while the next step starts: the loop
// waits for the products of the step before, and the code behind the loop for the last ones. A slot is then free one
// step later, so copies run one step less ahead.
#include "tilegen/place/AccessFacts.h"
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/Place.h"

#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
class LoopPipeline {
public:
  LoopPipeline(scf::ForOp loop, int64_t slots, const PlaceFacts &facts)
      : loop_(loop), slots_(slots), facts_(facts), b_(loop), loc_(loop.getLoc()) {}
  bool fits();
  void run();

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  bool overlapsProducts();
  Value ahead(Value position, int64_t steps);
  void startCopies(SmallVectorImpl<Value> &firstRaw);
  bool readsConstantsFirst();
  int64_t readConstants(SmallVectorImpl<Value> &firstRaw);
  Operation *cloneAt(Operation *op, IRMapping &at);
  using Which = llvm::function_ref<bool(SharedWriteOp)>;
  void copyInto(Value slot, Value position, Which which);
  void copyStage(int64_t stage, Which which);
  SmallVector<Value> loadRaw(Value position);
  void cloneBody(IRMapping &now, Value slot);
  /// Constants with which every step computes the numbers of slots. They are created before the loop.
  struct StepConstants {
    Value lastSlot, one, zero, lead, behind;
  };
  void makeRoom();
  Value slotOfWritten(Value slot);
  bool isFilledHere(Value room);
  void copyAhead(Value position, Value slot, Value lead, Value behind);
  void yieldStep(const IRMapping &now, ArrayRef<Value> nextRaw, Value slot, const StepConstants &constants);
  void emitStep(scf::ForOp piped, const StepConstants &constants);

  scf::ForOp loop_;
  int64_t slots_;
  const PlaceFacts &facts_;
  OpBuilder b_;
  Location loc_;
  SmallVector<SharedWriteOp> copied_, written_; // asynchronously, and through registers
  SmallVector<LoadOp> raw_;                     // loads from which the written operands are computed
  Value last_;                                  // the induction variable in the last step
  int64_t lead_ = 0;                            // steps that copies are ahead
  int64_t slotsOfWritten_ = 0;
  bool overlapped_ = false; // products go on while the next step starts
};
} // namespace

//===- What can be pipelined --------------------------------------------------------------------------------------===//

/// Can this load be asynchronous copies? They move 4, 8 or 16 bytes along the rows of shared memory, and the elements
/// that one copy moves must be all live or all dead.
static bool copiesWell(LoadOp load, unsigned fast) {
  Access access = Access::of(load);
  Layout layout = layoutOf(load.getType());
  TileShape shape(access.tile.getShape());
  if (layout.reg.empty())
    return false;
  unsigned dim = shape.coordinate(layout.reg[0], shape.rank() - 1) ? shape.rank() - 1 : shape.rank() - 2;
  int64_t bytes = llvm::divideCeil(access.tile.getElementTypeBitWidth(), 8),
          width = vectorWidth(access, dim, 16 / bytes);
  return dim == fast && width * bytes >= 4 && !access.tile.getElementType().isInteger(1) &&
         isLiveTogether(access, dim, width);
}

static void collectLoads(Value value, scf::ForOp loop, SetVector<LoadOp> &loads) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return;
  if (auto load = dyn_cast<LoadOp>(op); load && load.getIndices().empty()) {
    loads.insert(load);
    return;
  }
  for (Value operand : op->getOperands())
    collectLoads(operand, loop, loads);
}

/// Can the loop be a pipeline? It has more than one step, and nothing in it has side effects but loads and shared
/// memory. Sorts the writes to shared memory into those that become copies and those that go through registers.
bool LoopPipeline::fits() {
  SetVector<LoadOp> loads;
  for (Operation &op : loop_.getBody()->without_terminator()) {
    if (auto write = dyn_cast<SharedWriteOp>(op)) {
      LoadOp plain = plainLoad(write.getValue());
      bool copied = plain && facts_.copiesAsync && copiesWell(plain, write.getShared().getType().getFast());
      (copied ? copied_ : written_).push_back(write);
      if (!copied)
        collectLoads(write.getValue(), loop_, loads);
    } else if (!isa<LoadOp, BarrierOp, SharedReadOp, DotWaitOp>(op) && !isMemoryEffectFree(&op) &&
               !(op.getNumRegions() && isPartOfStep(&op))) {
      return false;
    }
  }
  raw_ = loads.takeVector();
  auto lower = getConstantIntValue(loop_.getLowerBound()), upper = getConstantIntValue(loop_.getUpperBound()),
       step = getConstantIntValue(loop_.getStep());
  bool several = !lower || !upper || !step || *upper - *lower > *step;
  return several && !(copied_.empty() && written_.empty());
}

/// May products continue while the next step starts? There must be slots enough, and the loop may carry nothing but
/// their sums, each used by the next step's products alone.
bool LoopPipeline::overlapsProducts() {
  // One slot that this step's products read, one that the products of the step before may still read, one that is ready
  // for the next step, and one that is being filled.
  constexpr int64_t slotsNeeded = 4;
  return slots_ >= slotsNeeded && llvm::all_of(loop_.getBody()->getTerminator()->getOperands(), [](Value carried) {
           return carried.getDefiningOp<DotWaitOp>() && carried.hasOneUse();
         });
}

//===- Positions --------------------------------------------------------------------------------------------------===//

/// The position `steps` steps after `position`, which may lie behind the end.
Value LoopPipeline::ahead(Value position, int64_t steps) {
  Value distance = arith::MulIOp::create(b_, loc_, loop_.getStep(), constant(steps));
  if (auto step = getConstantIntValue(loop_.getStep()))
    distance = constant(*step * steps);
  return arith::AddIOp::create(b_, loc_, position, distance);
}

//===- Rewriting --------------------------------------------------------------------------------------------------===//

/// A copy of `op` and of the index arithmetic in the loop that it needs.
Operation *LoopPipeline::cloneAt(Operation *op, IRMapping &at) {
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && producer->getBlock() == loop_.getBody() && !at.contains(operand))
      cloneAt(producer, at);
  return b_.clone(*op, at);
}

void LoopPipeline::copyInto(Value slot, Value position, Which which) {
  IRMapping at;
  at.map(loop_.getInductionVar(), position);
  for (SharedWriteOp write : copied_) {
    if (!which(write))
      continue;
    auto load = write.getValue().getDefiningOp<LoadOp>();
    SmallVector<Value> offsets;
    for (Value offset : load.getOffsets()) {
      if (Operation *producer = offset.getDefiningOp();
          producer && producer->getBlock() == loop_.getBody() && !at.contains(offset))
        cloneAt(producer, at);
      offsets.push_back(at.lookupOrDefault(offset));
    }
    SharedCopyOp::create(b_, loc_, load.getBuffer(), offsets, load.getBounds(), load.getMap(), load.getGuard(),
                         write.getShared(), slot, toAttr(b_.getContext(), layoutOf(load.getType())));
  }
}

SmallVector<Value> LoopPipeline::loadRaw(Value position) {
  IRMapping at;
  at.map(loop_.getInductionVar(), position);
  SmallVector<Value> values;
  for (LoadOp load : raw_)
    values.push_back(cloneAt(load, at)->getResult(0));
  return values;
}

/// Starts the copies of step number `stage`, if the loop has that many steps.
void LoopPipeline::copyStage(int64_t stage, Which which) {
  Value position = stage ? ahead(loop_.getLowerBound(), stage) : loop_.getLowerBound();
  Value exists = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, position, loop_.getUpperBound());
  auto when = scf::IfOp::create(b_, loc_, exists, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(when.thenBlock());
  copyInto(constant(stage), arith::MinSIOp::create(b_, loc_, position, last_), which);
}

static LoadOp copiedLoad(SharedWriteOp write) { return write.getValue().getDefiningOp<LoadOp>(); }
static bool isOfConstant(SharedWriteOp write) { return isConstant(copiedLoad(write).getBuffer()); }

/// Should constants be read before the wait for the kernels before this one? Only if other copies need that wait, and
/// if nothing in front of the loop does.
bool LoopPipeline::readsConstantsFirst() {
  auto isOfAwaited = [](SharedWriteOp write) { return isAwaited(copiedLoad(write).getBuffer()); };
  bool areRawConstants = llvm::all_of(raw_, [](LoadOp load) { return isConstant(load.getBuffer()); });
  if (!facts_.constantsFirst || !isa<KernelOp>(loop_->getParentOp()) || !areRawConstants ||
      (raw_.empty() && llvm::none_of(copied_, isOfConstant)) || llvm::none_of(copied_, isOfAwaited))
    return false;
  for (Operation *op = loop_->getPrevNode(); op; op = op->getPrevNode()) {
    auto load = dyn_cast<LoadOp>(op);
    bool isHarmless = isa<SharedAllocOp, WorkspaceOp>(op) || isMemoryEffectFree(op);
    if (!isHarmless && !(load && isConstant(load.getBuffer())))
      return false;
  }
  return true;
}

/// Where that is so, starts the copies of constants of the first steps, loads the constants that go through registers,
/// and waits. Returns for how many steps constants are copied.
int64_t LoopPipeline::readConstants(SmallVectorImpl<Value> &firstRaw) {
  if (!readsConstantsFirst())
    return 0;
  firstRaw = loadRaw(loop_.getLowerBound());
  int64_t bytes = 0, steps = 0;
  for (SharedWriteOp write : copied_)
    if (isOfConstant(write))
      bytes += write.getShared().getType().getSlotBytes();
  if (bytes > 0)
    steps = std::min(mostEarlyBytes / bytes, lead_);
  for (int64_t stage = 0; stage < steps; ++stage)
    copyStage(stage, isOfConstant);
  if (steps || !firstRaw.empty())
    AwaitKernelsOp::create(b_, loc_);
  return steps;
}

void LoopPipeline::startCopies(SmallVectorImpl<Value> &firstRaw) {
  if (copied_.empty())
    return;
  int64_t early = readConstants(firstRaw);
  for (int64_t stage = 0; stage < lead_; ++stage) {
    copyStage(stage, [&](SharedWriteOp write) { return stage >= early || !isOfConstant(write); });
    CopyCommitOp::create(b_, loc_);
  }
}

/// Does the loop fill this allocation of shared memory in every step? Others hold operands that all steps read.
bool LoopPipeline::isFilledHere(Value room) {
  return llvm::any_of(loop_.getBody()->getOps<SharedWriteOp>(),
                      [&](SharedWriteOp write) { return write.getShared() == room; });
}

/// The work of this step: everything in the old loop's body except barriers, writes to shared memory, and the loads
/// that the step before has done.
void LoopPipeline::cloneBody(IRMapping &now, Value slot) {
  for (Operation &op : loop_.getBody()->without_terminator()) {
    if (isa<SharedWriteOp, BarrierOp>(op) || llvm::is_contained(raw_, dyn_cast<LoadOp>(op)) ||
        now.contains(op.getNumResults() ? op.getResult(0) : Value()))
      continue;
    if (auto wait = dyn_cast<DotWaitOp>(op); wait && overlapped_) {
      for (auto [accumulator, result] : llvm::zip(wait.getAccumulators(), wait.getResults()))
        now.map(result, now.lookup(accumulator));
      continue;
    }
    if (auto read = dyn_cast<SharedReadOp>(op); read && isFilledHere(read.getShared())) {
      bool isWritten =
          llvm::any_of(written_, [&](SharedWriteOp write) { return write.getShared() == read.getShared(); });
      now.map(read.getResult(),
              SharedReadOp::create(b_, loc_, read.getType(), read.getShared(), isWritten ? slotOfWritten(slot) : slot));
      continue;
    }
    b_.clone(op, now);
  }
}

/// Decides how many steps copies run ahead, and gives each operand its slots.
void LoopPipeline::makeRoom() {
  overlapped_ = overlapsProducts();
  lead_ = overlapped_ ? slots_ - 2 : slots_ - 1;
  // What goes through registers is written just before it is read: one slot for this step, one that others still read.
  slotsOfWritten_ = overlapped_ || slots_ % 2 ? slots_ : 2;
  for (auto [writes, slots] : {std::pair(&copied_, slots_), std::pair(&written_, slotsOfWritten_)})
    for (SharedWriteOp write : *writes) {
      SharedType one = write.getShared().getType();
      write.getShared().setType(SharedType::get(b_.getContext(), one.getTile(), one.getFast(), slots));
    }
}

Value LoopPipeline::slotOfWritten(Value slot) {
  return slotsOfWritten_ == slots_ ? slot : arith::RemUIOp::create(b_, loc_, slot, constant(slotsOfWritten_));
}

/// Starts the copies of the step that is `lead_` steps ahead, into the slot that the steps before this one have read.
void LoopPipeline::copyAhead(Value position, Value slot, Value lead, Value behind) {
  Value next = ahead(position, lead_);
  Value exists = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, next, loop_.getUpperBound());
  Value wraps = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, slot, behind);
  Value before = arith::SubIOp::create(b_, loc_, slot, behind);
  before = arith::SelectOp::create(b_, loc_, wraps, arith::AddIOp::create(b_, loc_, slot, lead), before);
  auto when = scf::IfOp::create(b_, loc_, exists, /*withElse=*/false);
  b_.setInsertionPointToStart(when.thenBlock());
  copyInto(before, arith::MinSIOp::create(b_, loc_, next, last_), [](SharedWriteOp) { return true; });
  b_.setInsertionPointAfter(when);
  CopyCommitOp::create(b_, loc_);
}

/// What the loop yields: its own values, what is loaded for the next step, and the number of the next slot.
void LoopPipeline::yieldStep(const IRMapping &now, ArrayRef<Value> nextRaw, Value slot,
                             const StepConstants &constants) {
  SmallVector<Value> yielded;
  for (Value value : loop_.getBody()->getTerminator()->getOperands())
    yielded.push_back(now.lookupOrDefault(value));
  llvm::append_range(yielded, nextRaw);
  Value isLast = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, slot, constants.lastSlot);
  yielded.push_back(
      arith::SelectOp::create(b_, loc_, isLast, constants.zero, arith::AddIOp::create(b_, loc_, slot, constants.one)));
  scf::YieldOp::create(b_, loc_, yielded);
}

/// One step, in the body of the new loop. It carries the old loop's tiles, what was loaded for this step, and the slot.
void LoopPipeline::emitStep(scf::ForOp piped, const StepConstants &constants) {
  unsigned carried = loop_.getInitArgs().size();
  Value position = piped.getInductionVar(), slot = piped.getRegionIterArgs().back();
  IRMapping now;
  now.map(loop_.getInductionVar(), position);
  now.map(loop_.getRegionIterArgs(), piped.getRegionIterArgs().take_front(carried));
  for (auto [load, raw] : llvm::zip(raw_, piped.getRegionIterArgs().drop_front(carried)))
    now.map(load.getResult(), raw);
  Value slotWritten = written_.empty() ? slot : slotOfWritten(slot);
  for (SharedWriteOp write : written_)
    cloneAt(write, now)->setOperand(2, slotWritten);
  if (!copied_.empty())
    CopyWaitOp::create(b_, loc_, lead_ - 1);
  BarrierOp::create(b_, loc_);
  if (!copied_.empty())
    copyAhead(position, slot, constants.lead, constants.behind);
  SmallVector<Value> nextRaw =
      raw_.empty() ? SmallVector<Value>() : loadRaw(arith::MinSIOp::create(b_, loc_, ahead(position, 1), last_));
  cloneBody(now, slot);
  if (overlapped_) {
    auto dots = loop_.getBody()->getOps<DotOp>();
    DotWaitOp::create(b_, loc_, ValueRange(), std::distance(dots.begin(), dots.end()));
  }
  yieldStep(now, nextRaw, slot, constants);
}

void LoopPipeline::run() {
  makeRoom();
  last_ = lastPosition(b_, loop_);
  SmallVector<Value> firstRaw;
  startCopies(firstRaw);
  if (firstRaw.empty())
    firstRaw = loadRaw(loop_.getLowerBound());
  SmallVector<Value> inits(loop_.getInitArgs());
  llvm::append_range(inits, firstRaw);
  inits.push_back(constant(0));
  StepConstants constants{constant(slots_ - 1), constant(1), constant(0), constant(lead_), constant(slots_ - lead_)};
  auto piped = scf::ForOp::create(b_, loc_, loop_.getLowerBound(), loop_.getUpperBound(), loop_.getStep(), inits);
  b_.setInsertionPointToStart(piped.getBody());
  emitStep(piped, constants);
  SmallVector<Value> results(piped.getResults().take_front(loop_.getInitArgs().size()));
  if (overlapped_) {
    b_.setInsertionPointAfter(piped);
    for (Value &result : results)
      result = DotWaitOp::create(b_, loc_, result, 0).getResult(0);
  }
  loop_.replaceAllUsesWith(results);
  loop_.erase();
}

void tilewright::tile::pipelineLoops(KernelOp kernel, const PlaceFacts &facts) {
  int64_t slots = std::max<int64_t>(kernel.getSchedule() ? kernel.getSchedule()->getStages() : 1, 2);
  if (!facts.copiesAsync)
    slots = 2; // what is loaded ahead waits in registers
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop.getBody()->getOps<DotOp>().empty())
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    LoopPipeline pipeline(loop, slots, facts);
    if (pipeline.fits())
      pipeline.run();
  }
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}
