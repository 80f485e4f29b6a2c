// The group stage as a pass.
#include "fusion/Passes.h"

#include "fusion/groups/FormGroups.h"
#include "fusion/FusionReport.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Normalize.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct FormGroupsPass : PassWrapper<FormGroupsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormGroupsPass)
  FormGroupsPass() = default;
  FormGroupsPass(const FormGroupsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "tilewright-group-form-groups"; }
  StringRef getDescription() const final { return "Form groups of operations and outline each as a kernel"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<graph::GraphDialect>(); }

  void runOnOperation() final {
    std::optional<fusion::FusionMode> parsed = fusion::parseFusionMode(mode);
    if (!parsed) {
      getOperation().emitError("expected mode none, epilogue or all, got '") << mode << "'";
      return signalPassFailure();
    }
    fusion::FusionReport report;
    if (failed(fusion::formGroups(getOperation(), *parsed, explain == "none" ? nullptr : &report)))
      return signalPassFailure();
    if (explain != "none")
      llvm::outs() << (explain == "json" ? report.json() : report.text());
  }

  Option<std::string> mode{*this, "mode", llvm::cl::desc("none, epilogue or all"), llvm::cl::init("all")};
  Option<std::string> explain{*this, "explain", llvm::cl::desc("Print why edges are not fused: none, text or json"),
                              llvm::cl::init("none")};
};

} // namespace

void fusion::registerFusionPasses() {
  registerNormalizePasses();
  PassRegistration<FormGroupsPass>();
}
