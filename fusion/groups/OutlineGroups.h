// Groups become kernels, each called by a launch; equal kernels become one.
#pragma once

#include "fusion/groups/FusionGroup.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The launch (or the operation that stays in @main: a host call or a view) that each group became.
using OutlinedGroups = llvm::DenseMap<Group *, mlir::Operation *>;

/// Consumes `graph`: its operations move into kernels at the end of the module.
OutlinedGroups outlineGroups(GroupGraph &graph, mlir::ModuleOp module);

/// One kernel for all launches of equal ones. Arguments whose operand is a constant at every launch are marked so.
void shareKernels(mlir::ModuleOp module);

} // namespace tilewright::fusion
