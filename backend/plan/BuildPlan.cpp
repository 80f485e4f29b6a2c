// SPDX-License-Identifier: Apache-2.0
// Builds a plan in order: bodies, inputs, outputs, then each operation of @main once its sizes are known.
#include "backend/plan/BuildPlan.h"

#include "backend/plan/PlanSteps.h"

#include <fmt/format.h>

using namespace mlir;
namespace rt = tilewright::runtime;

namespace tilewright {
namespace {

class PlanBuilder {
public:
  PlanBuilder(ModuleOp module, const PlanRequest &request, PlanConstants &constants)
      : module(module), request(request), constants(constants), sizes(module, plan),
        values(module, plan, sizes, constants), steps(module, request, plan, sizes, values, bodies) {}

  /// For a body: the step that runs it binds the module's first `given` symbols. `keptGiven` receives the positions of
  /// those that the plan uses.
  Expected<rt::Plan> build(size_t given = 0, std::vector<size_t> *keptGiven = nullptr);

private:
  Status addBodies(func::FuncOp main);
  Status addBody(StringRef name, size_t given);
  Status addSteps(func::FuncOp main);
  Status addReadySteps(SmallVectorImpl<Operation *> &waiting);
  void addFaults();

  ModuleOp module;
  const PlanRequest &request;
  PlanConstants &constants;
  rt::Plan plan;
  PlanSizes sizes;
  PlanValues values;
  llvm::StringMap<PlanBody> bodies;
  PlanSteps steps;
};

/// Builds the plans of the bodies that branches and loops of @main run.
Status PlanBuilder::addBodies(func::FuncOp main) {
  for (Operation &op : main.getBody().front()) {
    if (auto branch = dyn_cast<flow::IfOp>(op)) {
      for (const Status &status : {addBody(branch.getOnTrue(), branch.getTrueSizes().getNumResults()),
                                   addBody(branch.getOnFalse(), branch.getFalseSizes().getNumResults())})
        if (!status)
          return status;
    } else if (auto loop = dyn_cast<flow::LoopOp>(op)) {
      if (Status status = addBody(loop.getBody(), loop.getSizes().getNumResults()); !status)
        return status;
    }
  }
  return Status();
}

Status PlanBuilder::addBody(StringRef name, size_t given) {
  auto inside = module.lookupSymbol<ModuleOp>(name);
  if (!inside)
    return Status(Code::Internal, fmt::format("no body '{}'", name.str()));
  auto [entry, isNew] = bodies.try_emplace(name, PlanBody{uint32_t(plan.bodies.size()), {}});
  if (!isNew)
    return Status();
  Expected<rt::Plan> body = PlanBuilder(inside, request, constants).build(given, &entry->second.sizes);
  if (!body)
    return body.status();
  plan.bodies.push_back(std::move(*body));
  return Status();
}

/// Adds the steps of those waiting operations whose sizes and operands are known, until there are none: a step may bind
/// the sizes of others.
Status PlanBuilder::addReadySteps(SmallVectorImpl<Operation *> &waiting) {
  auto isReady = [&](Operation *op) {
    auto waits = [&](Value operand) { return llvm::is_contained(waiting, operand.getDefiningOp()); };
    return steps.hasBoundSizes(op) && llvm::none_of(op->getOperands(), waits);
  };
  for (auto next = llvm::find_if(waiting, isReady); next != waiting.end(); next = llvm::find_if(waiting, isReady)) {
    Operation *op = *next;
    waiting.erase(next);
    if (Status status = steps.add(op); !status)
      return status;
  }
  return Status();
}

Status PlanBuilder::addSteps(func::FuncOp main) {
  SmallVector<Operation *> waiting; // operations whose sizes no step has bound yet
  for (Operation &op : main.getBody().front()) {
    waiting.push_back(&op);
    if (Status status = addReadySteps(waiting); !status)
      return status;
  }
  if (!waiting.empty())
    return Status(Code::Internal,
                  fmt::format("nothing binds the sizes of '{}'", waiting.front()->getName().getStringRef().str()));
  return Status();
}

/// Adds the sentences that a kernel's error word selects from, one for each ONNX node.
void PlanBuilder::addFaults() {
  auto nodes = module->getAttrOfType<ArrayAttr>(graph::nodesAttr);
  for (mlir::Attribute node : nodes ? nodes.getValue() : ArrayRef<mlir::Attribute>()) {
    auto [name, op] = cast<StringAttr>(node).getValue().split('|');
    plan.faults.push_back(
        fmt::format("node '{}' ({}): an index is outside the dimension that it selects from", name.str(), op.str()));
  }
}

/// Drops unused symbols: those replaced by fixed sizes, which nothing binds, and given ones that a body does not use.
static void dropUnusedSymbols(rt::Plan &plan, size_t given, std::vector<size_t> *keptGiven) {
  std::vector<bool> used(plan.symbols.size(), false);
  for (const rt::Expr &expr : plan.exprs)
    if (expr.kind == rt::ExprKind::Symbol)
      used[expr.lhs] = true;
  std::vector<int64_t> position(plan.symbols.size());
  std::vector<rt::Symbol> kept;
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    position[i] = kept.size();
    if (!used[i])
      continue;
    kept.push_back(std::move(plan.symbols[i]));
    if (i < given && kept.back().input == rt::none) {
      ++plan.givenSymbols;
      keptGiven->push_back(i);
    }
  }
  plan.symbols = std::move(kept);
  for (rt::Expr &expr : plan.exprs)
    if (expr.kind == rt::ExprKind::Symbol)
      expr.lhs = position[expr.lhs];
  for (rt::Step &step : plan.steps)
    std::visit(
        [&](auto &s) {
          if constexpr (requires { s.binds; })
            for (rt::BoundSymbol &bound : s.binds)
              bound.symbol = position[bound.symbol];
        },
        step);
}

Expected<rt::Plan> PlanBuilder::build(size_t given, std::vector<size_t> *keptGiven) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return Status(Code::Internal, "the module has no @main");
  plan.target = request.target;
  plan.mode = request.mode;
  plan.requirements = request.requirements;
  sizes.bindInputs(main, given);
  if (Status status = addBodies(main); !status)
    return status;
  values.addInputs(main);
  sizes.addWholeGuards();
  sizes.addGuards();
  values.addOutputs(main);
  if (Status status = addSteps(main); !status)
    return status;
  if (Status status = values.copyOutputs(main); !status)
    return status;
  if (std::optional<std::string> guard = sizes.uncheckedGuard())
    return Status(Code::Internal, fmt::format("nothing binds the sizes of the guard '{}'", *guard));
  bool isBody = keptGiven != nullptr;
  if (!isBody) // the root's sentences include its bodies'
    addFaults();
  dropUnusedSymbols(plan, given, keptGiven);
  return std::move(plan);
}

} // namespace

Expected<rt::Plan> buildPlan(ModuleOp module, const PlanRequest &request, PlanConstants &constants) {
  return PlanBuilder(module, request, constants).build();
}

} // namespace tilewright
