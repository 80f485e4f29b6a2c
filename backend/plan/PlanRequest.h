// SPDX-License-Identifier: Apache-2.0
// The parameters of building a plan.
#pragma once

#include "backend/TargetCode.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Where the code of one kernel is. Another plan's kernel may have the same code, under that kernel's name.
struct KernelCode {
  uint32_t index = 0; // in Contents::code
  std::string entry;
  KernelFacts facts;
};

struct PlanRequest {
  std::string target; // as in TargetDesc
  std::string mode;   // fusion mode
  std::vector<std::string> requirements;
  llvm::DenseMap<mlir::Operation *, KernelCode> code; // by tile.kernel, of the root and of bodies
};

} // namespace tilewright
