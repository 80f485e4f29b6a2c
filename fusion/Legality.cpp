// SPDX-License-Identifier: Apache-2.0
// The checks that every fusion must pass.
#include "fusion/Legality.h"

#include "frontend/graph/GraphOps.h"
#include "fusion/cost/CostModel.h"
#include "fusion/cost/KernelLimits.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

GeometryOrRefusal fusion::checkUnion(const GroupGraph &graph, const Group &producer, const Group &consumer) {
  if (producer.onHost || consumer.onHost)
    return Refusal{Reason::DataDependent, consumer.ops.front()};
  if (isTooLarge(producer, consumer))
    return Refusal{Reason::TooLarge, consumer.ops.front()};
  SmallVector<Operation *> ops = GroupGraph::united(producer, consumer);
  GeometryOrRefusal geometry = analyze(ops);
  if (std::holds_alternative<Refusal>(geometry))
    return geometry;
  if (std::optional<Refusal> refusal = tooManyTiles(ops, std::get<Geometry>(geometry)))
    return *refusal;
  if (std::optional<Refusal> refusal = repeatedWork(ops, std::get<Geometry>(geometry)))
    return *refusal;
  if (graph.pathAround(producer, consumer))
    return Refusal{Reason::NotConvex, consumer.ops.front()};
  return geometry;
}
