// SPDX-License-Identifier: Apache-2.0
// Whether a target can run a kernel that was placed before, perhaps for another target and by hand.
#include "tilegen/place/AccessFacts.h"
#include "tilegen/place/Place.h"
#include "tilegen/tile/StorePieces.h"

using namespace mlir;
using namespace tilewright::tile;

LogicalResult tilewright::tile::checkShared(KernelOp kernel, int64_t used, const PlaceFacts &facts) {
  if (used > facts.sharedBytes)
    return kernel.emitOpError() << "expected at most " << facts.sharedBytes
                                << " bytes of shared memory because a block has that much, got " << used
                                << "; use smaller tiles or fewer stages";
  return success();
}

LogicalResult tilewright::tile::checkRegisters(RolesOp roles) {
  constexpr int64_t mostOfInstruction = 128; // sums of a lane: 64 x 256 of four warps
  constexpr int64_t registersBeside = 26;    // ptxas 13 asks for 154 with 128 sums (its message C7602), and gives up
  int64_t warps = llvm::sum_of(roles.getWarps()), most = RolesOp::registersAtStart(warps) - registersBeside;
  auto result = roles.walk([&](DotOp dot) {
    const Fragments *fragments = fragmentsOf(dot);
    int64_t sums = std::min(registersOf(dot.getResult()), mostOfInstruction);
    if (!fragments || fragments->warps() == 1 || sums <= most)
      return WalkResult::advance();
    dot.emitOpError() << "expected at most " << most << " sums of a lane because " << warps << " warps start with "
                      << RolesOp::registersAtStart(warps) << " registers each, got " << sums
                      << "; use a smaller tile or fewer groups";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult checkLanes(Operation *op, const PlaceFacts &facts) {
  for (Type type : op->getResultTypes())
    if (auto tile = dyn_cast<RankedTensorType>(type)) {
      unsigned lanes = 1u << cast<LayoutAttr>(tile.getEncoding()).getLane().size();
      if (lanes != facts.lanes)
        return op->emitOpError() << "expected layouts over warps of " << facts.lanes
                                 << " lanes because the target's are, got " << lanes;
    }
  return success();
}

static LogicalResult checkInstruction(DotOp dot, const PlaceFacts &facts) {
  std::optional<StringRef> name = dot.getInstruction();
  if (name && llvm::none_of(facts.fragments, [&](const auto &row) { return row.second == *name; }))
    return dot.emitOpError() << "expected an instruction that the target has, got '" << *name << "'";
  return success();
}

LogicalResult tilewright::tile::checkClusters(KernelOp kernel, const PlaceFacts &facts) {
  auto result = kernel.getBody().walk([&](Operation *op) {
    int64_t blocks = blocksOfCluster(op);
    if (blocks == 1 || blocks <= facts.clusterBlocks)
      return WalkResult::advance();
    op->emitOpError() << "expected clusters of at most " << facts.clusterBlocks
                      << " blocks because the target has no larger ones, got " << blocks
                      << "; make the kernel for it again";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult checkStaged(StoreOp store) {
  if (!store.getStaged())
    return success();
  if (!store->getParentOfType<RolesOp>())
    return store.emitOpError("expected a staged store in a role, got it elsewhere");
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  int64_t width = stagedPieces(tile, *store.getStaged())->width;
  if (!hasRows(Access::of(store), *store.getStaged(), width))
    return store.emitOpError() << "expected rows of the buffer along dimension " << *store.getStaged()
                               << ", of which a warp stores " << width << " elements at a time, got "
                               << store.getMapAttr();
  return success();
}

/// Roles, rings and bulk copies are what a copy engine works with.
static LogicalResult checkEngine(Operation *op, const PlaceFacts &facts) {
  if (!facts.copiesBulk && isa<TensorMapOp, BulkCopyOp, BulkStoreOp, RingAllocOp, RolesOp>(op))
    return op->emitOpError(
        "expected a target with a copy engine, which this one has not; place the kernel for it again");
  return success();
}

LogicalResult tilewright::tile::checkPlaced(KernelOp kernel, const PlaceFacts &facts) {
  auto engine = kernel.getBody().walk([&](Operation *op) { return WalkResult(checkEngine(op, facts)); });
  if (engine.wasInterrupted() || failed(checkClusters(kernel, facts)))
    return failure();
  auto stores = kernel.getBody().walk([&](StoreOp store) { return WalkResult(checkStaged(store)); });
  if (stores.wasInterrupted())
    return failure();
  auto lanes = kernel.getBody().walk([&](Operation *op) { return WalkResult(checkLanes(op, facts)); });
  if (lanes.wasInterrupted() || failed(checkShared(kernel, *kernel.getSharedBytes(), facts)))
    return failure();
  auto instructions = kernel.getBody().walk([&](DotOp dot) { return WalkResult(checkInstruction(dot, facts)); });
  if (instructions.wasInterrupted())
    return failure();
  auto registers = kernel.getBody().walk([&](RolesOp roles) { return WalkResult(checkRegisters(roles)); });
  return failure(registers.wasInterrupted());
}
