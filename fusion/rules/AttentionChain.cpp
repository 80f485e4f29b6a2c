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
  return edge.producer->geometry.kind == RootKind::RowReduction && edge.consumer->geometry.kind == RootKind::Matmul;
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

/// Of the operands of a group's contraction.
static bool areHalves(const Group &group) {
  auto contract = llvm::dyn_cast_or_null<graph::ContractOp>(group.geometry.root);
  return contract && llvm::all_of(contract->getOperandTypes(), [](mlir::Type type) {
           mlir::Type element = llvm::cast<mlir::RankedTensorType>(type).getElementType();
           return element.isF16() || element.isBF16();
         });
}

bool chainsElements(FusionOptions options, const Edge &feed, const Edge &edge) {
  if (options.chains != ChainedProducts::Halves)
    return options.chains == ChainedProducts::Any;
  return areHalves(*feed.producer) && areHalves(*edge.consumer);
}

} // namespace tilewright::fusion
