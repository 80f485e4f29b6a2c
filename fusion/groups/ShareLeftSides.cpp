// SPDX-License-Identifier: Apache-2.0
// The other contractions read what the first one reads; the accesses that they leave behind go.
#include "fusion/groups/ShareLeftSides.h"

#include "frontend/graph/GraphOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Erases what computed `value` within `group`, as far as nothing else reads it.
static void eraseReads(GroupGraph &graph, const Group &group, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || graph.groupOf(op) != &group || !op->use_empty())
    return;
  SmallVector<Value> operands(op->getOperands());
  graph.eraseUnused(op);
  for (Value operand : operands)
    eraseReads(graph, group, operand);
}

void fusion::shareLeftSides(GroupGraph &graph) {
  for (Group *group : graph.inOrder()) {
    SmallVector<Operation *> others = group->geometry.more;
    for (Operation *op : others) {
      auto first = cast<graph::ContractOp>(group->geometry.root), other = cast<graph::ContractOp>(op);
      Value before = other.getLhs();
      if (before == first.getLhs())
        continue;
      other.getLhsMutable().assign(first.getLhs());
      eraseReads(graph, *group, before);
    }
  }
}
