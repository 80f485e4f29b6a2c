// SPDX-License-Identifier: Apache-2.0
// Finds the loop around products, the operands that the copy engine can bring, and the rings that they need.
#include "tilegen/place/roles/RolePlan.h"

#include "tilegen/place/AccessFacts.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
class RolePlanner {
public:
  RolePlanner(KernelOp kernel, std::string &why) : kernel_(kernel), why_(why) {}
  bool find();
  RolePlan plan;

private:
  bool refuse(const char *reason) { return why_ = reason, false; }
  bool findLoop();
  bool findSums();
  bool findOperands(DotOp dot);
  bool addOperand(DotOp dot, bool isLhs, size_t ring);
  std::optional<size_t> known(LoadOp load, unsigned fast) const;

  KernelOp kernel_;
  std::string &why_;
};
} // namespace

bool tilewright::tile::isEquallyLong(scf::ForOp loop) {
  return llvm::none_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}, [](Value bound) {
    Operation *op = bound.getDefiningOp();
    return op && op->getNumOperands();
  });
}

scf::ForOp tilewright::tile::loopOfOneStep(KernelOp kernel) {
  auto dots = llvm::to_vector(kernel.getBody().front().getOps<DotOp>());
  SetVector<Operation *> moved;
  SmallVector<Value> starts;
  for (DotOp dot : dots) {
    if (!dot.getAcc().getDefiningOp<arith::ConstantOp>())
      return {};
    starts.push_back(dot.getAcc());
    for (Value operand : {dot.getLhs(), dot.getRhs()}) {
      auto load = operand.getDefiningOp<LoadOp>();
      if (!load || !llvm::all_of(load->getUsers(), llvm::IsaPred<DotOp>))
        return {};
      moved.insert(load);
    }
  }
  for (DotOp dot : dots)
    for (Operation *user : dot->getUsers())
      if (Operation *around = dots.back()->getBlock()->findAncestorOpInBlock(*user);
          around->isBeforeInBlock(dots.back()))
        return {};
  if (dots.empty())
    return {};
  moved.insert_range(dots);
  OpBuilder b(dots.back());
  Location loc = kernel.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, one, one, starts);
  for (auto [dot, result] : llvm::zip(dots, loop.getResults()))
    dot->replaceAllUsesWith(ValueRange(result));
  for (Operation *op : moved)
    op->moveBefore(loop.getBody(), loop.getBody()->end());
  SmallVector<Value> sums;
  for (auto [dot, sum] : llvm::zip(dots, loop.getRegionIterArgs())) {
    dot.getAccMutable().assign(sum);
    sums.push_back(dot.getResult());
  }
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loc, sums);
  return loop;
}

/// Do several groups of warps, each of which issues instructions together, compute different columns of the same rows?
static bool sharesRows(DotOp dot) {
  auto type = cast<RankedTensorType>(dot.getType());
  return gridOf(*fragmentsOf(dot), layoutOf(type), TileShape(type.getShape())).nBits > 0;
}

//===- The loop ---------------------------------------------------------------------------------------------------===//

/// Finds the only loop around products, all of instructions that read shared memory, without control flow in it.
bool RolePlanner::findLoop() {
  kernel_.walk([&](DotOp dot) { plan.dots.push_back(dot); });
  if (!plan.dots.empty())
    plan.loop = plan.dots.front()->getParentOfType<scf::ForOp>();
  if (!plan.loop || plan.loop->getParentOp() != kernel_)
    return refuse("there is no single loop around its products");
  for (DotOp dot : plan.dots) {
    const Fragments *fragments = fragmentsOf(dot);
    if (!fragments || !fragments->readsShared())
      return refuse("no instruction of the target reads its operands from shared memory");
    if (dot->getBlock() != plan.loop.getBody())
      return refuse("there is no single loop around its products");
  }
  for (Operation &op : plan.loop.getBody()->without_terminator())
    if (op.getNumRegions() && !isPartOfStep(&op))
      return refuse("there is control flow in its loop");
  auto extents = kernel_.getGrid().getResults();
  if (extents[1] != getAffineConstantExpr(1, kernel_.getContext()) || extents[2] != extents[1])
    return refuse("its grid has more than one dimension");
  bool takesTurns = kernel_.getScheduleAttr().getGroups() > 1;
  if (takesTurns && !isEquallyLong(plan.loop))
    return refuse("the length of its loop differs from program to program");
  plan.splitsSingles = fragmentsOf(plan.dots.front())->transposed;
  plan.roundsSingles = fragmentsOf(plan.dots.front())->needsRounding();
  if (plan.splitsSingles && plan.dots.size() > 1)
    return refuse("several products of singles share its loop");
  if (plan.splitsSingles && sharesRows(plan.dots.front()))
    return refuse("several groups of warps have the same rows, which each would have to rewrite");
  return true;
}

/// Finds out whether the loop carries only the products' sums and loads their operands. Refuses other loops if there
/// are several groups.
bool RolePlanner::findSums() {
  auto yielded = plan.loop.getBody()->getTerminator()->getOperands();
  plan.carriesSums = yielded.size() == plan.dots.size();
  for (auto [i, dot] : llvm::enumerate(plan.dots))
    plan.carriesSums = plan.carriesSums && yielded[i] == dot.getResult() &&
                       dot.getAcc() == plan.loop.getRegionIterArgs()[i] && !isHeldInRegisters(dot.getLhs());
  if (!plan.carriesSums)
    return kernel_.getScheduleAttr().getGroups() == 1 || refuse("its loop carries more than sums");
  // A step of sums releases the slot of the step before: with one slot the two roles would wait for each other.
  if (kernel_.getScheduleAttr().getStages() < 2)
    return refuse("a slot is free only after the next step has started, so its ring needs two stages");
  for (Operation &op : plan.loop.getBody()->without_terminator())
    if (!isa<LoadOp, DotOp>(op) && (!isMemoryEffectFree(&op) || isa<RankedTensorType>(op.getResult(0).getType())))
      return refuse("its operands are computed, not copied");
  return true;
}

//===- Operands ---------------------------------------------------------------------------------------------------===//

/// The index in `copied` of an equal load, the left side that two products share; nullopt if there is none.
std::optional<size_t> RolePlanner::known(LoadOp load, unsigned fast) const {
  for (auto [i, other] : llvm::enumerate(plan.copied))
    if (other.fast == fast &&
        OperationEquivalence::isEquivalentTo(other.load, load, OperationEquivalence::IgnoreLocations))
      return i;
  return std::nullopt;
}

/// The bytes of the shortest rows of an operand that the product's instruction reads from shared memory.
static int64_t leastRowOf(DotOp dot, bool runAlongK) {
  const Fragments &fragments = *fragmentsOf(dot);
  int64_t elements = runAlongK ? fragments.k : fragments.n;
  return std::min(elements * fragments.bytes, tensorMapRowBytes);
}

/// Adds one operand of a product: to `copied` if the engine can bring it, else, if all steps read it, to `staged`. In
/// shared memory its rows run along k, or across k where memory runs so and the instruction can read that.
bool RolePlanner::addOperand(DotOp dot, bool isLhs, size_t ring) {
  Value operand = isLhs ? dot.getLhs() : dot.getRhs();
  Operation *producer = operand.getDefiningOp();
  bool isInLoop = producer->getBlock() == plan.loop.getBody();
  LoadOp load = plainLoad(operand);
  if (!load ? isInLoop || plan.carriesSums : !isInLoop && plan.carriesSums)
    return refuse("its operands are computed, not copied");
  auto type = cast<RankedTensorType>(operand.getType());
  unsigned rank = type.getRank(), k = isLhs ? rank - 1 : rank - 2, across = isLhs ? rank - 2 : rank - 1;
  if (load) {
    unsigned fast = fragmentsOf(dot)->readsAlongK(isLhs ? Operand::A : Operand::B) || isContiguous(Access::of(load), k)
                        ? k
                        : across;
    if (std::optional<size_t> other = plan.carriesSums ? known(load, fast) : std::nullopt)
      return plan.copyOf[load] = *other, true;
    int64_t leastRow = leastRowOf(dot, fast == k);
    std::optional<BulkAccess> access = bulkAccess(Access::of(load), fast, why_, leastRow);
    if (!access)
      access = pixelAccess(Access::of(load), fast, leastRow);
    if (access) {
      if (!isInLoop) {
        ring = plan.rings.size();
        plan.rings.push_back({/*isOfProgram=*/true});
      }
      plan.copyOf[load] = plan.copied.size();
      plan.copied.push_back({load, fast, std::move(*access), ring});
      return true;
    }
    if (isInLoop || plan.carriesSums)
      return false;
  }
  plan.staged.push_back({operand, fastDimension(dot, isLhs, type)});
  return true;
}

bool RolePlanner::findOperands(DotOp dot) {
  bool isHeld = isHeldInRegisters(dot.getLhs());
  if (plan.rings.empty() || !plan.carriesSums)
    plan.rings.push_back({/*isOfProgram=*/false});
  size_t ring = plan.carriesSums ? 0 : plan.rings.size() - 1;
  plan.ringOf[dot] = ring;
  return (isHeld || addOperand(dot, true, ring)) && addOperand(dot, false, ring);
}

/// A product waits for a slot in every step, so it needs an operand that is copied in the loop.
bool RolePlanner::find() {
  if (!findLoop() || !findSums() || !llvm::all_of(plan.dots, [&](DotOp dot) { return findOperands(dot); }))
    return false;
  for (auto [i, ring] : llvm::enumerate(plan.rings))
    if (llvm::range_size(plan.copiedInto(i)) == 0)
      return refuse("a product reads the same in every step");
  why_.clear();
  return true;
}

std::optional<RolePlan> tilewright::tile::planRoles(KernelOp kernel, std::string &why) {
  RolePlanner planner(kernel, why);
  return planner.find() ? std::optional(std::move(planner.plan)) : std::nullopt;
}
