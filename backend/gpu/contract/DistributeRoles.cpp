// SPDX-License-Identifier: Apache-2.0
// Roles, rings and bulk copies, in the verbs of a copy engine.
#include "backend/gpu/KernelDistributor.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- Rings ------------------------------------------------------------------------------------------------------===//

namespace {
constexpr int64_t barrierBytes = 8;
} // namespace

Value KernelDistributor::word(Value index) { return arith::IndexCastOp::create(b_, b_.getI32Type(), scalar(index)); }

KernelDistributor::RingPosition KernelDistributor::positionOf(Value ring, Value step) {
  return positionOf(cast<RingType>(ring.getType()).getSlots(), step);
}

/// If `step` is a value plus or minus one: that value, and 1 or -1. Else null and 0.
static std::pair<Value, int64_t> neighbourOf(Value step) {
  Operation *op = step.getDefiningOp();
  if (!op || !isa<arith::AddIOp, arith::SubIOp>(op) || !isOneInteger(op->getOperand(1)))
    return {};
  return {op->getOperand(0), isa<arith::AddIOp>(op) ? 1 : -1};
}

/// The slot of a step, and how often it was used before. Loops that count steps carry both (stepCounters), because a
/// division in each step would lengthen the dependence chain from one product to the next.
KernelDistributor::RingPosition KernelDistributor::positionOf(int64_t slots, Value step) {
  if (auto known = positions_.find({step, slots}); known != positions_.end())
    return known->second;
  auto [other, distance] = neighbourOf(step);
  if (auto known = positions_.find({other, slots}); distance && known != positions_.end())
    return distance > 0 ? after(known->second, slots) : before(known->second, slots);
  Value number = word(step);
  return {arith::RemUIOp::create(b_, number, i32(slots)), arith::DivUIOp::create(b_, number, i32(slots))};
}

KernelDistributor::RingPosition KernelDistributor::after(RingPosition position, int64_t slots) {
  Value next = arith::AddIOp::create(b_, position.slot, i32(1)),
        isOver = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, next, i32(slots)),
        more = arith::AddIOp::create(b_, position.uses, i32(1));
  return {arith::SelectOp::create(b_, isOver, i32(0), next), arith::SelectOp::create(b_, isOver, more, position.uses)};
}

KernelDistributor::RingPosition KernelDistributor::before(RingPosition position, int64_t slots) {
  Value isFirst = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, position.slot, i32(0)),
        less = arith::SubIOp::create(b_, position.slot, i32(1)),
        fewer = arith::SubIOp::create(b_, position.uses, i32(1));
  return {arith::SelectOp::create(b_, isFirst, i32(slots - 1), less),
          arith::SelectOp::create(b_, isFirst, fewer, position.uses)};
}

void KernelDistributor::notePositions(ArrayRef<StepCounter> counters, ValueRange counted, ValueRange words) {
  words = words.take_back(2 * counters.size());
  for (auto [i, counter] : llvm::enumerate(counters))
    positions_[{counted[counter.argument], counter.slots}] = {words[2 * i], words[2 * i + 1]};
}

/// The steps that `op` counts and whose ring positions it carries too. Rings whose number of slots is a power of two
/// need none: their division is a shift.
SmallVector<KernelDistributor::StepCounter> KernelDistributor::stepCounters(scf::ForOp op) {
  SmallVector<StepCounter> counters;
  for (auto [i, argument, yielded] :
       llvm::enumerate(op.getRegionIterArgs(), op.getBody()->getTerminator()->getOperands())) {
    if (neighbourOf(yielded) != std::pair<Value, int64_t>(argument, 1))
      continue;
    llvm::SmallSetVector<int64_t, 2> slots;
    auto note = [&, argument = Value(argument)](Value ring, Value step) {
      int64_t count = cast<RingType>(ring.getType()).getSlots();
      if ((step == argument || neighbourOf(step).first == argument) && !llvm::isPowerOf2_64(count))
        slots.insert(count);
    };
    op.walk([&](Operation *inner) {
      llvm::TypeSwitch<Operation *>(inner).Case<RingAcquireOp, RingWaitOp, RingReleaseOp, RingDrainOp>(
          [&](auto ring) { note(ring.getRing(), ring.getStep()); });
    });
    for (int64_t count : slots)
      counters.push_back({static_cast<unsigned>(i), count});
  }
  return counters;
}

Value KernelDistributor::ringBarrier(Value ring, Value slot, bool isEmpty) {
  Value base = scalar(ring), bytes = arith::MulIOp::create(b_, slot, i32(barrierBytes));
  if (isEmpty)
    bytes = arith::AddIOp::create(b_, bytes, i32(cast<RingType>(ring.getType()).getSlots() * barrierBytes));
  return LLVM::GEPOp::create(b_, base.getType(), b_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

/// The barriers of all rings are made in front of the first operation behind the last ring, so that one barrier of the
/// block suffices.
void KernelDistributor::lowerRingAlloc(RingAllocOp op) {
  Value address = LLVM::GEPOp::create(b_, shared_.getType(), b_.getI8Type(), shared_,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(op.getOffset())});
  scalars_.map(op.getResult(), address);
  auto rings = llvm::to_vector(op->getBlock()->getOps<RingAllocOp>());
  if (op == rings.back())
    makeRings(rings);
}

/// One thread makes all barriers: the instruction takes a warp's address, so of several threads ptxas makes a loop.
void KernelDistributor::makeRings(ArrayRef<RingAllocOp> rings) {
  CopyEngine &engine = *target_.copyEngine();
  Value isFirst = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, target_.threadId(b_), i32(0));
  auto branch = scf::IfOp::create(b_, isFirst, /*withElse=*/false);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    for (RingAllocOp ring : rings)
      for (int64_t slot = 0; slot < ring.getType().getSlots(); ++slot) {
        engine.makeBarrier(b_, ringBarrier(ring.getResult(), i32(slot), /*isEmpty=*/false), 1);
        engine.makeBarrier(b_, ringBarrier(ring.getResult(), i32(slot), /*isEmpty=*/true),
                           ring.getType().getReleases());
      }
    engine.publishBarriers(b_);
  }
  barrier();
}

void KernelDistributor::lowerRingAcquire(RingAcquireOp op) {
  auto [slot, uses] = positionOf(op.getRing(), op.getStep());
  // Before its first use a slot is empty, so the wait is for parity 1, which ends at once.
  Value parity = arith::AndIOp::create(b_, arith::AddIOp::create(b_, uses, i32(1)), i32(1));
  target_.copyEngine()->waitPhase(b_, ringBarrier(op.getRing(), slot, /*isEmpty=*/true), parity);
  target_.copyEngine()->expectBytes(b_, ringBarrier(op.getRing(), slot, /*isEmpty=*/false), op.getBytes());
  scalars_.map(op.getSlot(), arith::IndexCastOp::create(b_, b_.getIndexType(), slot));
}

void KernelDistributor::lowerRingWait(RingWaitOp op) {
  auto [slot, uses] = positionOf(op.getRing(), op.getStep());
  if (!faults_.dropRingWaits)
    target_.copyEngine()->waitPhase(b_, ringBarrier(op.getRing(), slot, /*isEmpty=*/false),
                                    arith::AndIOp::create(b_, uses, i32(1)));
  if (faults_.releaseEarly) {
    release(op.getRing(), op.getStep());
    target_.copyEngine()->pause(b_);
  }
  scalars_.map(op.getSlot(), arith::IndexCastOp::create(b_, b_.getIndexType(), slot));
}

void KernelDistributor::lowerRingDrain(RingDrainOp op) {
  auto [slot, uses] = positionOf(op.getRing(), op.getStep());
  target_.copyEngine()->waitPhase(b_, ringBarrier(op.getRing(), slot, /*isEmpty=*/true),
                                  arith::AndIOp::create(b_, uses, i32(1)));
}

/// Emits what `build` builds for the first lane of each warp only. It is not elected (CopyEngine): with stores by an
/// elected lane, products whose epilogue is a GELU took 1.01 to 1.07 times as long.
void KernelDistributor::byFirstLane(llvm::function_ref<void()> build) {
  Value isFirst = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, lane_, i32(0));
  auto branch = scf::IfOp::create(b_, isFirst, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  build();
}

/// One lane of each warp arrives at the slot's empty barrier.
void KernelDistributor::release(Value ring, Value step) {
  Value slot = positionOf(ring, step).slot;
  byFirstLane([&] { target_.copyEngine()->arrive(b_, ringBarrier(ring, slot, /*isEmpty=*/true)); });
}

/// With the fault, waiting for a slot has released it already. The turns of groups are a ring that nobody waits for.
void KernelDistributor::lowerRingRelease(RingReleaseOp op) {
  auto isWait = [](Operation *user) { return isa<RingWaitOp>(user); };
  if (!faults_.releaseEarly || llvm::none_of(op.getRing().getUsers(), isWait))
    release(op.getRing(), op.getStep());
}

//===- Bulk copies ------------------------------------------------------------------------------------------------===//

/// The blocks share the lines evenly, and the threads of a block take its share from the last one on: the first ones
/// make the barriers and prefetch the maps meanwhile. Each line of a thread has a branch, and nearly always there is
/// one: with a loop products of 5 to 30 us took 1.02 times as long.
void KernelDistributor::prefetchElements(TensorMapOp map) {
  int64_t stride = constantsOf(map.getStrides())->back(), start = constantsOf(map.getStart())->front(),
          blocks = constantsOf(kernel_.getGrid())->front(); // which the verifier demands
  int64_t bytes = map.getType().getElement().getIntOrFloatBitWidth() / 8, threads = *kernel_.getThreads(),
          linesOfRow = map.linesOfRow(map.getAhead()[0]), lines = linesOfRow * map.getAhead()[1],
          ofBlock = llvm::divideCeil(lines, blocks);
  auto wide = [&](Value word) { return arith::ExtUIOp::create(b_, b_.getI64Type(), word).getResult(); };
  auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b_, b_.getI64IntegerAttr(value)); };
  auto isLess = [&](Value word, int64_t end) -> Value {
    return arith::CmpIOp::create(b_, arith::CmpIPredicate::ult, word, i32(end));
  };
  Value base = scalar(map.getBuffer()), first = arith::MulIOp::create(b_, target_.blockId(b_, 0), i32(ofBlock));
  for (int64_t turn = 0; turn < ofBlock; turn += threads) {
    Value inBlock = arith::SubIOp::create(b_, i32(turn + threads - 1), target_.threadId(b_)),
          line = arith::AddIOp::create(b_, first, inBlock), asks = isLess(inBlock, ofBlock);
    if (lines < ofBlock * blocks)
      asks = arith::AndIOp::create(b_, asks, isLess(line, lines));
    auto branch = scf::IfOp::create(b_, asks, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    Value row = arith::DivUIOp::create(b_, line, i32(linesOfRow)),
          column = arith::RemUIOp::create(b_, line, i32(linesOfRow)),
          inRow = arith::MulIOp::create(b_, wide(column), constant(tensorMapRowBytes)),
          ofRow = arith::MulIOp::create(b_, wide(row), constant(stride * bytes)),
          offset = arith::AddIOp::create(b_, arith::AddIOp::create(b_, inRow, ofRow), constant(start * bytes));
    target_.copyEngine()->prefetchLine(
        b_, LLVM::GEPOp::create(b_, base.getType(), b_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset}));
  }
}

/// The maps are prefetched by the first thread of the second warp, while the first warp makes the barriers.
void KernelDistributor::prefetchMaps(ArrayRef<TensorMapOp> maps) {
  if (maps.empty())
    return;
  for (TensorMapOp map : maps)
    if (!map.getAhead().empty())
      prefetchElements(map);
  Value isChosen = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, target_.threadId(b_), i32(target_.lanes()));
  auto branch = scf::IfOp::create(b_, isChosen, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  for (TensorMapOp map : maps)
    target_.copyEngine()->prefetchMap(b_, scalar(map));
}

/// A tile whose rows are wider than a box is several panels, one behind the other.
void KernelDistributor::lowerBulkCopy(BulkCopyOp op) {
  SharedType shared = op.getShared().getType();
  int64_t width = op.getMap().getType().getBox()[0], row = shared.getTile().getDimSize(shared.getFast());
  int64_t panelBytes = shared.getSlotBytes() / (row / width);
  Value base = slotAddress(op.getShared(), op.getSlot()),
        full = ringBarrier(op.getRing(), word(op.getSlot()), /*isEmpty=*/false);
  auto words = [&](ValueRange values) { return llvm::map_to_vector(values, [&](Value value) { return word(value); }); };
  SmallVector<Value> coordinates = words(op.getCoordinates()), offsets = words(op.getOffsets());
  Value first = coordinates[0];
  auto map = op.getMap().getDefiningOp<TensorMapOp>();
  bool streamed = map && isStreamed(map.getBuffer());
  for (int64_t panel = 0; panel < row / width; ++panel) {
    Value to = LLVM::GEPOp::create(b_, base.getType(), b_.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(panel * panelBytes)});
    coordinates[0] = arith::AddIOp::create(b_, first, i32(panel * width));
    target_.copyEngine()->copyBox(b_, to, scalar(op.getMap()), coordinates, offsets, full, streamed);
  }
}

//===- Roles ------------------------------------------------------------------------------------------------------===//

/// Maps an index to the program that runs as number `index`: rows of tiles are taken in groups of `group`, and within a
/// group programs go down its rows before they take the next column. So neighbours in time share operands in the cache.
void KernelDistributor::lowerOrderedProgram(OrderedProgramOp op) {
  SmallVector<Value> sizes = symbols(b_.getI32Type());
  auto known = symbolFacts(kernel_);
  IndexEmitter emitter(b_, b_.getI32Type(), {}, sizes, {}, known);
  Value rows = emitter.emit(op.getRows().getResult(0)), columns = emitter.emit(op.getColumns().getResult(0)),
        index = word(op.getIndex()), most = i32(op.getGroup());
  Value programs = arith::MulIOp::create(b_, columns, most), group = arith::DivUIOp::create(b_, index, programs),
        within = arith::RemUIOp::create(b_, index, programs), firstRow = arith::MulIOp::create(b_, group, most),
        height = arith::MinUIOp::create(b_, arith::SubIOp::create(b_, rows, firstRow), most);
  // Hides the range of `height`: if LLVM sees that it is small, it divides in 16 bits, for which ptxas emits a call.
  if (kernel_.getNumSymbols())
    height = target_.opaque(b_, height);
  Value column = arith::DivUIOp::create(b_, within, height),
        row = arith::AddIOp::create(b_, firstRow, arith::RemUIOp::create(b_, within, height)),
        program = arith::AddIOp::create(b_, arith::MulIOp::create(b_, row, columns), column);
  scalars_.map(op.getResult(), arith::IndexCastUIOp::create(b_, b_.getIndexType(), program));
}

/// Whether a product within the operation has a left side of float32.
static bool hasSingles(Operation *op) {
  auto find = [](DotOp dot) {
    return dot.getLhs().getType().getElementType().isF32() ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op->walk(find).wasInterrupted();
}

static bool isAttention(KernelOp kernel) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  return schedule && schedule.getRoot() == graph::RootKind::Attention;
}

/// Whether a loop over steps does little but start instructions that read shared memory, so that their addresses are
/// most of what it computes. Attention computes a softmax, and singles are split into two.
bool KernelDistributor::hasShortSteps() { return multipliesShared_ && !hasSingles(kernel_) && !isAttention(kernel_); }

/// Whether the role's code should use few registers. They are scarce if the role has a limit of its own (setmaxnreg),
/// if symbols take registers, and if singles are multiplied, whose high and low parts take two each. Never in
/// attention: there ptxas makes slower code of it (1.05 times as long with causal keys, docs/performance.md).
bool KernelDistributor::sparesRegisters(RolesOp op, unsigned number) {
  return !isAttention(kernel_) && (op.getRegisters()[number] || kernel_.getNumSymbols() || hasSingles(op));
}

LogicalResult KernelDistributor::lowerRole(RolesOp op, unsigned number, unsigned firstWarp) {
  Region &body = op.getBodies()[number];
  CopyEngine &engine = *target_.copyEngine();
  Value warp = std::exchange(warp_, arith::SubIOp::create(b_, warp_, i32(firstWarp)));
  role_ = Role{number + 1, static_cast<unsigned>(op.getWarps()[number]) * target_.lanes(), firstWarp,
               sparesRegisters(op, number)};
  bool awaitsItself = !body.getOps<AwaitKernelsOp>().empty();
  if (!awaitsItself)
    awaitKernels();
  if (int64_t registers = op.getRegisters()[number]) {
    int64_t atStart = RolesOp::registersAtStart(llvm::sum_of(op.getWarps()));
    engine.setRegisters(b_, registers, registers > atStart);
  }
  noteContractions(body);
  LogicalResult result = success();
  if (op.getElected()[number]) {
    OpBuilder::InsertionGuard guard(b_);
    auto firstWarp = scf::IfOp::create(b_, arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, warp_, i32(0)),
                                       /*withElse=*/false);
    b_.setInsertionPointToStart(firstWarp.thenBlock());
    auto oneThread = scf::IfOp::create(b_, engine.elect(b_, lane_), /*withElse=*/false);
    b_.setInsertionPointToStart(oneThread.thenBlock());
    result = lowerOperations(body.front());
  } else {
    result = lowerOperations(body.front());
    finishBulkStores(body);
  }
  warp_ = warp;
  role_.reset();
  return result;
}

/// Emits a chain of branches on the warp's number, one for each role.
LogicalResult KernelDistributor::lowerRoles(RolesOp op) {
  if (!target_.copyEngine())
    return op.emitOpError("expected a target with a copy engine, whose barriers roles meet at");
  computeWaiting();
  OpBuilder::InsertionGuard guard(b_);
  unsigned firstWarp = 0;
  for (unsigned number = 0; number < op.getBodies().size(); ++number) {
    unsigned lastWarp = firstWarp + op.getWarps()[number];
    bool isLast = number + 1 == op.getBodies().size();
    if (isLast)
      return lowerRole(op, number, firstWarp);
    auto branch = scf::IfOp::create(b_, arith::CmpIOp::create(b_, arith::CmpIPredicate::ult, warp_, i32(lastWarp)),
                                    /*withElse=*/true);
    b_.setInsertionPointToStart(branch.thenBlock());
    if (failed(lowerRole(op, number, firstWarp)))
      return failure();
    b_.setInsertionPointToStart(branch.elseBlock());
    firstWarp = lastWarp;
  }
  return success();
}
