// SPDX-License-Identifier: Apache-2.0
// Reads the attributes graph.node and graph.nodes.
#include "fusion/OnnxNodes.h"

#include "frontend/graph/GraphOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

int64_t fusion::nodeOf(Operation *op) {
  auto node = llvm::dyn_cast_or_null<IntegerAttr>(op->getDiscardableAttr(graph::nodeAttr)); // asked for every edge
  return node ? node.getInt() : -1;
}

std::optional<NodeLabel> fusion::labelOf(ModuleOp module, int64_t node) {
  auto table = module->getAttrOfType<ArrayAttr>(graph::nodesAttr);
  if (!table || node < 0 || node >= static_cast<int64_t>(table.size()))
    return std::nullopt;
  auto [name, op] = cast<StringAttr>(table[node]).getValue().rsplit('|');
  return NodeLabel{name, op};
}
