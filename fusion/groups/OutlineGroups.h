// SPDX-License-Identifier: Apache-2.0
// Moves each group into a kernel that a launch calls, and merges equal kernels.
#pragma once

#include "fusion/groups/FusionGroup.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The operation in @main that each group became: a launch, or the host call or view itself.
using OutlinedGroups = llvm::DenseMap<Group *, mlir::Operation *>;

/// Moves the operations of `graph` into kernels at the end of the module. `graph` must not be used any more.
OutlinedGroups outlineGroups(GroupGraph &graph, mlir::ModuleOp module);

/// Merges equal kernels. Marks the arguments whose operand is a constant at every launch.
void shareKernels(mlir::ModuleOp module);

} // namespace tilewright::fusion
