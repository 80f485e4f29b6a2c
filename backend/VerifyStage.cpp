// SPDX-License-Identifier: Apache-2.0
// The table of rules. A rule names operations, the stages in which it holds, and what must be so.
#include "backend/VerifyStage.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/SizeDefinition.h"
#include "tilegen/TargetDesc.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tilewright {

//===- What rules look for ----------------------------------------------------------------------------------------===//

/// The outermost module. Its attributes hold for the bodies of loops and branches too, which are modules inside of it.
static bool isModel(Operation *op) { return isa<ModuleOp>(op) && !op->getParentOp(); }
static bool hasGuards(Operation *op) { return isa<ModuleOp>(op) && op->hasAttrOfType<ArrayAttr>(graph::guardsAttr); }
static bool hasDefinitions(Operation *op) {
  return isa<ModuleOp>(op) && op->hasAttrOfType<ArrayAttr>(graph::definitionsAttr);
}
static bool hasTensors(Operation *op) { return llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>); }
static bool isGraphKernel(Operation *op) { return isa<graph::KernelOp>(op); }
static bool isTileKernel(Operation *op) { return isa<tile::KernelOp>(op); }
static bool isLaunch(Operation *op) { return isa<graph::LaunchOp>(op); }

/// Operations that compute elements, directly in @main. Shapes, reshapes, views and constants compute none.
static bool isWorkInMain(Operation *op) {
  if (!isa_and_nonnull<func::FuncOp>(op->getParentOp()))
    return false;
  return isa<graph::ContractOp, graph::ReduceOp, graph::ConcatOp>(op) || op->hasTrait<OpTrait::Elementwise>() ||
         (isa<graph::AccessOpInterface>(op) && !isa<graph::ReshapeOp>(op));
}

/// Operations that compute what an ONNX node asks for, and so must say which node that is.
static bool isWork(Operation *op) {
  return isa<graph::ContractOp, graph::ReduceOp, graph::AccessOpInterface, graph::HostCallOp>(op);
}

//===- What must be so --------------------------------------------------------------------------------------------===//

static bool never(Operation *) { return false; }
static bool hasNode(Operation *op) { return op->hasAttrOfType<IntegerAttr>(graph::nodeAttr); }
static bool hasRoot(Operation *op) { return cast<graph::KernelOp>(op).getRoot().has_value(); }
static bool hasSchedule(Operation *op) { return op->hasAttrOfType<tile::ScheduleAttr>("schedule"); }
static bool isPlaced(Operation *op) { return cast<tile::KernelOp>(op).isPlaced(); }

static bool hasMode(Operation *op) {
  return parsePlanMode(textAttribute(cast<ModuleOp>(op), stage_attr::mode)).has_value();
}

static bool hasTarget(Operation *op) {
  return static_cast<bool>(findTarget(textAttribute(cast<ModuleOp>(op), stage_attr::target)));
}

/// Host programs are not placed: a thread has no layouts.
static bool isPlacedForGpu(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  while (auto outer = module->getParentOfType<ModuleOp>())
    module = outer;
  Expected<const TargetDesc *> target = findTarget(textAttribute(module, stage_attr::target));
  return !target || (*target)->model != ProgramModel::Block || isPlaced(op);
}

/// Whether all symbols in `sizes` are symbols of the module around `op`.
static bool hasModuleTheSymbols(Operation *op, ArrayRef<AffineExpr> sizes) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto names = module->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  unsigned count = names ? names.size() : 0;
  bool known = true;
  for (AffineExpr size : sizes)
    size.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        known &= symbol.getPosition() < count;
    });
  return known;
}

static bool hasSymbols(Operation *op) {
  std::optional<AffineMap> symbols = cast<tile::KernelOp>(op).getSymbols();
  return symbols && hasModuleTheSymbols(op, symbols->getResults());
}

static bool hasKnownSizes(Operation *op) {
  return llvm::all_of(op->getResultTypes(), [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape() || hasModuleTheSymbols(op, graph::getSizes(tensor));
  });
}

/// Whether the sizes in a list of lists, of guards or definitions, are in symbols of the module.
static bool hasKnownSymbols(Operation *op, StringRef list) {
  return llvm::all_of(op->getAttrOfType<ArrayAttr>(list).getAsRange<ArrayAttr>(), [&](ArrayAttr parts) {
    return llvm::all_of(parts, [&](Attribute part) {
      auto map = dyn_cast<AffineMapAttr>(part);
      return !map || hasModuleTheSymbols(op, map.getValue().getResults());
    });
  });
}

static bool hasKnownGuards(Operation *op) { return hasKnownSymbols(op, graph::guardsAttr); }

static bool hasKnownDefinitions(Operation *op) {
  return hasKnownSymbols(op, graph::definitionsAttr) &&
         llvm::all_of(graph::definitionsOf(op), [&](const graph::SizeDefinition &definition) {
           return hasModuleTheSymbols(op, getAffineSymbolExpr(definition.symbol, op->getContext()));
         });
}

template <typename Kernel> static bool launches(Operation *launch) {
  auto module = launch->getParentOfType<ModuleOp>();
  return llvm::all_of(cast<graph::LaunchOp>(launch).getKernels(), [&](FlatSymbolRefAttr name) {
    return isa_and_nonnull<Kernel>(module.lookupSymbol(name.getValue()));
  });
}

//===- The rules --------------------------------------------------------------------------------------------------===//

namespace {
struct Rule {
  bool (*concerns)(Operation *);
  Stage first, last; // holds from one to the other, both included
  bool (*holds)(Operation *);
  const char *sentence;
};
} // namespace

static constexpr Rule rules[] = {
    // The module says what was decided.
    {isModel, Stage::Group, Stage::Code, hasMode,
     "expected graph.mode to be a mode of --fuse because grouping is over"},
    {isModel, Stage::Schedule, Stage::Code, hasTarget,
     "expected graph.target to be a known target because schedules are for one"},

    // Sizes are expressions in symbols that the plan can bind.
    {hasGuards, Stage::Import, Stage::Code, hasKnownGuards,
     "expected guards on symbols that the module has in graph.symbols"},
    {hasDefinitions, Stage::Import, Stage::Code, hasKnownDefinitions,
     "expected definitions of and by symbols that the module has in graph.symbols"},
    {hasTensors, Stage::Import, Stage::Code, hasKnownSizes,
     "expected sizes in symbols that the module has in graph.symbols"},

    // Graph operations: of ONNX nodes, first in @main, then in kernels.
    {isWork, Stage::Import, Stage::Normalize, hasNode,
     "expected graph.node because every operation is of an ONNX node, which --fuse=none and reports go by"},
    {isGraphKernel, Stage::Import, Stage::Normalize, never, "expected no graph.kernel before the stage group"},
    {isLaunch, Stage::Import, Stage::Normalize, never, "expected no graph.launch before the stage group"},
    {isWorkInMain, Stage::Group, Stage::Code, never,
     "expected work to be in kernels because grouping is over: @main launches, calls and reshapes only"},
    {isGraphKernel, Stage::Group, Stage::Schedule, hasRoot, "expected a root because fusion sets it"},
    {isLaunch, Stage::Group, Stage::Schedule, launches<graph::KernelOp>, "expected the name of a graph.kernel"},
    {isGraphKernel, Stage::Schedule, Stage::Schedule, hasSchedule,
     "expected a schedule because the stage schedule is over"},
    {isGraphKernel, Stage::Tile, Stage::Code, never, "expected no graph.kernel after the stage tile"},

    // Tile programs: first without layouts, then placed for the threads of a GPU.
    {isTileKernel, Stage::Import, Stage::Schedule, never, "expected no tile.kernel before the stage tile"},
    {isLaunch, Stage::Tile, Stage::Code, launches<tile::KernelOp>, "expected the name of a tile.kernel"},
    {isTileKernel, Stage::Tile, Stage::Code, hasSchedule, "expected a schedule, which placing and code follow"},
    {isTileKernel, Stage::Tile, Stage::Code, hasSymbols,
     "expected symbols, the sizes that the kernel takes, in the module's symbols"},
    {isTileKernel, Stage::Tile, Stage::Tile, [](Operation *op) { return !isPlaced(op); },
     "expected no threads and shared_bytes before the stage place"},
    {isTileKernel, Stage::Place, Stage::Code, isPlacedForGpu,
     "expected threads and shared_bytes because the stage place is over"},
};

/// The rules that hold after `stage`.
static llvm::SmallVector<const Rule *> rulesOf(Stage stage) {
  llvm::SmallVector<const Rule *> current;
  for (const Rule &rule : rules)
    if (rule.first <= stage && stage <= rule.last)
      current.push_back(&rule);
  return current;
}

/// `root` and what is in it, without the modules in it.
static LogicalResult verifyRules(Operation *root, llvm::ArrayRef<const Rule *> rules) {
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root && isa<ModuleOp>(op))
      return WalkResult::skip();
    for (const Rule *rule : rules)
      if (rule->concerns(op) && !rule->holds(op))
        return op->emitOpError(rule->sentence), WalkResult::interrupt();
    return isa<tile::KernelOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult verifyStage(ModuleOp module, Stage stage) {
  llvm::SmallVector<const Rule *> current = rulesOf(stage);
  WalkResult result = module->walk<WalkOrder::PreOrder>([&](ModuleOp part) {
    return failed(verifyRules(part, current)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The stages Schedule and Tile change kernels, and Schedule the loops that become launches (tilegen/steps, which
/// verifies them). All of @main is verified after the next stage.
static LogicalResult verifyKernels(ModuleOp module, Stage stage) {
  llvm::SmallVector<const Rule *> current = rulesOf(stage);
  return success(llvm::all_of(*module.getBody(), [&](Operation &part) {
    if (auto body = dyn_cast<ModuleOp>(part))
      return succeeded(verifyKernels(body, stage));
    return isa<func::FuncOp>(part) || (succeeded(verify(&part)) && succeeded(verifyRules(&part, current)));
  }));
}

LogicalResult verifyAfter(ModuleOp module, Stage stage) {
  if (stage == Stage::Schedule || stage == Stage::Tile)
    return verifyKernels(module, stage);
  bool isVerified = stage == Stage::Import; // importer and parser verify what they return
  return success((isVerified || succeeded(verify(module))) && succeeded(verifyStage(module, stage)));
}

} // namespace tilewright
