// Grows groups by the rules, outlines them, and keeps the reasons.
#include "fusion/groups/FormGroups.h"

#include "fusion/FusionReport.h"
#include "fusion/Legality.h"
#include "fusion/cost/KernelLimits.h"
#include "fusion/groups/CarryAccesses.h"
#include "fusion/groups/OutlineGroups.h"
#include "fusion/rules/RuleTable.h"

#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Patterns.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

std::optional<FusionMode> fusion::parseFusionMode(StringRef name) {
  return llvm::StringSwitch<std::optional<FusionMode>>(name)
      .Case("none", FusionMode::None)
      .Case("epilogue", FusionMode::Epilogue)
      .Case("all", FusionMode::All)
      .Default(std::nullopt);
}

llvm::StringRef fusion::name(FusionMode mode) {
  constexpr llvm::StringLiteral names[] = {"none", "epilogue", "all"};
  return names[static_cast<size_t>(mode)];
}

namespace {
/// Pairs of groups that no kernel can hold. While nothing but merging happens such a pair stays refused until one of
/// its groups grows: other groups that merge only add paths around.
class Refusals {
public:
  bool contains(const Group &producer, const Group &consumer) const {
    auto found = pairs.find({&producer, &consumer});
    return found != pairs.end() && found->second == std::pair(producer.version, consumer.version);
  }
  void add(const Group &producer, const Group &consumer) {
    pairs[{&producer, &consumer}] = {producer.version, consumer.version};
  }

private:
  llvm::DenseMap<std::pair<const Group *, const Group *>, std::pair<unsigned, unsigned>> pairs;
};
} // namespace

/// Merges along each edge that `rule` admits and that is legal; true if any was.
static bool applyRule(const Rule &rule, GroupGraph &graph, FusionMode mode, Refusals &refused) {
  bool changed = false;
  for (Operation *op : graph.operations())
    for (Value operand : op->getOperands()) {
      Edge edge{graph.groupOf(operand), graph.groupOf(op), operand, op};
      if (!edge.producer || edge.producer == edge.consumer || !modeAllows(mode, rule.from, operand, op) ||
          refused.contains(*edge.producer, *edge.consumer) || !rule.admits(edge))
        continue;
      GeometryOrRefusal geometry = checkUnion(graph, *edge.producer, *edge.consumer);
      if (auto *legal = std::get_if<Geometry>(&geometry)) {
        graph.merge(*edge.consumer, *edge.producer, std::move(*legal));
        edge.consumer->rules.insert(rule.name);
        changed = true;
      } else {
        refused.add(*edge.producer, *edge.consumer);
      }
    }
  return changed;
}

/// Applies the rules of `round` in order, again and again, until none finds anything.
static void applyRules(Round round, GroupGraph &graph, FusionMode mode) {
  Refusals refused;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Rule &rule : ruleTable())
      if (rule.first <= round)
        changed |= applyRule(rule, graph, mode, refused);
  }
}

/// Pointwise groups side by side, both reading one value, with outputs of the same sizes: one pass over it does for
/// both.
static bool areSiblings(const Group &a, const Group &b, FusionMode mode) {
  auto isPlain = [](const Group &group) {
    return !group.onHost && !group.isView() && group.geometry.kind == RootKind::Pointwise;
  };
  if (!isPlain(a) || !isPlain(b) || (mode != FusionMode::All && a.nodes() != b.nodes()))
    return false;
  auto sizes = [](const Group &group) {
    return graph::getSizes(cast<RankedTensorType>(group.geometry.outputs.front().getType()));
  };
  return sizes(a) == sizes(b);
}

/// A value read by more groups than this is read again by those that come later: each is tried with so many only.
static constexpr size_t mostSiblings = 32;

/// The pieces of a split, a scaled query and a scaled key: joined where no path leads from one to the other.
static void joinSiblings(GroupGraph &graph, FusionMode mode) {
  llvm::DenseMap<Value, SmallVector<Operation *>> readers; // one operation of each group that reads the value
  for (Group *group : graph.inOrder())
    for (Operation *op : SmallVector<Operation *>(group->ops))
      for (Value operand : op->getOperands()) {
        group = graph.groupOf(op);
        bool isInput = operand.getDefiningOp()
                           ? !isConstantLike(operand.getDefiningOp()) && graph.groupOf(operand) != group
                           : true;
        if (!isInput)
          continue;
        SmallVector<Operation *> &others = readers[operand];
        for (Operation *reader : others) {
          Group *sibling = graph.groupOf(reader);
          if (sibling == group || isTooLarge(*sibling, *group) || !areSiblings(*sibling, *group, mode) ||
              graph.pathAround(*group, *sibling))
            continue;
          GeometryOrRefusal geometry = checkUnion(graph, *sibling, *group);
          if (auto *legal = std::get_if<Geometry>(&geometry)) {
            graph.merge(*sibling, *group, std::move(*legal));
            group = sibling;
          }
        }
        if (llvm::none_of(others, [&](Operation *reader) { return graph.groupOf(reader) == group; }) &&
            others.size() < mostSiblings)
          others.push_back(op);
      }
}

/// Reshapes at a group's border leave it: in memory they are views, and without them equal kernels are easier to see.
static void releaseViews(GroupGraph &graph) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : graph.operations()) {
      Group *group = graph.groupOf(op);
      if (!isa<graph::ReshapeOp>(op) || group->ops.size() == 1)
        continue;
      bool first = graph.groupOf(op->getOperand(0)) != group;
      bool last = llvm::none_of(op->getUsers(), [&](Operation *user) { return graph.groupOf(user) == group; });
      changed |= (first || last) && graph.release(op);
    }
  }
}

/// What the views on the way to `value` are views of.
static Value behindViews(const GroupGraph &graph, Value value) {
  for (Group *group = graph.groupOf(value); group && group->isView(); group = graph.groupOf(value))
    value = group->ops.front()->getOperand(0);
  return value;
}

/// Whether the root of the edge's consumer is computed from what the producer gives, rather than joined with it later,
/// as by a residual.
static bool feedsRoot(const GroupGraph &graph, const Edge &edge) {
  llvm::SmallPtrSet<Operation *, 16> fed;
  for (Operation *op : edge.consumer->ops)
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return fed.contains(operand.getDefiningOp()) || graph.groupOf(behindViews(graph, operand)) == edge.producer;
        }))
      fed.insert(op);
  return fed.contains(edge.consumer->geometry.root);
}

/// Reasons that speak of a root as made from the other kernel's.
static bool isBetweenRoots(Reason reason) {
  return reason == Reason::SecondReduction || reason == Reason::ReductionOfContraction ||
         reason == Reason::OtherLoops || reason == Reason::WindowIsRepeated;
}

/// Why an edge that is left was not fused. What is legal and yet was not taken is a value that several kernels need in
/// memory.
static Reason whyNot(const GroupGraph &graph, FusionMode mode, const Edge &edge) {
  GeometryOrRefusal verdict = checkUnion(graph, *edge.producer, *edge.consumer);
  if (auto *refusal = std::get_if<Refusal>(&verdict)) {
    bool bothHaveRoots = edge.producer->geometry.root && edge.consumer->geometry.root;
    return isBetweenRoots(refusal->reason) && bothHaveRoots && !feedsRoot(graph, edge) ? Reason::BesideRoot
                                                                                       : refusal->reason;
  }
  return mode == FusionMode::All ? Reason::NeededInMemory : Reason::OtherMode;
}

namespace {
/// Edges with their groups, before these are outlined and get names.
struct OpenEdge {
  Edge edge;
  Reason reason;
};
} // namespace

static std::vector<OpenEdge> collectEdges(const GroupGraph &graph, FusionMode mode) {
  std::vector<OpenEdge> edges;
  llvm::DenseSet<std::pair<Group *, Group *>> seen;
  for (Operation *op : graph.operations())
    for (Value operand : op->getOperands()) {
      Value computed = behindViews(graph, operand);
      Edge edge{graph.groupOf(computed), graph.groupOf(op), computed, op};
      if (edge.producer && edge.producer != edge.consumer && !edge.consumer->isView() &&
          seen.insert({edge.producer, edge.consumer}).second)
        edges.push_back({edge, whyNot(graph, mode, edge)});
    }
  return edges;
}

static std::string nodeName(ModuleOp module, int64_t node) {
  auto table = module->getAttrOfType<ArrayAttr>(graph::nodesAttr);
  if (!table || node < 0 || node >= static_cast<int64_t>(table.size()))
    return "node " + std::to_string(node);
  return cast<StringAttr>(table[node]).getValue().rsplit('|').first.str();
}

/// Names of ONNX nodes must be read before outlining moves the operations away.
static FusionReport describe(const GroupGraph &graph, FusionMode mode, ModuleOp module,
                             llvm::SmallVectorImpl<Group *> &order) {
  FusionReport report{mode, {}, {}};
  llvm::DenseMap<Group *, size_t> index;
  for (Group *group : graph.inOrder()) {
    if (group->isView())
      continue;
    index[group] = order.size();
    order.push_back(group);
    std::vector<std::string> nodes;
    for (int64_t node : group->nodes())
      nodes.push_back(nodeName(module, node));
    report.launches.push_back(
        {"host", group->geometry.kind, std::move(nodes), {group->rules.begin(), group->rules.end()}});
  }
  for (const OpenEdge &open : collectEdges(graph, mode))
    report.edges.push_back({index.at(open.edge.producer), index.at(open.edge.consumer),
                            nodeName(module, nodeOf(open.edge.value.getDefiningOp())),
                            nodeName(module, nodeOf(open.edge.user)), open.reason});
  return report;
}

/// Scalars and splats that only kernels used are in those kernels now.
static void eraseUnusedConstants(func::FuncOp main) {
  for (Operation &op : llvm::make_early_inc_range(main.front()))
    if (isConstantLike(&op) && op.use_empty())
      op.erase();
}

LogicalResult fusion::formGroups(ModuleOp module, FusionMode mode, FusionReport *report) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("expected a function @main because grouping starts there");
  if (mode == FusionMode::All) // equal work of different nodes is done once
    normalize::shareEqual(main.front(), normalize::Sharing::All);
  GroupGraph graph(main);
  carryAccesses(graph, mode, Carry::Free);
  applyRules(Round::Epilogues, graph, mode);
  carryAccesses(graph, mode, Carry::Transposes);
  applyRules(Round::All, graph, mode);
  joinSiblings(graph, mode);
  releaseViews(graph);

  SmallVector<Group *> order;
  if (report)
    *report = describe(graph, mode, module, order);
  OutlinedGroups outlined = outlineGroups(graph, module);
  shareKernels(module);
  if (report)
    for (auto [group, launch] : llvm::zip_equal(order, report->launches))
      if (auto op = dyn_cast<graph::LaunchOp>(outlined.at(group)))
        launch.kernel = op.getKernel().str();
  eraseUnusedConstants(main);
  for (auto kernel : module.getOps<graph::KernelOp>()) {
    FailureOr<Geometry> geometry = analyze(kernel);
    if (failed(geometry))
      return failure();
    kernel.setRoot(geometry->kind);
  }
  return success();
}
