// SPDX-License-Identifier: Apache-2.0
// Sorts the operations of a loop by whether they depend on the second product: on that of their step (late), on that of
// the step before (between), or on neither (early).
#include "tilegen/place/roles/LoopRotation.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilewright::tile;
using Part = LoopRotation::Part;

namespace {
class RotationFinder {
public:
  explicit RotationFinder(const RolePlan &plan) : plan_(plan), loop_(plan.loop) {}
  std::optional<LoopRotation> find();

private:
  bool isCarriedLate(Value value);
  Part partOf(Operation &op);
  void sort();
  bool spread();
  bool collectCrossing();

  const RolePlan &plan_;
  scf::ForOp loop_;
  LoopRotation result_;
  llvm::SmallDenseSet<unsigned> late_; // numbers of loop-carried values that late or between parts compute
};
} // namespace

bool RotationFinder::isCarriedLate(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == loop_.getBody() && argument != loop_.getInductionVar() &&
         late_.contains(argument.getArgNumber() - 1);
}

/// The operands of an operation, and the values that its regions use from outside.
static llvm::SetVector<Value> readBy(Operation &op) {
  llvm::SetVector<Value> values(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), values);
  return values;
}

Part RotationFinder::partOf(Operation &op) {
  Part part = &op == plan_.dots[1] ? Part::Late : Part::Early;
  for (Value operand : readBy(op)) {
    auto known = result_.parts.find(operand.getDefiningOp());
    Part of = isCarriedLate(operand) ? Part::Between : known == result_.parts.end() ? Part::Early : known->second;
    part = std::max(part, of);
  }
  return part;
}

void RotationFinder::sort() {
  for (Operation &op : loop_.getBody()->without_terminator())
    if (!plan_.isCopied(&op))
      result_.parts[&op] = partOf(op);
}

/// A loop-carried value is late if the loop yields a value for it that is not early. Did this find another one?
bool RotationFinder::spread() {
  bool changed = false;
  for (auto [i, yielded] : llvm::enumerate(loop_.getBody()->getTerminator()->getOperands())) {
    auto known = result_.parts.find(yielded.getDefiningOp());
    if (isCarriedLate(yielded) || (known != result_.parts.end() && known->second != Part::Early))
      changed |= late_.insert(i).second;
  }
  return changed;
}

bool RotationFinder::collectCrossing() {
  llvm::SetVector<Value> crossing;
  for (Operation &op : loop_.getBody()->without_terminator()) {
    if (plan_.isCopied(&op) || result_.parts.lookup(&op) != Part::Late)
      continue;
    if (!isa<DotOp>(op) && !isMemoryEffectFree(&op))
      return false;
    for (Value operand : readBy(op)) {
      Operation *producer = operand.getDefiningOp();
      if (producer && (plan_.isCopied(producer) || producer->getBlock() != loop_.getBody() ||
                       result_.parts.lookup(producer) == Part::Late))
        continue;
      if (!isa<RankedTensorType>(operand.getType()))
        return false;
      crossing.insert(operand);
    }
  }
  result_.crossing = crossing.takeVector();
  return true;
}

std::optional<LoopRotation> RotationFinder::find() {
  if (plan_.dots.size() != 2)
    return std::nullopt;
  do
    sort();
  while (spread());
  if (result_.parts.lookup(plan_.dots[0]) != Part::Early || !collectCrossing())
    return std::nullopt;
  for (unsigned i = 0; i < loop_.getNumRegionIterArgs(); ++i)
    (late_.contains(i) ? result_.carriedLate : result_.carriedEarly).push_back(i);
  return std::move(result_);
}

std::optional<LoopRotation> tilewright::tile::findRotation(const RolePlan &plan) { return RotationFinder(plan).find(); }
