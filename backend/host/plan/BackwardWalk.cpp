// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/BackwardWalk.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tilewright::host {

void walkBackward(Value value, llvm::function_ref<bool(Value)> visit) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> waiting = {value};
  while (!waiting.empty()) {
    Value next = waiting.pop_back_val();
    if (!seen.insert(next).second || !visit(next))
      continue;
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(waiting, llvm::reverse(op->getOperands()));
  }
}

} // namespace tilewright::host
