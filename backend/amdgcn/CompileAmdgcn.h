// SPDX-License-Identifier: Apache-2.0
// Tile kernels to a code object for AMD's GPUs.
#pragma once

#include "backend/TargetCode.h"
#include "backend/gpu/Distribute.h"
#include "runtime/Status.h"
#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

struct AmdgcnOptions {
  /// The version of code objects, 4 to 6 (LLVM's "User Guide for AMDGPU Backend"). LLVM would write 6, which ROCm
  /// before 6.3 refuses; HIP 6 and 7 load 5, HIP 5 loads 4. The kernels are the same in all of them: none has hidden
  /// arguments.
  int codeObjectVersion = 5;
  InjectedFaults faults = {};
  std::string *llvmText = nullptr; // receives the LLVM IR, if set
};

/// A code object (HSACO) with all tile.kernels of `module`, which it places first, unless they are placed. That changes
/// `module`.
Expected<TargetCode> compileAmdgcn(mlir::ModuleOp module, const TargetDesc &target, const AmdgcnOptions &options = {});

/// The same as assembly text, for people and tests.
Expected<std::string> assemblyAmdgcn(mlir::ModuleOp module, const TargetDesc &target,
                                     const AmdgcnOptions &options = {});

} // namespace tilewright
