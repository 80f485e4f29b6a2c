// SPDX-License-Identifier: Apache-2.0
// The second contraction reads what the first one reads; the accesses that it leaves behind go.
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
    if (!group->geometry.pair)
      continue;
    auto first = cast<graph::ContractOp>(group->geometry.root), second = cast<graph::ContractOp>(group->geometry.pair);
    Value before = second.getLhs();
    if (before == first.getLhs())
      continue;
    second.getLhsMutable().assign(first.getLhs());
    eraseReads(graph, *group, before);
  }
}
