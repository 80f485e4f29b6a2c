// SPDX-License-Identifier: Apache-2.0
// Calls through tables of functions, by which the kernels of the imitated GPU reach the machine.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright::test {

/// Calls row `row` of the table `name`, which has `size` rows; a null `result` means that it has none.
mlir::Value callThroughTable(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name, unsigned size, unsigned row,
                             mlir::Type result, mlir::ValueRange arguments);

} // namespace tilewright::test
