// SPDX-License-Identifier: Apache-2.0
// Builds the body of a kernel from the operations of a group.
#pragma once

#include "fusion/groups/FusionGroup.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// Adds a kernel to the end of `module`. Sets `inputs` to the operands for its arguments. Operations are ordered depth
/// first from the outputs, so that equal groups, whose operands are in order, give equal text. Scalars and splats are
/// copied into the kernel; other constants become arguments. Conversions to a half type and back are removed.
graph::KernelOp buildKernel(const Group &group, llvm::StringRef name, mlir::ModuleOp module,
                            llvm::SmallVectorImpl<mlir::Value> &inputs);

} // namespace tilewright::fusion
