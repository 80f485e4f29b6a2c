// SPDX-License-Identifier: Apache-2.0
// Code generation, and the contract of the stages, as passes.
#include "backend/Passes.h"
#include "backend/CodeGenerators.h"
#include "backend/VerifyStage.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_PRINTCODEPASS
#define GEN_PASS_DEF_VERIFYSTAGEPASS
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

struct VerifyStagePass : impl::VerifyStagePassBase<VerifyStagePass> {
  void runOnOperation() override {
    if (failed(verifyStage(getOperation(), stageOf(getOperation()))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
