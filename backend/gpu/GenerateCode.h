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
  /// Intrinsics that this backend cannot select, by their names up to the type ("llvm.exp"): meeting one would abort
  /// the process.
  std::set<std::string> unselectable;
  std::string *llvmText = nullptr; // receives the LLVM IR that the code is generated from, if set
  /// Facts about the whole module that the backend reads, by the names that it gives them.
  std::map<std::string, uint32_t> moduleFlags = {};
};

/// Loads what lowering creates operations of.
void loadDialects(mlir::MLIRContext &context);

/// The conversions of everything that is left of other dialects once functions are lowered.
void addLlvmConversions(mlir::OpPassManager &passes);

/// Everything in the distributed `module` to the LLVM dialect: divisions and functions, then the conversions. Reports
/// failures as diagnostics.
mlir::LogicalResult convertToLlvm(mlir::ModuleOp module, GpuTarget &target, unsigned jobs = 1);

/// What launching each placed kernel takes.
std::map<std::string, KernelFacts> placedFacts(mlir::ModuleOp placed);

/// Optimizes and compiles a module of the LLVM dialect; returns assembly text or an object file.
Expected<std::string> generateCode(mlir::ModuleOp module, const Machine &machine);

/// The same for each function by itself, `jobs` at a time: one result a function, in their order, whatever `jobs` is.
Expected<std::vector<std::string>> generateFunctions(mlir::ModuleOp module, const Machine &machine, unsigned jobs);

} // namespace tilewright
