// SPDX-License-Identifier: Apache-2.0
// What a module may hold at each stage: the contract between the stages.
#pragma once

#include "backend/Stage.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Fails with a diagnostic at the first operation that has no place in a module that has been through `stage`, or that
/// lacks what the stage gives.
mlir::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

/// Verifies what `stage`, which has just been run on the module, may have changed: its operations, and by the rules of
/// verifyStage.
mlir::LogicalResult verifyAfter(mlir::ModuleOp module, Stage stage);

} // namespace tilewright
