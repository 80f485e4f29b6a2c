// SPDX-License-Identifier: Apache-2.0
#include "fusion/Replacement.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Patterns.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;

Operation *fusion::nameAfter(Operation *op, ArrayRef<Operation *> others) {
  llvm::SetVector<int64_t> nodes;
  for (Operation *other : others)
    if (SmallVector<int64_t> own = normalize::nodesOf(other); other->hasAttr(graph::nodeAttr))
      nodes.insert(own.begin(), own.end());
  if (nodes.empty())
    return op;
  op->setAttr(graph::nodeAttr, IntegerAttr::get(IntegerType::get(op->getContext(), 64), nodes.front()));
  if (nodes.size() > 1)
    op->setAttr(graph::nodesOfAttr, DenseI64ArrayAttr::get(op->getContext(), nodes.getArrayRef()));
  return op;
}

void fusion::eraseDead(Operation *op) {
  llvm::SetVector<Operation *> dead;
  if (op)
    dead.insert(op);
  while (!dead.empty()) {
    Operation *next = dead.pop_back_val();
    if (!next->use_empty())
      continue;
    for (Value operand : next->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        dead.insert(definition);
    next->erase();
  }
}
