// SPDX-License-Identifier: Apache-2.0
// The normalize stage: rewrites until nothing changes, then orders operations and merges equal ones.
#include "frontend/normalize/Normalize.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tilewright;

/// Every rewrite moves an access one step, so this limit is only reached if rewrites undo each other.
static constexpr int64_t rewritesPerOperation = 200;
static constexpr int64_t maxIterations = 20;

static void addPropagation(RewritePatternSet &patterns) {
  normalize::addFoldAccesses(patterns);
  normalize::addRolls(patterns);
  normalize::addPropagateTransposes(patterns);
  normalize::addPropagateReshapes(patterns);
  normalize::addSinkRepeats(patterns);
}

static void addIntegers(RewritePatternSet &patterns) {
  normalize::addIntegerContractions(patterns);
  normalize::addFlippedIntegers(patterns);
}

static LogicalResult rewrite(func::FuncOp main, llvm::function_ref<void(RewritePatternSet &)> add) {
  RewritePatternSet patterns(main.getContext());
  add(patterns);
  int64_t operations = std::distance(main.front().begin(), main.front().end());
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
      .setMaxNumRewrites(rewritesPerOperation * (operations + 1))
      .setMaxIterations(maxIterations);
  if (failed(applyPatternsGreedily(main, std::move(patterns), config)))
    return main.emitError("expected normalization to come to an end within ")
           << rewritesPerOperation << " rewrites an operation";
  return success();
}

LogicalResult tilewright::normalizeGraph(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("expected a function @main because normalization works on it");
  if (failed(rewrite(main, addPropagation)))
    return failure();
  // The integer rewrites match once accesses are in their final places. A second round normalizes what they create.
  if (failed(rewrite(main, addIntegers)))
    return failure();
  normalize::foldDequantized(main);
  if (failed(rewrite(main, addPropagation)))
    return failure();
  normalize::orderGraph(main);
  normalize::shareEqual(main.front(), normalize::Sharing::Views);
  return success();
}
