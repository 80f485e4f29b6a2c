// SPDX-License-Identifier: Apache-2.0
// Tile kernels to PTX.
#pragma once

#include "backend/TargetCode.h"
#include "backend/gpu/Distribute.h"
#include "runtime/Status.h"
#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

struct NvptxOptions {
  bool cubin = false; // assemble with ptxas, which must be installed
  InjectedFaults faults;
  unsigned jobs = 1;               // kernels that are compiled at a time; the result does not depend on it
  std::string *llvmText = nullptr; // receives the LLVM IR, if set
};

/// PTX (or a cubin) of all tile.kernels of `module`, which it places first, unless they are placed. That changes
/// `module`.
Expected<TargetCode> compileNvptx(mlir::ModuleOp module, const TargetDesc &target, const NvptxOptions &options = {});

} // namespace tilewright
