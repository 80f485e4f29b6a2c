// SPDX-License-Identifier: Apache-2.0
// What a module may hold at each stage: the contract between the stages.
#pragma once

#include "backend/Stage.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Fails with a diagnostic at the first operation that has no place in a module that has been through `stage`, or that
/// lacks what the stage gives.
mlir::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

/// The same, and verifies the operations that `stage`, which has just made the module, may have changed.
mlir::LogicalResult verifyAfter(mlir::ModuleOp module, Stage stage);

} // namespace tilewright
