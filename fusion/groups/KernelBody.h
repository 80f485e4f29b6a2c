// SPDX-License-Identifier: Apache-2.0
// Builds the body of a kernel from the operations of a group.
#pragma once

#include "fusion/groups/FusionGroup.h"
#include "fusion/keys/ComparedBand.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// Adds a kernel to the end of `module`, and the operands for its arguments to `inputs`. Operations are ordered depth
/// first from the outputs, so that equal groups give equal text (operands of commutative operations are sorted before).
/// Scalars and splats are copied into the kernel, and masks that `bands` compares, if it is given; other constants
/// become arguments. Conversions to a half type and back are removed, also around accesses and selections.
graph::KernelOp buildKernel(const Group &group, llvm::StringRef name, mlir::ModuleOp module, ComparedBands *bands,
                            llvm::SmallVectorImpl<mlir::Value> &inputs);

} // namespace tilewright::fusion
