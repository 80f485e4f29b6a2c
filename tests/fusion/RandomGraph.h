// SPDX-License-Identifier: Apache-2.0
// Random graphs of all kinds of operations that normalization rewrites and fusion groups.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright::test {

/// A module whose @main has about `operations` operations on small static float tensors. The same seed gives the same
/// module.
mlir::OwningOpRef<mlir::ModuleOp> randomGraph(mlir::MLIRContext &context, unsigned seed, unsigned operations);

} // namespace tilewright::test
