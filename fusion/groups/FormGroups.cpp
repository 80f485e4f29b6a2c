// SPDX-License-Identifier: Apache-2.0
// The steps of the group stage.
#include "fusion/groups/FormGroups.h"

#include "fusion/ExplainFusion.h"
#include "fusion/Geometry.h"
#include "fusion/LongReductions.h"
#include "fusion/groups/ApplyRules.h"
#include "fusion/groups/CarryAccesses.h"
#include "fusion/groups/JoinSiblings.h"
#include "fusion/groups/OutlineGroups.h"
#include "fusion/groups/ReleaseViews.h"
#include "fusion/groups/ShareLeftSides.h"
#include "fusion/products/AlignedConstants.h"
#include "fusion/products/JoinProducts.h"
#include "fusion/products/ScaledOperands.h"
#include "fusion/products/ScaledSlices.h"
#include "fusion/products/WidenedOperands.h"
#include "fusion/windows/ChannelsLast.h"
#include "fusion/windows/ComputedFilters.h"
#include "fusion/windows/FewChannels.h"
#include "fusion/windows/SingleWindows.h"
#include "fusion/windows/WideGroups.h"

#include "frontend/normalize/Patterns.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Erases scalars and splats that have been copied into all kernels that use them.
static void eraseUnusedConstants(func::FuncOp main) {
  for (Operation &op : llvm::make_early_inc_range(main.front()))
    if (isConstantLike(&op) && op.use_empty())
      op.erase();
}

LogicalResult fusion::formGroups(ModuleOp module, FusionOptions options, FusionReport *report) {
  FusionMode mode = options.mode;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("expected a function @main because grouping starts there");
  splitLongReductions(main, options.machine, mode == FusionMode::All ? options.longestHeldRow : 0);
  if (options.machine == Machine::Gpu)
    widenGroups(main, /*singles=*/options.windows.has_value());
  if (options.walksPixels)
    widenFewChannels(main, /*singles=*/options.windows.has_value());
  if (options.windows)
    layOutWindows(main, *options.windows);
  turnChannelsLast(main, options.machine);
  if (options.machine == Machine::Gpu)
    turnComputedFilters(main);
  if (options.walksPixels)
    alignConstants(main, /*singles=*/options.windows.has_value());
  std::vector<Join> joins;
  if (mode == FusionMode::All) { // equal work of different nodes is done once, and products of one left side at once
    normalize::shareEqual(main.front(), normalize::Sharing::All);
    joins = joinProducts(main, options.machine == Machine::Cpu ? joinedRowsOfCpus : anyRows);
    moveScalesOfSlices(main);
    moveScalesOfOperands(main);
    if (options.machine == Machine::Gpu)
      narrowAccesses(main);
  }
  centerForEachReader(main);
  GroupGraph graph(main, options.machine);
  carryAccesses(graph, mode, Carry::Free);
  applyRules(Round::Epilogues, graph, options);
  carryAccesses(graph, mode, Carry::Transposes);
  applyRules(Round::All, graph, options);
  if (options.machine == Machine::Gpu) {
    applyRules(Round::Pairs, graph, options);
    shareLeftSides(graph);
  }
  joinSiblings(graph, mode);
  releaseViews(graph);

  UnnamedReport unnamed;
  if (report)
    unnamed = explainFusion(graph, options, joins, module);
  OutlinedGroups outlined = outlineGroups(graph, module);
  markArguments(module);
  if (report)
    *report = withKernelNames(std::move(unnamed), outlined);
  eraseUnusedConstants(main);
  for (auto kernel : module.getOps<graph::KernelOp>()) {
    FailureOr<Geometry> geometry = analyze(kernel);
    if (failed(geometry))
      return failure();
    kernel.setRoot(geometry->kind);
  }
  return success();
}
