// SPDX-License-Identifier: Apache-2.0
// Integer operations that LLVM leaves undefined for some operands, as the reference defines them: x / 0 and x % 0 are
// 0, the smallest number over -1 is itself, casts from floats saturate, and NaN becomes 0.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

/// The scalar result of arith operation `op` on `operands`, if it is one of those; else null.
mlir::Value emitSafeInteger(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op, mlir::ValueRange operands,
                            mlir::Type result);

} // namespace tilewright
