// SPDX-License-Identifier: Apache-2.0
// Tile IR to machine code: one generator for each family of targets, found by the family's name in TargetDesc.
#pragma once

#include "backend/TargetCode.h"
#include "runtime/Status.h"
#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

class GpuTarget;

struct CodeOptions {
  bool cubin = false;        // NVIDIA: assemble with ptxas, which must be installed; otherwise the driver compiles PTX
  int codeObjectVersion = 5; // AMD: 4, 5 or 6
  unsigned jobs = 1;         // kernels compiled at a time (not for AMD); the code does not depend on it
};

/// Code for every tile.kernel of `module`. If the target is a GPU, this first places the kernels of `module` that are
/// not placed yet.
Expected<TargetCode> generateCode(mlir::ModuleOp module, const TargetDesc &target, const CodeOptions &options = {});

/// The same code as text: LLVM IR, and PTX or assembly.
struct CodeText {
  std::string llvm, assembly;
};
Expected<CodeText> generateText(mlir::ModuleOp module, const TargetDesc &target, const CodeOptions &options = {});

/// What distribution asks of a target that is a GPU; null for the others.
std::unique_ptr<GpuTarget> makeGpuTarget(const TargetDesc &target);

/// Gives the tiles of a GPU's kernels their layouts and places. Host programs stay as they are.
mlir::LogicalResult placeKernels(mlir::ModuleOp module, const TargetDesc &target);

} // namespace tilewright
