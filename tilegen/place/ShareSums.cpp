// SPDX-License-Identifier: Apache-2.0
// Gives each tile to several programs, where the schedule says so: each sums a part of the steps. What they have is
// brought together in one of two ways (tilegen/tile/PartOps.td). Here the program that arrives last adds up the sums of
// all and does the rest:
//
//   %p = tile.program_id 0                   %p = tile.program_id 0
//   ...                                      %tile = %p / parts, %part = %p % parts
//   %sums = scf.for %k = 0 to K {            %sums = scf.for %k = 0 to K / parts { dot at %k + %part * K / parts }
//     tile.dot                               tile.part_write %sums, parts[%tile, %part]
//   }                                  ->    %last = tile.part_arrive arrivals[%tile] of parts
//   epilogue, tile.store                     scf.if %last {
//                                              %total = tile.part_read parts[%tile, 0] + tile.part_read [%tile, 1] ...
//                                              epilogue, tile.store }
//
// Where the schedule says `clustered` and the target has clusters, the programs of a tile are the blocks of one, and
// each finishes a share of the tile (ClusterShares.h):
//
//   %share = tile.part_sum %sums[%part] of parts
//   the share's epilogue, tile.store
//
// A loop that carries more than sums, an attention's, has tile.part_join behind it: it says how two parts become one.
//
// The last program reads back its own part too, so that the order of the additions, and with it the result's bits, does
// not depend on which program is last.
#include "tilegen/place/ClusterShares.h"
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/Place.h"
#include "tilegen/tile/PartsTogether.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

class SumSharer {
public:
  SumSharer(KernelOp kernel, ScheduleAttr schedule)
      : kernel_(kernel), schedule_(schedule), parts_(schedule.getParts()), tiles_(schedule.getMostTiles()),
        b_(kernel.getContext()), loc_(kernel.getLoc()) {}
  bool fits(std::string &why);
  void run(const PlaceFacts &facts);

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  Value plus(Value value, Value other) { return arith::AddIOp::create(b_, loc_, value, other); }
  Value sizeOf(AffineExpr expr, Value operand) {
    return SizeOp::create(b_, loc_, AffineMap::get(1, 0, expr), ValueRange{operand});
  }
  /// The tile's sizes beyond which elements mean nothing; empty: all of them count.
  ArrayRef<int64_t> live() { return join_ ? join_.getLive().value_or(ArrayRef<int64_t>()) : ArrayRef<int64_t>(); }
  DenseI64ArrayAttr liveAttr() { return join_ ? join_.getLiveAttr() : DenseI64ArrayAttr(); }
  AffineExpr dim() { return b_.getAffineDimExpr(0); }
  std::optional<unsigned> shareDim(const PlaceFacts &facts);
  void makeWorkspaces();
  void cutLoop();
  void cutEvenly(int64_t steps);
  SmallVector<Value> joinParts(ValueRange soFar, ValueRange part);
  SmallVector<Value> readSums();
  void finishLast();

  KernelOp kernel_;
  ScheduleAttr schedule_;
  int64_t parts_, tiles_; // of each tile; the most tiles
  OpBuilder b_;
  Location loc_;
  scf::ForOp loop_;
  PartJoinOp join_; // null: the loop carries sums
  Value tile_, part_;
  Value arrivals_;                // null in a cluster, as are the workspaces
  SmallVector<Value> workspaces_; // of each result of the loop
};

} // namespace

//===- What can be shared -----------------------------------------------------------------------------------------===//

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

/// The tile.part_join of the results of `loop`, if nothing else reads them; else null.
static PartJoinOp findJoin(scf::ForOp loop) {
  auto join = loop.use_empty() ? PartJoinOp() : dyn_cast<PartJoinOp>(*loop->user_begin());
  bool isAlone = llvm::all_of(loop->getUsers(), [&](Operation *user) { return user == join; });
  return join && isAlone && join.getValues() == loop.getResults() ? join : PartJoinOp();
}

/// Whether the kernel has one loop around products, which carries only their sums, starting at 0, or has a
/// tile.part_join behind it, and stores nothing before the loop. Otherwise `why` says what is in the way.
bool SumSharer::fits(std::string &why) {
  auto refuse = [&](const char *reason) { return why = reason, false; };
  for (auto loop : kernel_.getBody().getOps<scf::ForOp>()) {
    if (loop.getBody()->getOps<DotOp>().empty())
      continue;
    if (loop_)
      return refuse("it has several loops around products");
    loop_ = loop;
  }
  if (!loop_)
    return refuse("there is no single loop around its products");
  for (Operation &op : kernel_.getBody().front())
    if (op.isBeforeInBlock(loop_) && !isa<LoadOp>(op) && !isMemoryEffectFree(&op))
      return refuse("it does more than load before its products");
  join_ = findJoin(loop_);
  for (auto [init, carried, yielded] :
       llvm::zip(loop_.getInitArgs(), loop_.getRegionIterArgs(), loop_.getBody()->getTerminator()->getOperands())) {
    auto dot = yielded.getDefiningOp<DotOp>();
    if (!join_ && (!dot || dot.getAcc() != carried || !isZero(init)))
      return refuse("its loop carries more than sums");
  }
  auto extents = kernel_.getGrid().getResults();
  AffineExpr one = b_.getAffineConstantExpr(1);
  if (extents[1] != one || extents[2] != one)
    return refuse("its grid has more than one dimension");
  if (auto known = dyn_cast<AffineConstantExpr>(extents[0]))
    tiles_ = known.getValue();
  if (tiles_ == 0)
    return refuse("the number of its tiles is not known, nor a bound of it");
  return true;
}

//===- Rewriting --------------------------------------------------------------------------------------------------===//

/// The dimension along which a cluster's blocks cut the tile; nullopt if the schedule or the target has no clusters,
/// and, with the reason as a remark, where the tile can't be cut.
std::optional<unsigned> SumSharer::shareDim(const PlaceFacts &facts) {
  if (!schedule_.getClustered() || parts_ > facts.clusterBlocks)
    return std::nullopt;
  std::string why = "two groups of warps multiply";
  std::optional<unsigned> dim = schedule_.getGroups() > 1 ? std::nullopt : findShareDim(loop_, parts_, why);
  if (!dim)
    kernel_.emitRemark() << "its parts meet in global memory because " << why;
  return dim;
}

/// Where parts meet in global memory.
void SumSharer::makeWorkspaces() {
  b_.setInsertionPointAfter(part_.getDefiningOp());
  auto memory = [&](Type element, ArrayRef<int64_t> sizes, bool zeroed) {
    SmallVector<AffineExpr> exprs =
        llvm::map_to_vector(sizes, [&](int64_t size) { return b_.getAffineConstantExpr(size); });
    auto type = BufferType::get(b_.getContext(), element, AffineMap::get(0, 0, exprs, b_.getContext()));
    return WorkspaceOp::create(b_, loc_, type, zeroed);
  };
  for (Type type : loop_.getResultTypes())
    workspaces_.push_back(
        memory(cast<RankedTensorType>(type).getElementType(), {tiles_, parts_, heldElements(type, live())}, false));
  arrivals_ = memory(b_.getI32Type(), {tiles_}, true);
}

/// Gives every part the same number of steps. The loop keeps constant bounds, from which roles and pipelines count
/// steps, and the part's first position is added inside of the loop.
void SumSharer::cutEvenly(int64_t steps) {
  int64_t length = steps / parts_ * *getConstantIntValue(loop_.getStep());
  int64_t lower = *getConstantIntValue(loop_.getLowerBound());
  Value first = sizeOf(dim() * length, part_);
  loop_.setUpperBound(constant(lower + length));
  b_.setInsertionPointToStart(loop_.getBody());
  Value position = plus(loop_.getInductionVar(), first);
  loop_.getInductionVar().replaceAllUsesExcept(position, position.getDefiningOp());
}

/// Restricts the loop to the steps of one part. Where steps cannot be divided evenly, some parts have one more.
void SumSharer::cutLoop() {
  b_.setInsertionPoint(loop_);
  Value steps = tripCount(b_, loop_);
  bool isConstant = getConstantIntValue(loop_.getLowerBound()) && getConstantIntValue(loop_.getStep());
  if (auto known = getConstantIntValue(steps); known && isConstant && *known % parts_ == 0)
    return cutEvenly(*known);
  auto positionOf = [&](Value part) {
    Value passed = sizeOf(dim().floorDiv(parts_), arith::MulIOp::create(b_, loc_, part, steps));
    return plus(loop_.getLowerBound(), arith::MulIOp::create(b_, loc_, passed, loop_.getStep()));
  };
  Value first = positionOf(part_), end = positionOf(plus(part_, constant(1)));
  loop_.setLowerBound(first);
  loop_.setUpperBound(end);
}

SmallVector<Value> SumSharer::joinParts(ValueRange soFar, ValueRange part) {
  if (join_)
    return join_.emitJoin(b_, soFar, part);
  return llvm::map_to_vector(llvm::zip(soFar, part), [&](auto both) -> Value {
    auto [sum, other] = both;
    if (isa<FloatType>(cast<RankedTensorType>(sum.getType()).getElementType()))
      return arith::AddFOp::create(b_, loc_, sum, other);
    return arith::AddIOp::create(b_, loc_, sum, other);
  });
}

/// Adds up all parts, in their order. Loads several small parts before it adds them, so that latencies overlap.
SmallVector<Value> SumSharer::readSums() {
  int64_t registers = 0;
  for (Type type : loop_.getResultTypes())
    registers += liveRegisters(type, live()).size();
  int64_t atOnce = partsTogether(parts_, registers, join_ ? registersOfKeysOnTheWay : registersOnTheWay);
  auto add = [&](SmallVector<Value> sums, Value first) {
    SmallVector<SmallVector<Value>> read(atOnce);
    for (int64_t i = 0; i < atOnce; ++i) {
      Value part = i ? plus(first, constant(i)) : first;
      for (auto [workspace, sum] : llvm::zip(workspaces_, sums))
        read[i].push_back(PartReadOp::create(b_, loc_, sum.getType(), workspace, tile_, part, liveAttr()));
    }
    for (ArrayRef<Value> part : read)
      sums = joinParts(sums, part);
    return sums;
  };
  Value zero = constant(0);
  SmallVector<Value> inits(loop_.getInitArgs());
  if (atOnce == parts_)
    return add(inits, zero);
  auto loop = scf::ForOp::create(b_, loc_, zero, constant(parts_), constant(atOnce), inits);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b_, loc_, add(SmallVector<Value>(loop.getRegionIterArgs()), loop.getInductionVar()));
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Moves everything behind the loop into a branch that only the program takes that arrives last.
void SumSharer::finishLast() {
  SmallVector<Operation *> rest;
  for (Operation *op = loop_->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
    rest.push_back(op);
  b_.setInsertionPointAfter(loop_);
  for (auto [sum, workspace] : llvm::zip(loop_.getResults(), workspaces_))
    PartWriteOp::create(b_, loc_, sum, workspace, tile_, part_, liveAttr());
  Value last = PartArriveOp::create(b_, loc_, arrivals_, tile_, parts_, /*scratch=*/nullptr);
  auto branch = scf::IfOp::create(b_, loc_, last, /*withElse=*/false);
  for (Operation *op : rest)
    op->moveBefore(branch.thenYield());
  b_.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> totals = readSums();
  if (join_)
    join_->replaceAllUsesWith(totals);
  else
    for (auto [sum, total] : llvm::zip(loop_.getResults(), totals))
      sum.replaceUsesWithIf(total, [](OpOperand &use) { return !isa<PartWriteOp>(use.getOwner()); });
  if (join_)
    join_.erase();
}

void SumSharer::run(const PlaceFacts &facts) {
  std::optional<unsigned> dim = shareDim(facts);
  PartOfTile number = numberParts(kernel_, parts_);
  tile_ = number.tile, part_ = number.part;
  if (!dim)
    makeWorkspaces();
  cutLoop();
  dim ? finishShares(loop_, *dim, part_, parts_) : finishLast();
}

void tilewright::tile::shareSums(KernelOp kernel, const PlaceFacts &facts) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  bool isDone = !kernel.getBody().getOps<WorkspaceOp>().empty() || kernel.getClusterBlocks() > 1;
  bool hasSums = schedule && schedule.getRoot() != graph::RootKind::RowReduction; // whose parts ShareRows.cpp makes
  if (hasSums && schedule.getParts() > 1 && !isDone) {
    SumSharer sharer(kernel, schedule);
    std::string why;
    if (sharer.fits(why))
      sharer.run(facts);
    else
      kernel.emitRemark() << "its sums are not shared because " << why;
  }
  for (PartJoinOp join : llvm::make_early_inc_range(kernel.getBody().getOps<PartJoinOp>())) { // nothing is to be joined
    join->replaceAllUsesWith(join.getValues());
    join->erase();
  }
}
