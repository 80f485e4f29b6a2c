// Code generation as a pass.
#include "backend/Passes.h"
#include "backend/CodeGenerators.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_PRINTCODEPASS
#include "backend/Passes.h.inc"

namespace {

struct PrintCodePass : impl::PrintCodePassBase<PrintCodePass> {
  using PrintCodePassBase::PrintCodePassBase;
  void runOnOperation() override {
    Expected<const TargetDesc *> desc = findTarget(target);
    Expected<CodeText> text = desc ? generateText(getOperation(), **desc) : Expected<CodeText>(desc.status());
    if (!text) {
      getOperation().emitError(text.status().message());
      return signalPassFailure();
    }
    llvm::outs() << text->assembly;
  }
};

} // namespace
} // namespace tilewright
