// SPDX-License-Identifier: Apache-2.0
// The table of roots.
#include "tilegen/roots/RootTable.h"

#include "tilegen/schedule/Schedules.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {

// One emitter a file of this folder.
LogicalResult emitPointwise(TileEmitter &emitter, tile::ScheduleAttr schedule);
LogicalResult emitReductions(TileEmitter &emitter, tile::ScheduleAttr schedule);
LogicalResult emitMatmul(TileEmitter &emitter, tile::ScheduleAttr schedule);
LogicalResult emitGemv(TileEmitter &emitter, tile::ScheduleAttr schedule);
LogicalResult emitAttention(TileEmitter &emitter, tile::ScheduleAttr schedule);

static constexpr RootKind pointwise[] = {RootKind::Pointwise}, contractions[] = {RootKind::Matmul},
                          reductions[] = {RootKind::RowReduction, RootKind::Window},
                          attentions[] = {RootKind::Attention};

// In the order of RootKind.
static constexpr Root roots[] = {
    // kind, computes, analyze, forVectors, forBlocks, estimateForBlocks, emit
    {RootKind::Pointwise, pointwise, analyzeOutputs, vectors::schedulePointwise, blocks::schedulePointwise, nullptr,
     emitPointwise},
    {RootKind::RowReduction, reductions, analyzeOutputs, vectors::scheduleReductions, blocks::scheduleReductions,
     nullptr, emitReductions},
    {RootKind::Matmul, contractions, analyzeContraction, vectors::scheduleContraction, blocks::scheduleContraction,
     blocks::estimateContraction, emitMatmul},
    {RootKind::Window, reductions, analyzeOutputs, vectors::scheduleReductions, blocks::scheduleReductions, nullptr,
     emitReductions},
    {RootKind::Gemv, contractions, analyzeContraction, nullptr, nullptr, nullptr, emitGemv},
    {RootKind::Attention, attentions, analyzeAttention, vectors::scheduleAttention, blocks::scheduleAttention, nullptr,
     emitAttention},
};

ArrayRef<Root> allRoots() { return roots; }

const Root &rootOf(RootKind kind) { return roots[static_cast<unsigned>(kind)]; }

RootKind rootKindOf(graph::KernelOp kernel) {
  if (std::optional<RootKind> root = kernel.getRoot())
    return *root;
  RootKind root = RootKind::Pointwise;
  kernel.walk([&](Operation *op) {
    if (isa<graph::ContractOp>(op))
      root = RootKind::Matmul;
    else if (isa<graph::ReduceOp>(op) && root == RootKind::Pointwise)
      root = RootKind::RowReduction;
  });
  return root;
}

FailureOr<KernelSpace> analyzeKernel(graph::KernelOp kernel, std::optional<RootKind> as) {
  RootKind root = rootKindOf(kernel);
  FailureOr<KernelSpace> space = rootOf(root).analyze(kernel, as);
  if (succeeded(space) && !llvm::is_contained(rootOf(space->root).computes, root))
    return kernel.emitOpError() << "expected a body of root " << graph::stringifyRootKind(root)
                                << " because the kernel says so, got one of root "
                                << graph::stringifyRootKind(space->root);
  return space;
}

} // namespace tilewright::tilegen
