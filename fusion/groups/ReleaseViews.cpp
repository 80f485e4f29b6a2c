// SPDX-License-Identifier: Apache-2.0
// Repeats until no group has a reshape at its border.
#include "fusion/groups/ReleaseViews.h"

#include "frontend/graph/GraphOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

void fusion::releaseViews(GroupGraph &graph) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : graph.operations()) {
      Group *group = graph.groupOf(op);
      if (!isa<graph::ReshapeOp>(op) || group->ops.size() == 1)
        continue;
      bool first = graph.groupOf(op->getOperand(0)) != group;
      bool last = llvm::none_of(op->getUsers(), [&](Operation *user) { return graph.groupOf(user) == group; });
      changed |= (first || last) && graph.release(op);
    }
  }
}
