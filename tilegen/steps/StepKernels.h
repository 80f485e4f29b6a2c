// SPDX-License-Identifier: Apache-2.0
// Stage "schedule": loops whose body is one kernel become one launch of that kernel, which then runs all steps.
#pragma once

#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Replaces each flow.loop of `module`, and of the modules in it, whose body is one kernel that has a schedule for all
/// of its steps (tilegen/steps/StepSchedules.h). The kernel moves out of the body, which goes away, and has its
/// schedule. Fails with a diagnostic.
mlir::LogicalResult formStepKernels(mlir::ModuleOp module, const TargetDesc &target);

} // namespace tilewright
