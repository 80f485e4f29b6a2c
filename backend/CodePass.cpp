// Code generation as a pass, for tilewright-opt.
#include "backend/CodePass.h"
#include "backend/CodeGenerators.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct CodePass : PassWrapper<CodePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CodePass)
  CodePass() = default;
  CodePass(const CodePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tilewright-code-print"; }
  StringRef getDescription() const override { return "Print the assembly of a module's tile kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, vector::VectorDialect, cf::ControlFlowDialect, arith::ArithDialect,
                    math::MathDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    Expected<const TargetDesc *> desc = findTarget(target);
    Expected<CodeText> text = desc ? generateText(getOperation(), **desc) : Expected<CodeText>(desc.status());
    if (!text) {
      getOperation().emitError(text.status().message());
      return signalPassFailure();
    }
    llvm::outs() << text->assembly;
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("A row of TargetDesc's table"), llvm::cl::init("sm_80")};
};
} // namespace

void tilewright::registerCodePasses() { PassRegistration<CodePass>(); }
