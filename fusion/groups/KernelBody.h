// A group's operations as a kernel's body.
#pragma once

#include "fusion/groups/FusionGroup.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// A new kernel at the end of `module`; `inputs` become the values that its arguments stand for. Operations follow
/// their outputs depth first, so that equal groups give equal text. Scalars and splats are inside; other constants are
/// arguments. Rounding to a half type and back inside the kernel is left out.
graph::KernelOp buildKernel(const Group &group, llvm::StringRef name, mlir::ModuleOp module,
                            llvm::SmallVectorImpl<mlir::Value> &inputs);

} // namespace tilewright::fusion
