// SPDX-License-Identifier: Apache-2.0
// The stage "group" as a pass.
#include "fusion/Passes.h"

#include "fusion/FusionReport.h"
#include "fusion/groups/FormGroups.h"

using namespace mlir;

namespace tilewright::fusion {

#define GEN_PASS_DEF_FORMGROUPSPASS
#include "fusion/Passes.h.inc"

namespace {

struct FormGroupsPass : impl::FormGroupsPassBase<FormGroupsPass> {
  using FormGroupsPassBase::FormGroupsPassBase;
  void runOnOperation() override {
    std::optional<FusionMode> parsed = parseFusionMode(mode);
    if (!parsed) {
      getOperation().emitError("expected mode none, epilogue or all, got '") << mode << "'";
      return signalPassFailure();
    }
    std::optional<AttentionFusion> attentions = parseAttentionFusion(attention);
    if (!attentions) {
      getOperation().emitError("expected attention none, large, halves, floats or all, got '") << attention << "'";
      return signalPassFailure();
    }
    FusionReport report;
    FusionOptions options{*parsed, *attentions, cpu ? Machine::Cpu : Machine::Gpu};
    auto columns = [](int64_t option) { return option > 0 ? option : std::numeric_limits<int64_t>::max(); };
    if (copiedColumns > 0 || pixelColumns > 0)
      options.windows = SingleWindows{columns(pixelColumns), columns(copiedColumns)};
    options.longestHeldRow = longestHeldRow;
    options.walksPixels = walksPixels;
    if (failed(formGroups(getOperation(), options, explain == "none" ? nullptr : &report)))
      return signalPassFailure();
    if (explain != "none")
      llvm::outs() << (explain == "json" ? report.json(/*indent=*/2) + "\n" : report.text());
  }
};

} // namespace
} // namespace tilewright::fusion
