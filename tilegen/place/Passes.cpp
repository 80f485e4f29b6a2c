// SPDX-License-Identifier: Apache-2.0
// The stage "place" and its steps as passes.
#include "tilegen/place/Passes.h"
#include "tilegen/place/Place.h"

using namespace mlir;

namespace tilewright::tile {

#define GEN_PASS_DEF_PLACETILESPASS
#define GEN_PASS_DEF_FLATTENLOOPSPASS
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#define GEN_PASS_DEF_SHAREROWSPASS
#define GEN_PASS_DEF_SHARESUMSPASS
#define GEN_PASS_DEF_ASSIGNROLESPASS
#define GEN_PASS_DEF_AWAITLATEPASS
#define GEN_PASS_DEF_STAGESTORESPASS
#define GEN_PASS_DEF_STORELATEPASS
#define GEN_PASS_DEF_ASKAHEADPASS
#define GEN_PASS_DEF_STAGEOPERANDSPASS
#define GEN_PASS_DEF_PIPELINELOOPSPASS
#define GEN_PASS_DEF_READEARLYPASS
#define GEN_PASS_DEF_ALLOCATESHAREDPASS
#include "tilegen/place/Passes.h.inc"

namespace {

FailureOr<PlaceFacts> factsOf(Operation *op, StringRef target) {
  Expected<const TargetDesc *> desc = findTarget(target);
  if (!desc)
    return op->emitError(desc.status().message());
  return placeFacts(**desc);
}

/// What the steps behind tilewright-place-assign-layouts ask of a kernel.
LogicalResult checkLayouts(KernelOp kernel) {
  auto result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tile = dyn_cast<RankedTensorType>(type); tile && !tile.getEncoding()) {
        op->emitOpError() << "expected tiles with layouts, which tilewright-place-assign-layouts gives them, got "
                          << tile;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct PlaceTilesPass : impl::PlaceTilesPassBase<PlaceTilesPass> {
  using PlaceTilesPassBase::PlaceTilesPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(placeTiles(getOperation(), *facts)))
      signalPassFailure();
  }
};

struct FlattenLoopsPass : impl::FlattenLoopsPassBase<FlattenLoopsPass> {
  using FlattenLoopsPassBase::FlattenLoopsPassBase;
  void runOnOperation() override {
    if (!getOperation().isPlaced())
      flattenLoops(getOperation());
  }
};

struct AssignLayoutsPass : impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  using AssignLayoutsPassBase::AssignLayoutsPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || (!getOperation().isPlaced() && failed(assignLayouts(getOperation(), *facts))))
      signalPassFailure();
  }
};

struct ShareRowsPass : impl::ShareRowsPassBase<ShareRowsPass> {
  using ShareRowsPassBase::ShareRowsPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (!getOperation().isPlaced())
      shareRows(getOperation(), *facts);
  }
};

struct ShareSumsPass : impl::ShareSumsPassBase<ShareSumsPass> {
  using ShareSumsPassBase::ShareSumsPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (!getOperation().isPlaced())
      shareSums(getOperation(), *facts);
  }
};

bool hasRoles(KernelOp kernel) { return !kernel.getBody().getOps<RolesOp>().empty(); }

struct AssignRolesPass : impl::AssignRolesPassBase<AssignRolesPass> {
  using AssignRolesPassBase::AssignRolesPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (!getOperation().isPlaced() && !hasRoles(getOperation()))
      assignRoles(getOperation(), *facts);
  }
};

struct AwaitLatePass : impl::AwaitLatePassBase<AwaitLatePass> {
  using AwaitLatePassBase::AwaitLatePassBase;
  void runOnOperation() override {
    if (!getOperation().isPlaced())
      awaitLate(getOperation());
  }
};

struct StageStoresPass : impl::StageStoresPassBase<StageStoresPass> {
  using StageStoresPassBase::StageStoresPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (from)
      facts->bulkStoresFrom = from;
    if (!getOperation().isPlaced())
      stageStores(getOperation(), *facts);
  }
};

struct StoreLatePass : impl::StoreLatePassBase<StoreLatePass> {
  using StoreLatePassBase::StoreLatePassBase;
  void runOnOperation() override {
    if (!getOperation().isPlaced())
      storeLate(getOperation());
  }
};

struct AskAheadPass : impl::AskAheadPassBase<AskAheadPass> {
  using AskAheadPassBase::AskAheadPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (!getOperation().isPlaced())
      askAhead(getOperation(), *facts);
  }
};

struct StageOperandsPass : impl::StageOperandsPassBase<StageOperandsPass> {
  using StageOperandsPassBase::StageOperandsPassBase;
  void runOnOperation() override {
    if (failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (!getOperation().isPlaced() && !hasRoles(getOperation()))
      stageOperands(getOperation());
  }
};

struct PipelineLoopsPass : impl::PipelineLoopsPassBase<PipelineLoopsPass> {
  using PipelineLoopsPassBase::PipelineLoopsPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (!getOperation().isPlaced() && !hasRoles(getOperation()))
      pipelineLoops(getOperation(), *facts);
  }
};

struct ReadEarlyPass : impl::ReadEarlyPassBase<ReadEarlyPass> {
  using ReadEarlyPassBase::ReadEarlyPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())))
      return signalPassFailure();
    if (!getOperation().isPlaced())
      readEarly(getOperation(), *facts);
  }
};

struct AllocateSharedPass : impl::AllocateSharedPassBase<AllocateSharedPass> {
  using AllocateSharedPassBase::AllocateSharedPassBase;
  void runOnOperation() override {
    FailureOr<PlaceFacts> facts = factsOf(getOperation(), target);
    if (failed(facts) || failed(checkLayouts(getOperation())) ||
        (!getOperation().isPlaced() && failed(allocateShared(getOperation(), *facts))))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright::tile
