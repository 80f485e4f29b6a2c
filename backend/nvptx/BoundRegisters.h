// SPDX-License-Identifier: Apache-2.0
// How many registers ptxas may give to a kernel's threads.
#pragma once

#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Marks functions of `distributed` with the blocks that a multiprocessor should hold (.minnctapersm), by what their
/// kernels in `placed` are.
void boundRegisters(mlir::ModuleOp placed, mlir::ModuleOp distributed, const TargetDesc &target);

} // namespace tilewright
