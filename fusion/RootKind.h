// What a kernel is to tilegen: which root's emitter takes it.
#pragma once

#include "fusion/Geometry.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The geometry of a kernel's body; fails with a diagnostic on the operation that does not fit.
mlir::FailureOr<Geometry> classify(graph::KernelOp kernel);

} // namespace tilewright::fusion
