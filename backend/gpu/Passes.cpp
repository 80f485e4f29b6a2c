// SPDX-License-Identifier: Apache-2.0
// From placed tile kernels to the LLVM dialect, as passes.
#include "backend/gpu/Passes.h"
#include "backend/CodeGenerators.h"
#include "backend/gpu/Distribute.h"
#include "backend/gpu/GenerateCode.h"
#include "tilegen/place/Place.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_DISTRIBUTEPASS
#define GEN_PASS_DEF_LOWERFUNCTIONSPASS
#define GEN_PASS_DEF_CONVERTTOLLVMPASS
#include "backend/gpu/Passes.h.inc"

namespace {

/// The GPU of this name; null, with a diagnostic, if there is none.
std::unique_ptr<GpuTarget> findGpu(ModuleOp module, StringRef name) {
  Expected<const TargetDesc *> desc = findTarget(name);
  std::unique_ptr<GpuTarget> target = desc ? makeGpuTarget(**desc) : nullptr;
  if (!desc)
    module.emitError(desc.status().message());
  else if (!target)
    module.emitError("expected a GPU as target, got '") << name << "'";
  return target;
}

struct DistributePass : impl::DistributePassBase<DistributePass> {
  using DistributePassBase::DistributePassBase;
  void runOnOperation() override {
    std::unique_ptr<GpuTarget> gpu = findGpu(getOperation(), target);
    if (!gpu)
      return signalPassFailure();
    tile::PlaceFacts facts = tile::placeFacts(**findTarget(target));
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      if (kernel.isPlaced() && failed(tile::checkPlaced(kernel, facts)))
        return signalPassFailure();
    auto distributed = distribute(getOperation(), *gpu);
    if (failed(distributed))
      return signalPassFailure();
    getOperation().getBodyRegion().takeBody((*distributed)->getBodyRegion());
  }
};

struct LowerFunctionsPass : impl::LowerFunctionsPassBase<LowerFunctionsPass> {
  using LowerFunctionsPassBase::LowerFunctionsPassBase;
  void runOnOperation() override {
    std::unique_ptr<GpuTarget> gpu = findGpu(getOperation(), target);
    if (!gpu)
      return signalPassFailure();
    gpu->lowerMath(getOperation());
  }
};

struct ConvertToLlvmPass : impl::ConvertToLlvmPassBase<ConvertToLlvmPass> {
  using ConvertToLlvmPassBase::ConvertToLlvmPassBase;
  void runOnOperation() override {
    OpPassManager conversions(ModuleOp::getOperationName());
    addLlvmConversions(conversions);
    if (failed(runPipeline(conversions, getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright
