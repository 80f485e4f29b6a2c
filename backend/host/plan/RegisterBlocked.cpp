// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/RegisterBlocked.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/BackwardWalk.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilewright::host {

bool isRegisterBlocked(Operation *op) { return op && isa<tile::DotOp, scf::ForOp>(op); }

/// Whether a register-blocked value is read by elementwise operations only, all of which end in stores of `block`.
static bool endsInStores(Value blocked, Block *block) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> waiting = {blocked};
  bool stored = false;
  while (!waiting.empty())
    for (Operation *user : waiting.pop_back_val().getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (isa<tile::StoreOp>(here) || here->hasTrait<OpTrait::IsTerminator>())
        stored = true;
      else if (!isElementwise(here))
        return false;
      else if (seen.insert(here).second)
        waiting.push_back(here->getResult(0));
    }
  return stored;
}

bool feedsOneStore(Value blocked) {
  Block *block = blocked.getParentBlock();
  Value value = blocked;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (user->getBlock() != block)
      return false;
    if (isa<tile::StoreOp>(user) || (isa<scf::YieldOp>(user) && isa<RankedTensorType>(value.getType())))
      return true;
    if (!isElementwise(user))
      return false;
    value = user->getResult(0);
  }
  // Several uses are allowed too if all of them end in stores: these run in one nest.
  return !isa<scf::ForOp>(block->getParentOp()) && endsInStores(blocked, block);
}

void collectRegisterBlocked(Value value, IsBuffered isBuffered, SmallVectorImpl<Value> &result) {
  walkBackward(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (!op || isBuffered(next))
      return false;
    if (isRegisterBlocked(op) && !llvm::is_contained(result, next))
      result.push_back(next);
    return !isRegisterBlocked(op) && isElementwise(op);
  });
}

void collectBuffered(Value value, IsBuffered isBuffered, SmallVectorImpl<Value> &result) {
  walkBackward(value, [&](Value next) {
    if (next != value && isBuffered(next)) {
      result.push_back(next);
      return false;
    }
    Operation *op = next.getDefiningOp();
    return op && isElementwise(op);
  });
}

void collectGuarded(Value value, IsBuffered isBuffered, SmallVectorImpl<tile::LoadOp> &result) {
  walkBackward(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (!op || isBuffered(next))
      return false;
    op->walk([&](tile::LoadOp load) {
      if (!load.getGuard().empty() && !isBuffered(load.getResult()) && !llvm::is_contained(result, load))
        result.push_back(load);
    });
    return true;
  });
}

} // namespace tilewright::host
