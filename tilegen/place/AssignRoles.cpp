// SPDX-License-Identifier: Apache-2.0
// Gives the copies of a matrix product warps of their own, where the schedule asks for groups and the copy engine can
// do both operands. The block becomes persistent: it takes programs one after the other.
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
// Both count the same steps, through all programs, so the copies of the next program run while this one's results are
// stored. With two groups the programs alternate between them: one multiplies while the other stores. They take turns,
// because a barrier tells a step from the one before it in the same slot, but not from those that other groups take:
//
//   tile.ring_drain turns[%turn - 1] ; the loop ; tile.ring_release turns[%turn]
#include "tilegen/place/AccessFacts.h"
#include "tilegen/place/BulkAccess.h"
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/Place.h"

#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

/// Registers of a thread, by role. Warps that copy need few.
constexpr int64_t registersToCopy = 24, mostRegisters = 240, warpsToCopy = 4;

/// An operand that the copy engine brings.
struct Copied {
  LoadOp load;
  unsigned fast; // the dimension along which its rows run
  BulkAccess access;
  Value room, map; // tile.shared_alloc, tile.tensor_map
};

class RoleBuilder {
public:
  RoleBuilder(KernelOp kernel, const PlaceFacts &facts)
      : kernel_(kernel), schedule_(kernel.getScheduleAttr()), facts_(facts), b_(kernel.getContext()),
        loc_(kernel.getLoc()) {}
  bool fits(std::string &why);
  void run();

private:
  bool findLoop(std::string &why);
  bool addCopied(DotOp dot, bool isLhs, std::string &why);
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  Value plus(Value value, Value other) { return arith::AddIOp::create(b_, loc_, value, other); }
  void makeRoom();
  void fillBody(Region &body, int64_t group, bool stores);
  Value multiply(IRMapping &now, Value step, Value turn);
  Value copy(IRMapping &now, Value step);
  void multiplyStep(scf::ForOp loop, IRMapping &now);
  void when(Value condition, llvm::function_ref<void()> build);

  KernelOp kernel_;
  ScheduleAttr schedule_;
  const PlaceFacts &facts_;
  OpBuilder b_;
  Location loc_;
  scf::ForOp loop_;
  SmallVector<DotOp> dots_;
  std::vector<Copied> copied_;
  DenseMap<Operation *, size_t> indexOf_; // of loads in copied_
  Value ring_, turns_;                    // turns_ only with several groups
  int64_t blocks_ = 0;                    // of the grid
};

} // namespace

//===- What can have roles ----------------------------------------------------------------------------------------===//

/// One loop around products, that carries their sums alone and does nothing else but load their operands.
bool RoleBuilder::findLoop(std::string &why) {
  auto refuse = [&](const char *reason) { return why = reason, false; };
  kernel_.walk([&](DotOp dot) { dots_.push_back(dot); });
  if (!dots_.empty())
    loop_ = dots_.front()->getParentOfType<scf::ForOp>();
  if (!loop_ || loop_->getParentOp() != kernel_)
    return refuse("there is no single loop around its products");
  auto yielded = loop_.getBody()->getTerminator()->getOperands();
  for (auto [i, dot] : llvm::enumerate(dots_)) {
    const Fragments *fragments = fragmentsOf(dot);
    if (!fragments || !fragments->readsShared())
      return refuse("no instruction of the target reads its operands from shared memory");
    if (dot->getBlock() != loop_.getBody() || i >= yielded.size() || yielded[i] != dot.getResult() ||
        dot.getAcc() != loop_.getRegionIterArgs()[i])
      return refuse("its loop carries more than sums");
  }
  if (yielded.size() != dots_.size())
    return refuse("its loop carries more than sums");
  for (Operation &op : loop_.getBody()->without_terminator())
    if (!isa<LoadOp, DotOp>(op) && (!isMemoryEffectFree(&op) || isa<RankedTensorType>(op.getResult(0).getType())))
      return refuse("its operands are computed, not copied");
  auto extents = kernel_.getGrid().getResults();
  if (extents[1] != getAffineConstantExpr(1, kernel_.getContext()) || extents[2] != extents[1])
    return refuse("its grid has more than one dimension");
  for (Value bound : {loop_.getLowerBound(), loop_.getUpperBound(), loop_.getStep()})
    if (Operation *op = bound.getDefiningOp(); op && op->getNumOperands())
      return refuse("the length of its loop differs from program to program");
  return true;
}

/// The rows of an operand run along k, or across it where the instruction can read that and memory runs so.
bool RoleBuilder::addCopied(DotOp dot, bool isLhs, std::string &why) {
  LoadOp load = plainLoad(isLhs ? dot.getLhs() : dot.getRhs());
  if (!load || load->getBlock() != loop_.getBody())
    return why = "its operands are computed, not copied", false;
  unsigned rank = cast<RankedTensorType>(load.getType()).getRank(), k = isLhs ? rank - 1 : rank - 2,
           across = isLhs ? rank - 2 : rank - 1;
  unsigned fast = fragmentsOf(dot)->readsAlongK() || isContiguous(Access::of(load), k) ? k : across;
  for (auto [i, known] : llvm::enumerate(copied_))
    if (known.fast == fast &&
        OperationEquivalence::isEquivalentTo(known.load, load, OperationEquivalence::IgnoreLocations))
      return indexOf_[load] = i, true;
  std::optional<BulkAccess> access = bulkAccess(load, fast, why);
  if (!access)
    return false;
  indexOf_[load] = copied_.size();
  copied_.push_back({load, fast, std::move(*access), {}, {}});
  return true;
}

bool RoleBuilder::fits(std::string &why) {
  if (!findLoop(why))
    return false;
  for (DotOp dot : dots_)
    if (!addCopied(dot, true, why) || !addCopied(dot, false, why))
      return false;
  return true;
}

//===- Rooms, maps and the ring -----------------------------------------------------------------------------------===//

void RoleBuilder::makeRoom() {
  b_.setInsertionPointToStart(&kernel_.getBody().front());
  unsigned symbols = kernel_.getNumSymbols();
  auto map = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(0, symbols, results, b_.getContext()); };
  for (Copied &copied : copied_) {
    auto type = cast<RankedTensorType>(copied.load.getType());
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    auto shared = SharedType::get(b_.getContext(), plain, copied.fast, schedule_.getStages());
    copied.room = SharedAllocOp::create(b_, loc_, shared, 0);
    copied.map = TensorMapOp::create(
        b_, loc_, TensorMapType::get(b_.getContext(), type.getElementType(), copied.access.box),
        copied.load.getBuffer(), map(copied.access.start), map(copied.access.sizes), map(copied.access.strides));
  }
  auto ring = RingType::get(b_.getContext(), schedule_.getStages(), schedule_.getWarps());
  ring_ = RingAllocOp::create(b_, loc_, ring, 0);
  if (schedule_.getGroups() > 1)
    turns_ =
        RingAllocOp::create(b_, loc_, RingType::get(b_.getContext(), schedule_.getGroups(), schedule_.getWarps()), 0);
}

//===- The roles --------------------------------------------------------------------------------------------------===//

void RoleBuilder::when(Value condition, llvm::function_ref<void()> build) {
  auto branch = scf::IfOp::create(b_, loc_, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  build();
}

/// One step of a group that multiplies. Its products continue while the next step starts; those of the step before are
/// waited for, and their slot is free.
void RoleBuilder::multiplyStep(scf::ForOp loop, IRMapping &now) {
  Value step = loop.getRegionIterArgs().back();
  Value slot = RingWaitOp::create(b_, loc_, ring_, step);
  for (DotOp dot : dots_) {
    for (bool isLhs : {true, false}) {
      Value operand = isLhs ? dot.getLhs() : dot.getRhs();
      auto type = cast<RankedTensorType>(operand.getType());
      auto read = withLayout(type, operandLayout(dot, isLhs ? Operand::A : Operand::B, type));
      Value room = copied_[indexOf_.at(operand.getDefiningOp())].room;
      now.map(operand, SharedReadOp::create(b_, loc_, read, room, slot).getResult());
    }
    b_.clone(*dot, now);
  }
  DotWaitOp::create(b_, loc_, ValueRange(), dots_.size());
  Value isLater =
      arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, loop.getInductionVar(), loop.getLowerBound());
  Value one = constant(1);
  when(isLater, [&] { RingReleaseOp::create(b_, loc_, ring_, arith::SubIOp::create(b_, loc_, step, one)); });
  SmallVector<Value> yielded;
  for (DotOp dot : dots_)
    yielded.push_back(now.lookup(dot.getResult()));
  yielded.push_back(plus(step, one));
  scf::YieldOp::create(b_, loc_, yielded);
}

/// The loop of a group that multiplies; the step after it. Where groups take turns, `turn` is the number of this one.
Value RoleBuilder::multiply(IRMapping &now, Value step, Value turn) {
  if (turn) {
    Value isLater = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, turn, constant(0));
    Value before = arith::SubIOp::create(b_, loc_, turn, constant(1));
    when(isLater, [&] { RingDrainOp::create(b_, loc_, turns_, before); });
  }
  SmallVector<Value> inits;
  for (Value init : loop_.getInitArgs())
    inits.push_back(now.lookupOrDefault(init));
  inits.push_back(step);
  auto bound = [&](Value value) { return now.lookupOrDefault(value); };
  auto loop = scf::ForOp::create(b_, loc_, bound(loop_.getLowerBound()), bound(loop_.getUpperBound()),
                                 bound(loop_.getStep()), inits);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    IRMapping inside = now;
    inside.map(loop_.getInductionVar(), loop.getInductionVar());
    inside.map(loop_.getRegionIterArgs(), loop.getRegionIterArgs().drop_back());
    multiplyStep(loop, inside);
  }
  if (turn)
    RingReleaseOp::create(b_, loc_, turns_, turn);
  Value after = loop.getResults().back();
  for (auto [result, sum] : llvm::zip(loop_.getResults(), loop.getResults()))
    now.map(result, DotWaitOp::create(b_, loc_, sum, 0).getResult(0));
  auto trips = getConstantIntValue(tripCount(b_, loop));
  auto release = [&] { RingReleaseOp::create(b_, loc_, ring_, arith::SubIOp::create(b_, loc_, after, constant(1))); };
  if (trips && *trips > 0)
    release();
  else
    when(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, after, step), release);
  return after;
}

/// The loop of the thread that copies; the step after it.
Value RoleBuilder::copy(IRMapping &now, Value step) {
  auto bound = [&](Value value) { return now.lookupOrDefault(value); };
  auto loop = scf::ForOp::create(b_, loc_, bound(loop_.getLowerBound()), bound(loop_.getUpperBound()),
                                 bound(loop_.getStep()), step);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  IRMapping inside = now;
  inside.map(loop_.getInductionVar(), loop.getInductionVar());
  for (Operation &op : loop_.getBody()->without_terminator())
    if (!isa<LoadOp, DotOp>(op))
      b_.clone(op, inside);
  int64_t bytes = 0;
  for (const Copied &copied : copied_)
    bytes += cast<SharedType>(copied.room.getType()).getSlotBytes();
  Value inner = loop.getRegionIterArgs()[0], slot = RingAcquireOp::create(b_, loc_, ring_, inner, bytes);
  for (Copied &copied : copied_) {
    SmallVector<Value> offsets, coordinates;
    for (Value offset : copied.load.getOffsets())
      offsets.push_back(inside.lookupOrDefault(offset));
    for (AffineExpr coordinate : copied.access.coordinates) {
      auto dim = dyn_cast<AffineDimExpr>(coordinate);
      auto map = AffineMap::get(offsets.size(), kernel_.getNumSymbols(), coordinate);
      coordinates.push_back(dim ? offsets[dim.getPosition()] : SizeOp::create(b_, loc_, map, offsets).getResult());
    }
    BulkCopyOp::create(b_, loc_, copied.map, coordinates, copied.room, slot, ring_);
  }
  scf::YieldOp::create(b_, loc_, plus(inner, constant(1)));
  return loop.getResult(0);
}

/// The program of one role: of every program that its block takes, everything up to the loop, and the loop as copies
/// or, if the role `stores`, as products, and the rest. Group number `group` of several takes every `groups`-th
/// program.
void RoleBuilder::fillBody(Region &body, int64_t group, bool stores) {
  int64_t groups = stores ? schedule_.getGroups() : 1;
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&body.emplaceBlock());
  Value block = ProgramIdOp::create(b_, loc_, 0), first = plus(block, constant(group * blocks_));
  AffineExpr programs = kernel_.getGrid().getResult(0);
  auto number = dyn_cast<AffineConstantExpr>(programs);
  auto count = AffineMap::get(0, kernel_.getNumSymbols(), programs);
  Value end = number ? constant(number.getValue()) : SizeOp::create(b_, loc_, count, ValueRange()).getResult();
  // Bounds of the loop are constants or sizes, which stand in the kernel itself: every role has its own.
  auto skipped = [&](int64_t times) { // steps of `times` programs that other groups take
    return arith::MulIOp::create(b_, loc_, tripCount(b_, loop_), constant(times)).getResult();
  };
  SmallVector<Value> inits{group ? skipped(group) : constant(0)};
  if (groups > 1)
    inits.push_back(constant(group));
  auto loop = scf::ForOp::create(b_, loc_, first, end, constant(groups * blocks_), inits);
  b_.setInsertionPointToStart(loop.getBody());
  IRMapping now;
  Value step = loop.getRegionIterArgs()[0], turn = groups > 1 ? loop.getRegionIterArgs()[1] : Value();
  for (Operation &op : kernel_.getBody().front().without_terminator()) {
    if (isa<SharedAllocOp, TensorMapOp, RingAllocOp, WorkspaceOp, RolesOp>(op))
      continue;
    if (&op == loop_) {
      step = stores ? multiply(now, step, turn) : copy(now, step);
      if (!stores)
        break;
    } else if (isa<ProgramIdOp>(op)) {
      now.map(op.getResult(0), loop.getInductionVar());
    } else {
      b_.clone(op, now);
    }
  }
  if (turn)
    scf::YieldOp::create(b_, loc_, ValueRange{plus(step, skipped(groups - 1)), plus(turn, constant(groups))});
  else
    scf::YieldOp::create(b_, loc_, step);
}

void RoleBuilder::run() {
  makeRoom();
  int64_t groups = schedule_.getGroups(), warps = schedule_.getWarps();
  SmallVector<int64_t> warpsOf(groups, warps), registers;
  SmallVector<bool> elected(groups, false);
  int64_t left = registersOfUnit / facts_.lanes - warpsToCopy * registersToCopy;
  bool isTight = registersOfUnit / facts_.lanes / (groups * warps + warpsToCopy) < mostRegisters;
  registers.assign(groups, isTight ? std::min<int64_t>(left / (groups * warps) / 8 * 8, mostRegisters) : 0);
  registers.push_back(isTight ? registersToCopy : 0);
  warpsOf.push_back(warpsToCopy), elected.push_back(true);

  auto extent = dyn_cast<AffineConstantExpr>(kernel_.getGrid().getResult(0));
  blocks_ = extent ? std::min(extent.getValue(), facts_.units) : facts_.units;
  b_.setInsertionPoint(kernel_.getBody().front().getTerminator());
  auto roles = RolesOp::create(b_, loc_, warpsOf, registers, elected, groups + 1);
  for (int64_t group = 0; group < groups; ++group)
    fillBody(roles.getBodies()[group], group, /*stores=*/true);
  fillBody(roles.getBodies().back(), 0, /*stores=*/false);
  AffineExpr one = b_.getAffineConstantExpr(1);
  kernel_.setGrid(
      AffineMap::get(0, kernel_.getNumSymbols(), {b_.getAffineConstantExpr(blocks_), one, one}, b_.getContext()));
}

/// Erases what the roles have copies of.
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
  RoleBuilder builder(kernel, facts);
  std::string why;
  if (!builder.fits(why)) {
    kernel.emitRemark() << "its copies are started by the warps that multiply because " << why;
    return false;
  }
  builder.run();
  eraseOriginals(kernel);
  return true;
}
