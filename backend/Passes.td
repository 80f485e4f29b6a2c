// SPDX-License-Identifier: Apache-2.0
//===- Passes.td - code generation and the stages' contract as passes ---------------------------------------------===//
#ifndef TILEWRIGHT_BACKEND_PASSES
#define TILEWRIGHT_BACKEND_PASSES

include "mlir/Pass/PassBase.td"

def PrintCodePass : Pass<"tilewright-code-print", "::mlir::ModuleOp"> {
  let summary = "Print the assembly of a module's tile kernels";
  let description = [{
    To stdout, in front of the module. Kernels for GPUs are placed by that, unless they are placed already.
  }];
  let options = [Option<"target", "target", "std::string", "\"sm_80\"", "The target, as --target spells it">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def VerifyStagePass : Pass<"tilewright-stage-verify", "::mlir::ModuleOp"> {
  let summary = "Check that a module holds what its stage allows";
  let description = [{
    The stage is the module's `graph.stage`. VerifyStage.cpp is the table of rules.
  }];
}

#endif
