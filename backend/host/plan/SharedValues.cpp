// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/SharedValues.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/BackwardWalk.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::host {

static constexpr unsigned costlyFrom = 8; // a number of instructions that costs more than a store and a load

/// Whether computing an element of `value` costs that much. Counting stops as soon as it does.
static bool isCostly(Value value) {
  unsigned cost = 0;
  walkBackward(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (!op || cost >= costlyFrom || !(isa<tile::BroadcastOp>(op) || isElementwise(op)))
      return false;
    cost += isa<tile::BroadcastOp>(op) ? 0 : elementwiseCost(op);
    return true;
  });
  return cost >= costlyFrom;
}

/// Whether `op` is emitted as loops of its own at its place in the block.
static bool startsLoops(Operation *op) { return isa<tile::ReduceOp, tile::DotOp, scf::ForOp>(op); }

SharedValues::SharedValues(Block &block) : block(block) {
  if (llvm::none_of(block, [](Operation &op) { return startsLoops(&op); }))
    return; // everything runs in the loops of the stores
  for (Operation &op : llvm::reverse(block))
    for (Value result : op.getResults())
      consumers[result] = consumersOf(result);
}

unsigned SharedValues::numberOf(const void *consumer) {
  return numbers.try_emplace(consumer, numbers.size()).first->second;
}

/// The loops in which `value` will be computed, by what starts them: a reduction, a dot, a nested loop; all stores of
/// the block are one. Whatever else reads it comes later in the block, so its own consumers are known.
llvm::SmallBitVector SharedValues::consumersOf(Value value) {
  llvm::SmallBitVector result;
  auto add = [&](const void *consumer) {
    unsigned number = numberOf(consumer);
    result.resize(std::max<unsigned>(result.size(), number + 1));
    result.set(number);
  };
  for (Operation *user : value.getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (isa<tile::StoreOp>(here) || here->hasTrait<OpTrait::IsTerminator>()) {
      add(&block);
    } else if (startsLoops(here)) {
      add(here);
      if (isa<scf::ForOp>(here) && user != here)
        add(&here->getRegion(0)); // computed again in every iteration
    } else {
      result |= consumers.lookup(here->getResult(0));
    }
  }
  return result;
}

bool SharedValues::isSharedAndCostly(Value value) const {
  Operation *op = value.getDefiningOp();
  auto found = consumers.find(value);
  if (found == consumers.end() || !isElementwise(op) || found->second.count() < 2 || !isCostly(value))
    return false;
  // If a user is needed in as many loops, it is buffered instead.
  return llvm::none_of(value.getUsers(), [&](Operation *user) {
    return user->getBlock() == &block && isElementwise(user) &&
           consumers.lookup(user->getResult(0)).count() == found->second.count();
  });
}

} // namespace tilewright::host
