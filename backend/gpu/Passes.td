// SPDX-License-Identifier: Apache-2.0
//===- Passes.td - from placed tile kernels to the LLVM dialect, step by step, for tilewright-opt -----------------===//
//
// What code generation for a GPU does between placing and LLVM:
//
//   tilewright-math-narrow-products
//   tilewright-math-approximate-exponentials
//   tilewright-math-divide-by-row-reciprocals
//   tilewright-gpu-distribute
//   tilewright-math-mark-reciprocal-divisions
//   tilewright-math-expand-functions
//   tilewright-gpu-lower-functions
//   tilewright-gpu-convert-to-llvm
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_GPU_PASSES
#define TILEWRIGHT_GPU_PASSES

include "mlir/Pass/PassBase.td"

class GpuStep<string step> : Pass<"tilewright-gpu-" # step, "::mlir::ModuleOp"> {
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def DistributePass : GpuStep<"distribute"> {
  let summary = "Turn placed tile kernels into one thread's program";
  let description = [{
    The module's tile.kernels become llvm.funcs, in which each tile is a scalar for each register of its layout. Other
    operations of the module are dropped. Divisions and casts of integers become safe, and lanes exchange elements where
    that makes accesses to global memory wider.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "The target, as --target spells it">];
}

def LowerFunctionsPass : GpuStep<"lower-functions"> {
  let summary = "Replace functions and divisions of f32 by the target's intrinsics";
  let description = [{
    Divisions that tilewright-math-mark-reciprocal-divisions has marked become products with the target's reciprocal.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "The target, as --target spells it">];
}

def ConvertToLlvmPass : GpuStep<"convert-to-llvm"> {
  let summary = "Convert distributed kernels to the LLVM dialect";
  let description = [{ MLIR's conversions of scf, vector, math, arith and cf, one after the other. }];
}

#endif
