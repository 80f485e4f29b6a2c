// SPDX-License-Identifier: Apache-2.0
// A contraction, the softmax of its rows, and a contraction that takes the softmax are one kernel, in which the scores
// stay where they are computed.
//
//     contract -> { scale, mask } -> softmax -> contract  =>  one kernel
//
// The edge is the one behind the softmax. Neither the scores with the softmax nor the softmax with the mix is a kernel
// by itself, so all three groups merge at once.
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool attentionChain(const Edge &edge) {
  auto isMax = [](mlir::Operation *op) {
    auto reduce = mlir::dyn_cast<graph::ReduceOp>(op);
    return reduce && reduce.getKind() == graph::ReduceKind::Max;
  };
  return edge.producer->geometry.kind == RootKind::RowReduction && edge.consumer->geometry.kind == RootKind::Matmul &&
         llvm::any_of(edge.producer->ops, isMax); // not a norm, of which no attention can be made
}

llvm::SmallVector<Edge> scoresOf(const GroupGraph &graph, const Edge &edge) {
  llvm::SmallVector<Edge> found;
  for (mlir::Operation *op : edge.producer->ops)
    for (mlir::Value operand : op->getOperands())
      if (Group *feeding = graph.groupOf(operand); feeding && feeding->geometry.kind == RootKind::Matmul)
        if (llvm::none_of(found, [&](const Edge &other) { return other.producer == feeding; }))
          found.push_back({feeding, edge.producer, operand, op});
  return found;
}

} // namespace tilewright::fusion
