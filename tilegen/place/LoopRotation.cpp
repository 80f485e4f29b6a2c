// SPDX-License-Identifier: Apache-2.0
// Which operations of a loop are late: what the second product's sums flow into, and what alone uses that.
#include "tilegen/place/LoopRotation.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
class RotationFinder {
public:
  explicit RotationFinder(const RolePlan &plan) : plan_(plan), loop_(plan.loop) {}
  std::optional<LoopRotation> find();

private:
  bool isLate(Value value);
  bool spreadOnce();
  void takeBroadcasts();
  bool collectCrossing();

  const RolePlan &plan_;
  scf::ForOp loop_;
  LoopRotation result_;
  llvm::SmallDenseSet<unsigned> late_; // of what the loop carries
};
} // namespace

bool RotationFinder::isLate(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == loop_.getBody() && argument != loop_.getInductionVar() &&
           late_.contains(argument.getArgNumber() - 1);
  return result_.late.contains(value.getDefiningOp());
}

/// What takes something late is late, and so is what the loop carries if a late value is yielded for it. Did anything
/// change?
bool RotationFinder::spreadOnce() {
  bool changed = false;
  for (Operation &op : loop_.getBody()->without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return isLate(operand); }))
      changed |= result_.late.insert(&op).second;
  for (auto [i, yielded] : llvm::enumerate(loop_.getBody()->getTerminator()->getOperands()))
    if (isLate(yielded))
      changed |= late_.insert(i).second;
  return changed;
}

/// A broadcast only renames registers, so its input crosses in its place.
void RotationFinder::takeBroadcasts() {
  for (Operation &op : llvm::reverse(loop_.getBody()->without_terminator()))
    if (isa<BroadcastOp>(op) &&
        llvm::all_of(op.getUsers(), [&](Operation *user) { return result_.late.contains(user); }))
      result_.late.insert(&op);
}

/// What is early and used late. Nothing late may read memory or know in which step it is.
bool RotationFinder::collectCrossing() {
  llvm::SetVector<Value> crossing;
  for (Operation *op : result_.late) {
    if (!isa<DotOp>(op) && !isMemoryEffectFree(op))
      return false;
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (isLate(operand) || (producer && (plan_.isCopied(producer) || producer->getBlock() != loop_.getBody())))
        continue;
      if (!producer || !isa<RankedTensorType>(operand.getType()))
        return false;
      crossing.insert(operand);
    }
  }
  // In the order of the loop, whatever the order of the set.
  for (Operation &op : loop_.getBody()->without_terminator())
    for (Value value : op.getResults())
      if (crossing.contains(value))
        result_.crossing.push_back(value);
  return true;
}

std::optional<LoopRotation> RotationFinder::find() {
  if (plan_.dots.size() != 2)
    return std::nullopt;
  result_.late.insert(plan_.dots[1]);
  while (spreadOnce())
    ;
  if (result_.late.contains(plan_.dots[0]))
    return std::nullopt;
  takeBroadcasts();
  if (!collectCrossing())
    return std::nullopt;
  for (unsigned i = 0; i < loop_.getNumRegionIterArgs(); ++i)
    (late_.contains(i) ? result_.carriedLate : result_.carriedEarly).push_back(i);
  return std::move(result_);
}

std::optional<LoopRotation> tilewright::tile::findRotation(const RolePlan &plan) { return RotationFinder(plan).find(); }
