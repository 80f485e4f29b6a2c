// May these two groups be one kernel? The one place that answers, for the rules and for the report.
#pragma once

#include "fusion/groups/FormGroups.h"
#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// The union's geometry, or the first reason against it: data-dependent work, size, geometry, repeated work, convexity.
GeometryOrRefusal checkUnion(const GroupGraph &graph, const Group &producer, const Group &consumer);

/// The ONNX node that an operation came from; -1 if it does not say.
int64_t nodeOf(mlir::Operation *op);

/// True if `mode` lets `value` and its `user` be in one kernel by a rule that applies from `from` on.
bool modeAllows(FusionMode mode, FusionMode from, mlir::Value value, mlir::Operation *user);

} // namespace tilewright::fusion
