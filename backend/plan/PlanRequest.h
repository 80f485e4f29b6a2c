// SPDX-License-Identifier: Apache-2.0
// The parameters of building a plan.
#pragma once

#include "backend/TargetCode.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// The code of one module's kernels.
struct ModuleCode {
  uint32_t index = 0; // in Contents::code
  const TargetCode *code = nullptr;
};

struct PlanRequest {
  std::string target; // as in TargetDesc
  std::string mode;   // fusion mode
  std::vector<std::string> requirements;
  llvm::DenseMap<mlir::Operation *, ModuleCode> code; // by module: of the root, and of bodies that have kernels
};

} // namespace tilewright
