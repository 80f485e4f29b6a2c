// SPDX-License-Identifier: Apache-2.0
// How many registers ptxas may give to a kernel's threads.
#pragma once

#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Marks functions of `distributed` with the number of blocks that a multiprocessor should hold (.minnctapersm), from
/// which ptxas derives its bound. The number depends on the kernel of the same name in `placed`.
void boundRegisters(mlir::ModuleOp placed, mlir::ModuleOp distributed, const TargetDesc &target);

} // namespace tilewright
