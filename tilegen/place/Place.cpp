// SPDX-License-Identifier: Apache-2.0
// The stage "place" as its table of contents.
#include "tilegen/place/Place.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- What several steps ask -------------------------------------------------------------------------------------===//

int64_t tile::warpsOf(KernelOp kernel) { return kernel.getSchedule() ? kernel.getSchedule()->getWarps() : 4; }

int64_t tile::registersOf(RankedTensorType tile) {
  return llvm::divideCeil(layoutOf(tile).registers() * tile.getElementTypeBitWidth(), 32);
}
int64_t tile::registersOf(Value tile) { return registersOf(cast<RankedTensorType>(tile.getType())); }

bool tile::isHeldInRegisters(Value operand) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [](Operation *op) {
    bool isLoop = isa<scf::ForOp>(op) && !isPartOfStep(op);
    return !isLoop && llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  };
  if (failed(getBackwardSlice(operand, &slice, options)))
    return false;
  return llvm::any_of(slice, llvm::IsaPred<DotOp>);
}

bool tile::isPartOfStep(Operation *loop) {
  return !loop->walk([&](Operation *op) {
                bool only = op == loop || isa<LoadOp>(op) || (isMemoryEffectFree(op) && !isa<DotOp>(op));
                return only ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

LoadOp tile::plainLoad(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !load.getIndices().empty())
    return {};
  bool zero =
      !load.getFill() || matchPattern(*load.getFill(), m_AnyZeroFloat()) || matchPattern(*load.getFill(), m_Zero());
  return zero ? load : LoadOp();
}

//===- Targets ----------------------------------------------------------------------------------------------------===//

/// The bytes of an operand's element; 0 for types that the table of fragments does not have.
static unsigned bytesOf(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
  case MatrixType::BF16:
    return 2;
  case MatrixType::I8:
    return 1;
  case MatrixType::TF32:
    return 4;
  default:
    return 0;
  }
}

// The fragments are those whose instruction the target has, in the order of the table of fragments.
PlaceFacts tile::placeFacts(const TargetDesc &target) {
  PlaceFacts facts;
  facts.lanes = target.warpWidth;
  facts.copiesAsync = target.asyncCopies;
  facts.copiesBulk = target.bulkCopies;
  facts.constantsFirst = target.roles.constantsFirst;
  facts.bulkStoresFrom = target.roles.bulkStoresFrom;
  facts.stepsAhead = target.roles.stepsAhead;
  facts.units = target.units;
  facts.clusterBlocks = target.clusterBlocks;
  facts.sharedBytes = target.sharedBytes;
  for (const Fragments &row : allFragments())
    for (const MatrixInstruction &instruction : target.matrix)
      if (row.lanes() == facts.lanes && row.bytes == bytesOf(instruction.type) && unsigned(instruction.m) == row.m &&
          unsigned(instruction.n) == row.n && unsigned(instruction.k) * row.steps == row.k &&
          unsigned(instruction.warps) == row.warps())
        facts.fragments.push_back({instruction.type, row.name});
  return facts;
}

static bool chainsType(const PlaceFacts &facts, MatrixType type) {
  return llvm::any_of(facts.fragments,
                      [&](const auto &row) { return row.first == type && chains(*findFragments(row.second)); });
}

bool tile::chainsHalves(const PlaceFacts &facts) {
  return chainsType(facts, MatrixType::F16) && chainsType(facts, MatrixType::BF16);
}

bool tile::chainsSingles(const PlaceFacts &facts) { return chainsType(facts, MatrixType::TF32); }

LogicalResult tile::placeTiles(ModuleOp module, const TargetDesc &target) {
  return placeTiles(module, placeFacts(target));
}

//===- The stage --------------------------------------------------------------------------------------------------===//

LogicalResult tile::placeTiles(ModuleOp module, const PlaceFacts &facts) {
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    if (failed(checkClusters(kernel, facts)))
      return failure();
    if (kernel.isPlaced()) {
      if (failed(checkPlaced(kernel, facts)))
        return failure();
      continue;
    }
    flattenLoops(kernel);
    if (failed(assignLayouts(kernel, facts)))
      return failure();
    shareRows(kernel, facts);
    shareSums(kernel, facts);
    if (assignRoles(kernel, facts)) {
      for (auto roles : kernel.getBody().getOps<RolesOp>())
        if (failed(checkRegisters(roles)))
          return failure();
      awaitLate(kernel);
      stageStores(kernel, facts);
      storeLate(kernel);
      askAhead(kernel, facts);
    } else {
      stageOperands(kernel);
      pipelineLoops(kernel, facts);
      readEarly(kernel, facts);
    }
    if (failed(allocateShared(kernel, facts)))
      return failure();
  }
  return success();
}
