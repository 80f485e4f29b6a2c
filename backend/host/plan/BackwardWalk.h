// SPDX-License-Identifier: Apache-2.0
// Walks over the tile operations that a value is computed from.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilewright::host {

/// Calls `visit` for `value` and everything that it is computed from, each once, operands in order. Where `visit`
/// returns false, the walk does not go on to the operands.
void walkBackward(mlir::Value value, llvm::function_ref<bool(mlir::Value)> visit);

} // namespace tilewright::host
