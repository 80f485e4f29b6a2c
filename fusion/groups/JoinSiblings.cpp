// SPDX-License-Identifier: Apache-2.0
// Visits the groups in order, and tries each with the earlier readers of its operands.
#include "fusion/groups/JoinSiblings.h"

#include "fusion/Legality.h"
#include "fusion/cost/KernelLimits.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Whether two groups that read the same value may be joined: pointwise, and with outputs of the same sizes.
static bool areSiblings(const Group &a, const Group &b, FusionMode mode) {
  auto isPlain = [](const Group &group) {
    return !group.onHost && !group.isView() && group.geometry.kind == RootKind::Pointwise &&
           !group.geometry.outputs.empty(); // empty for an operation that is no kernel, or that nothing reads
  };
  if (!isPlain(a) || !isPlain(b) || (mode != FusionMode::All && a.nodes() != b.nodes()))
    return false;
  auto sizes = [](const Group &group) {
    return graph::getSizes(cast<RankedTensorType>(group.geometry.outputs.front().getType()));
  };
  return sizes(a) == sizes(b);
}

/// Bounds the compile time for values with very many readers: each reader is tried with this many others.
static constexpr size_t mostSiblings = 32;

void fusion::joinSiblings(GroupGraph &graph, FusionMode mode) {
  llvm::DenseMap<Value, SmallVector<Operation *>> readers; // one operation of each group that reads the value
  for (Group *group : graph.inOrder())
    for (Operation *op : SmallVector<Operation *>(group->ops))
      for (Value operand : op->getOperands()) {
        group = graph.groupOf(op);
        bool isInput = operand.getDefiningOp()
                           ? !isConstantLike(operand.getDefiningOp()) && graph.groupOf(operand) != group
                           : true;
        if (!isInput)
          continue;
        SmallVector<Operation *> &others = readers[operand];
        for (Operation *reader : others) {
          Group *sibling = graph.groupOf(reader);
          if (sibling == group || isTooLarge(*sibling, *group) || !areSiblings(*sibling, *group, mode) ||
              graph.pathAround(*group, *sibling))
            continue;
          GeometryOrRefusal geometry = checkUnion(graph, *sibling, *group);
          if (auto *legal = std::get_if<Geometry>(&geometry)) {
            graph.merge(*sibling, *group, std::move(*legal));
            group = sibling;
          }
        }
        if (llvm::none_of(others, [&](Operation *reader) { return graph.groupOf(reader) == group; }) &&
            others.size() < mostSiblings)
          others.push_back(op);
      }
}
