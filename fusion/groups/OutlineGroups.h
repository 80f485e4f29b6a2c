// SPDX-License-Identifier: Apache-2.0
// Moves each group into a kernel that a launch calls; equal groups share one.
#pragma once

#include "fusion/groups/FusionGroup.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The operation in @main that each group became: a launch, or the host call or view itself.
using OutlinedGroups = llvm::DenseMap<Group *, mlir::Operation *>;

/// Moves the operations of `graph` into kernels at the end of the module, equal ones into one. `graph` must not be used
/// any more.
OutlinedGroups outlineGroups(GroupGraph &graph, mlir::ModuleOp module);

/// Marks the arguments of kernels whose operand is a constant, or an input of the model, at every launch.
void markArguments(mlir::ModuleOp module);

} // namespace tilewright::fusion
