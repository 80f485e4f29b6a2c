// Code generation as a pass, for tilewright-opt.
#include "backend/CodePass.h"
#include "backend/amdgcn/CompileAmdgcn.h"
#include "backend/nvptx/CompileNvptx.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;

static Expected<std::string> assembly(ModuleOp module, const TargetDesc &desc, InjectedFaults faults) {
  if (desc.backend == Backend::Amdgcn)
    return assemblyAmdgcn(module, desc);
  if (desc.backend != Backend::Nvptx)
    return Status(Code::Usage, fmt::format("expected a GPU because this pass prints GPU assembly, got {}", desc.name));
  Expected<TargetCode> code = compileNvptx(module, desc, {.faults = faults});
  if (!code)
    return code.status();
  return std::string(reinterpret_cast<const char *>(code->bytes.data()), code->bytes.size());
}

namespace {
struct CodePass : PassWrapper<CodePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CodePass)
  CodePass() = default;
  CodePass(const CodePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tilewright-code-print"; }
  StringRef getDescription() const override { return "Print the assembly of a module's tile kernels"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, vector::VectorDialect, cf::ControlFlowDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    Expected<const TargetDesc *> desc = findTarget(target);
    Expected<std::string> text = desc ? assembly(getOperation(), **desc, {dropMasks, dropBarriers}) : Expected<std::string>(desc.status());
    if (!text) {
      getOperation().emitError(text.status().message());
      return signalPassFailure();
    }
    llvm::outs() << *text;
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("A row of TargetDesc's table"), llvm::cl::init("sm_80")};
  Option<bool> dropMasks{*this, "drop-masks", llvm::cl::desc("Inject a fault: stores ignore bounds"), llvm::cl::init(false)};
  Option<bool> dropBarriers{*this, "drop-barriers", llvm::cl::desc("Inject a fault: no barriers"), llvm::cl::init(false)};
};
} // namespace

void tilewright::registerCodePasses() { PassRegistration<CodePass>(); }
