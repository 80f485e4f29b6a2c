// SPDX-License-Identifier: Apache-2.0
// The stages of this folder as passes.
#include "tilegen/Passes.h"

#include "tilegen/emit/EmitTiles.h"
#include "tilegen/schedule/SelectSchedule.h"
#include "tilegen/steps/StepKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_SELECTSCHEDULESPASS
#define GEN_PASS_DEF_EMITTILESPASS
#include "tilegen/Passes.h.inc"

namespace {

/// Runs a stage that asks for a target by name.
template <typename Pass>
void runStage(Pass &pass, llvm::StringRef name, LogicalResult (*stage)(ModuleOp, const TargetDesc &)) {
  Expected<const TargetDesc *> target = findTarget(name);
  if (!target) {
    pass.getOperation().emitError(target.status().message());
    return pass.signalPassFailure();
  }
  if (failed(stage(pass.getOperation(), **target)))
    pass.signalPassFailure();
}

struct SelectSchedulesPass : impl::SelectSchedulesPassBase<SelectSchedulesPass> {
  using OperationPass::getOperation;
  using SelectSchedulesPassBase::SelectSchedulesPassBase;
  using SelectSchedulesPassBase::signalPassFailure;
  void runOnOperation() override {
    runStage(*this, target, [](ModuleOp module, const TargetDesc &row) {
      return failed(formStepKernels(module, row)) ? failure() : selectSchedules(module, row);
    });
  }
};

struct EmitTilesPass : impl::EmitTilesPassBase<EmitTilesPass> {
  using EmitTilesPassBase::EmitTilesPassBase;
  using EmitTilesPassBase::signalPassFailure;
  using OperationPass::getOperation;
  void runOnOperation() override { runStage(*this, target, emitTiles); }
};

} // namespace
} // namespace tilewright
