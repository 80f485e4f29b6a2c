// SPDX-License-Identifier: Apache-2.0
// What rewrites of operations share that happen before there are groups.
#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright::fusion {

/// Gives `op`, which replaces `others`, their ONNX nodes. Returns `op`.
mlir::Operation *nameAfter(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> others);

/// Erases an operation that nothing reads, then what only it read. Does nothing if it is read, or null.
void eraseDead(mlir::Operation *op);

} // namespace tilewright::fusion
