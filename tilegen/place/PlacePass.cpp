// The stage "place" as a pass, for tilewright-opt.
#include "tilegen/place/PlacePass.h"
#include "tilegen/TargetDesc.h"
#include "tilegen/place/Place.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct PlacePass : PassWrapper<PlacePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlacePass)
  PlacePass() = default;
  PlacePass(const PlacePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tilewright-place-tiles"; }
  StringRef getDescription() const override {
    return "Give tiles layouts, stage operands through shared memory, pipeline loops";
  }
  void runOnOperation() override {
    Expected<const TargetDesc *> desc = findTarget(target);
    if (!desc) {
      getOperation().emitError(desc.status().message());
      return signalPassFailure();
    }
    if (failed(tile::placeTiles(getOperation(), **desc)))
      signalPassFailure();
  }

  Option<std::string> target{*this, "target", llvm::cl::desc("A row of TargetDesc's table"), llvm::cl::init("sm_80")};
};
} // namespace

void tilewright::tile::registerPlacePasses() { PassRegistration<PlacePass>(); }
