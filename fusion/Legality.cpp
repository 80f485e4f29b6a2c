// SPDX-License-Identifier: Apache-2.0
// The checks that every fusion must pass.
#include "fusion/Legality.h"

#include "frontend/graph/GraphOps.h"
#include "fusion/cost/CostModel.h"
#include "fusion/cost/KernelLimits.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Do all contractions multiply elements that the fusion is for?
static bool multiplies(ArrayRef<Operation *> ops, AttentionFusion which) {
  return llvm::all_of(ops, [&](Operation *op) {
    return !isa<graph::ContractOp>(op) || llvm::all_of(op->getOperandTypes(), [&](Type type) {
      Type element = cast<RankedTensorType>(type).getElementType();
      return element.isF16() || element.isBF16() || (which == AttentionFusion::Floats && element.isF32());
    });
  });
}

/// What can be said of the operations alone.
static GeometryOrRefusal checkOperations(ArrayRef<Operation *> ops, Machine machine) {
  GeometryOrRefusal geometry = analyze(ops);
  if (std::holds_alternative<Refusal>(geometry))
    return geometry;
  // A core computes one after the other, and what multiplies large singles on GPUs takes one sum (tilegen/place/roles).
  if (Operation *pair = std::get<Geometry>(geometry).pair;
      pair && (machine == Machine::Cpu || !multiplies(ops, AttentionFusion::Halves)))
    return Refusal{Reason::Target, pair};
  if (std::optional<Refusal> refusal = tooManyTiles(ops, std::get<Geometry>(geometry)))
    return *refusal;
  if (std::optional<Refusal> refusal = repeatedWork(ops, std::get<Geometry>(geometry), machine))
    return *refusal;
  return geometry;
}

GeometryOrRefusal fusion::checkUnion(const GroupGraph &graph, const Group &producer, const Group &consumer) {
  if (producer.onHost || consumer.onHost)
    return Refusal{Reason::DataDependent, consumer.ops.front()};
  if (isTooLarge(producer, consumer))
    return Refusal{Reason::TooLarge, consumer.ops.front()};
  GeometryOrRefusal geometry = checkOperations(GroupGraph::united(producer, consumer), graph.machine());
  if (std::holds_alternative<Refusal>(geometry))
    return geometry;
  if (graph.pathAround(producer, consumer))
    return Refusal{Reason::NotConvex, consumer.ops.front()};
  return geometry;
}

/// No path leaves the three and comes back, since nothing else reads what `scores` and `softmax` compute: only what the
/// mix computes is an output of an attention.
GeometryOrRefusal fusion::checkAttention(const FusionOptions &options, const Group &scores, const Group &softmax,
                                         const Group &mix) {
  AttentionFusion which = options.attention;
  if (isTooLarge(scores, softmax) || isTooLarge(softmax, mix) || isTooLarge(scores, mix))
    return Refusal{Reason::TooLarge, mix.ops.front()};
  Group both;
  both.ops = GroupGraph::united(scores, softmax);
  SmallVector<Operation *> ops = GroupGraph::united(both, mix);
  GeometryOrRefusal geometry = checkOperations(ops, options.machine);
  if (std::holds_alternative<Refusal>(geometry))
    return geometry;
  if (which == AttentionFusion::None)
    return Refusal{Reason::Target, mix.ops.front()};
  bool goesByType = which == AttentionFusion::Halves || which == AttentionFusion::Floats;
  if (goesByType && !multiplies(ops, which))
    return Refusal{Reason::Target, mix.ops.front()};
  if (which == AttentionFusion::Large)
    if (std::optional<Refusal> refusal = smallAttention(ops))
      return *refusal;
  return geometry;
}
