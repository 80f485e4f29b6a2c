// Tile kernels to a code object for AMD's GPUs.
#pragma once

#include "backend/TargetCode.h"
#include "backend/lowering/Distribute.h"
#include "runtime/Status.h"
#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// A code object (HSACO) with all tile.kernels of `module`, which it places first, unless they are placed. `module` is changed by that.
Expected<TargetCode> compileAmdgcn(mlir::ModuleOp module, const TargetDesc &target);

/// The same as assembly text, for people and tests; `llvmText` receives the LLVM IR, if set.
Expected<std::string> assemblyAmdgcn(mlir::ModuleOp module, const TargetDesc &target, std::string *llvmText = nullptr);

} // namespace tilewright
