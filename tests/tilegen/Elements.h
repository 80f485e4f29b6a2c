// SPDX-License-Identifier: Apache-2.0
// For the tile interpreter: points of boxes, and single elements of arith and math operations.
#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright::tests {

/// Calls `visit` with every point of the box in row-major order, and its position.
void forEachPoint(llvm::ArrayRef<int64_t> box, llvm::function_ref<void(llvm::ArrayRef<int64_t>, int64_t)> visit);
int64_t positionOf(llvm::ArrayRef<int64_t> point, llvm::ArrayRef<int64_t> shape);

double numberOf(mlir::Attribute attribute);
double evaluateElement(mlir::Operation *op, llvm::ArrayRef<double> operands);
/// Kinds as both dialects number them: sum, prod, max, min.
double reduceIdentity(int kind, bool real);
double reduceStep(int kind, double a, double b);

} // namespace tilewright::tests
