// SPDX-License-Identifier: Apache-2.0
// What a module may hold at each stage: the contract between the stages.
#pragma once

#include "backend/Stage.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Fails with a diagnostic at the first operation that must not occur after `stage`, or that lacks an attribute that
/// the stage sets.
mlir::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

/// Called after `stage` has run on the module: verifies the operations that it may have changed, by their own verifiers
/// and by the rules of verifyStage.
mlir::LogicalResult verifyAfter(mlir::ModuleOp module, Stage stage);

} // namespace tilewright
