// From a module whose kernels have been compiled to the plan that the runtime executes.
//
//   func.func @main(%x) {                                  values   x: input, w: constant, y: temporary, z: output
//     %w = graph.constant "..."                            steps    launch matmul (x, w, y) scalars (batch) grid (4, batch, 1)
//     %y = graph.launch @matmul(%x, %w)            ->               host_call Resize (y) -> z
//     %z = graph.host_call "Resize"(%y)
//     return %z
//   }
#pragma once

#include "backend/plan/PlanConstants.h"
#include "backend/plan/PlanRequest.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// `module` is at the tile stage: @main holds launches, host calls, branches, loops, constants, sizes and reshapes
/// only, and so does that of each module inside of it, which becomes a body of the plan. Constants that the plan names
/// are entered into `constants`. Fails with a sentence where the module asks for what a plan cannot say.
Expected<runtime::Plan> buildPlan(mlir::ModuleOp module, const PlanRequest &request, PlanConstants &constants);

} // namespace tilewright
