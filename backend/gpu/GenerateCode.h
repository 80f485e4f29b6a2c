// SPDX-License-Identifier: Apache-2.0
// From a distributed module to machine code: MLIR's conversions to the LLVM dialect, LLVM's optimizer, a target
// machine.
#pragma once

#include "backend/TargetCode.h"
#include "backend/gpu/GpuTarget.h"
#include "runtime/Status.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CodeGen.h"

#include <map>
#include <set>
#include <string>

namespace tilewright {

/// The machine that LLVM compiles for. Its target must have been initialized.
struct Machine {
  std::string triple, cpu, features;
  llvm::CodeGenFileType output = llvm::CodeGenFileType::AssemblyFile;
  /// Names, without the type's suffix ("llvm.exp"), of intrinsics that LLVM's backend cannot select. A call of one is
  /// refused with a Status, because LLVM would abort the process.
  std::set<std::string> unselectable;
  std::string *llvmText = nullptr; // receives the LLVM IR that the code is generated from, if set
  /// Facts about the whole module that the backend reads, by the names that it gives them.
  std::map<std::string, uint32_t> moduleFlags = {};
  llvm::CodeGenOptLevel effort = llvm::CodeGenOptLevel::Aggressive; // of selection and registers, not of the optimizer
};

/// Loads the dialects whose operations lowering creates.
void loadDialects(mlir::MLIRContext &context);

/// Adds the passes that convert all remaining dialects to LLVM's, for modules whose math functions are lowered.
void addLlvmConversions(mlir::OpPassManager &passes);

/// Converts the distributed `module` to the LLVM dialect: first divisions and math functions, then everything else.
/// Reports failures as diagnostics.
mlir::LogicalResult convertToLlvm(mlir::ModuleOp module, GpuTarget &target, unsigned jobs = 1);

/// The facts of each placed kernel that its launch needs, by the kernel's name.
std::map<std::string, KernelFacts> placedFacts(mlir::ModuleOp placed);

/// Optimizes and compiles a module of the LLVM dialect; returns assembly text or an object file.
Expected<std::string> generateCode(mlir::ModuleOp module, const Machine &machine);

/// The same for each function as a module of its own, `jobs` at a time: one result for each function, in their order.
/// The results do not depend on `jobs`.
Expected<std::vector<std::string>> generateFunctions(mlir::ModuleOp module, const Machine &machine, unsigned jobs);

} // namespace tilewright
