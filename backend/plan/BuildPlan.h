// SPDX-License-Identifier: Apache-2.0
// Builds the plan that the runtime executes from a module whose kernels are compiled.
//
//   func.func @main(%x) {                        values   x: input, w: constant, y: temporary, z: output
//     %w = graph.constant "..."                  steps    launch matmul (x, w, y) scalars (batch) grid (4, batch, 1)
//     %y = graph.launch @matmul(%x, %w)   ->              host_call Resize (y) -> z
//     %z = graph.host_call "Resize"(%y)
//     return %z
//   }
#pragma once

#include "backend/plan/PlanConstants.h"
#include "backend/plan/PlanRequest.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// `module` is at the tile stage: its @main, and that of each nested module, has launches, host calls, branches, loops,
/// constants, sizes and reshapes only. Nested modules become bodies of the plan. Adds the plan's constants to
/// `constants`. Fails with a sentence if the module has an operation that a plan cannot express.
Expected<runtime::Plan> buildPlan(mlir::ModuleOp module, const PlanRequest &request, PlanConstants &constants);

} // namespace tilewright
