// SPDX-License-Identifier: Apache-2.0
// Asks Legality again for each remaining edge.
#include "fusion/ExplainFusion.h"

#include "fusion/Legality.h"
#include "fusion/OnnxNodes.h"
#include "fusion/keys/KeyRange.h"
#include "fusion/rules/RuleTable.h"

#include "frontend/graph/Sizes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// `value`, or what it is a view of.
static Value behindViews(const GroupGraph &graph, Value value) {
  for (Group *group = graph.groupOf(value); group && group->isView(); group = graph.groupOf(value))
    value = group->ops.front()->getOperand(0);
  return value;
}

/// Whether the root of the consumer depends on the producer. If not, the values are only combined after the root, as by
/// a residual connection.
static bool feedsRoot(const GroupGraph &graph, const Edge &edge) {
  llvm::SmallPtrSet<Operation *, 16> fed;
  for (Operation *op : edge.consumer->ops)
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return fed.contains(operand.getDefiningOp()) || graph.groupOf(behindViews(graph, operand)) == edge.producer;
        }))
      fed.insert(op);
  return fed.contains(edge.consumer->geometry.root);
}

/// Reasons whose sentences say that one root depends on the other.
static bool isBetweenRoots(Reason reason) {
  return reason == Reason::SecondReduction || reason == Reason::ReductionOfContraction ||
         reason == Reason::OtherLoops || reason == Reason::WindowIsRepeated;
}

/// The group with the views that it reads, which were its own while rules were applied.
static Group withViews(const GroupGraph &graph, const Group &group) {
  Group whole;
  whole.ops = group.ops;
  whole.geometry = group.geometry;
  whole.work = group.work;
  for (size_t i = 0; i < whole.ops.size(); ++i)
    for (Value operand : whole.ops[i]->getOperands())
      if (Group *view = graph.groupOf(operand); view && view->isView() && !llvm::is_contained(whole.ops, view->ops[0]))
        whole.ops.push_back(view->ops[0]);
  llvm::sort(whole.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return whole;
}

/// Why a softmax and the contraction behind it do not make an attention with the one before it. nullopt if there is no
/// contraction before it.
static std::optional<Reason> whyNoAttention(const GroupGraph &graph, FusionOptions options, const Edge &edge) {
  if (!attentionRule().admits(edge))
    return std::nullopt;
  Group softmax = withViews(graph, *edge.producer), mix = withViews(graph, *edge.consumer);
  for (const Edge &feed : attentionRule().feeds(graph, {&softmax, &mix, edge.value, edge.user})) {
    if (options.mode != FusionMode::All)
      return Reason::OtherMode;
    GeometryOrRefusal verdict = checkAttention(options, *feed.producer, softmax, mix);
    if (auto *refusal = std::get_if<Refusal>(&verdict))
      return refusal->reason;
  }
  return std::nullopt;
}

/// Why an edge was not fused. If it would be legal, the value is needed in memory by several kernels.
static Reason whyNot(const GroupGraph &graph, FusionOptions options, const Edge &edge) {
  if (std::optional<Reason> reason = whyNoAttention(graph, options, edge))
    return *reason;
  GeometryOrRefusal verdict = checkUnion(graph, *edge.producer, *edge.consumer);
  auto *bare = std::get_if<Refusal>(&verdict);
  // Views between the two were released after the rules were applied. Rules saw them, so ask with them again.
  if (!bare || bare->reason == Reason::NeededInMemory)
    if (Group whole = withViews(graph, *edge.consumer); whole.ops.size() > edge.consumer->ops.size())
      verdict = checkUnion(graph, *edge.producer, whole);
  if (auto *refusal = std::get_if<Refusal>(&verdict)) {
    if (refusal->reason == Reason::MapNotInvertible && edge.consumer->notInParts)
      return *edge.consumer->notInParts;
    bool bothHaveRoots = edge.producer->geometry.root && edge.consumer->geometry.root;
    return isBetweenRoots(refusal->reason) && bothHaveRoots && !feedsRoot(graph, edge) ? Reason::BesideRoot
                                                                                       : refusal->reason;
  }
  return options.mode == FusionMode::All ? Reason::NeededInMemory : Reason::OtherMode;
}

/// One edge for each pair of groups, seen through views.
static std::vector<Edge> edgesBetweenGroups(const GroupGraph &graph) {
  std::vector<Edge> edges;
  llvm::DenseSet<std::pair<Group *, Group *>> seen;
  for (Operation *op : graph.operations())
    for (Value operand : op->getOperands()) {
      Value computed = behindViews(graph, operand);
      Edge edge{graph.groupOf(computed), graph.groupOf(op), computed, op};
      if (edge.producer && edge.producer != edge.consumer && !edge.consumer->isView() &&
          seen.insert({edge.producer, edge.consumer}).second)
        edges.push_back(edge);
    }
  return edges;
}

static StringRef nodeName(ModuleOp module, int64_t node) {
  if (std::optional<NodeLabel> label = labelOf(module, node))
    return label->name;
  return StringAttr::get(module.getContext(), "node " + Twine(node)).getValue();
}

static FusionReport::Names nodeNames(ModuleOp module, ArrayRef<int64_t> nodes) {
  return llvm::map_to_vector<1>(nodes, [&](int64_t node) { return nodeName(module, node); });
}

/// Whether all products of a decision ended up in one kernel.
static bool areInOneKernel(const GroupGraph &graph, const Join &join) {
  return llvm::any_of(graph.inOrder(), [&](Group *group) {
    SmallVector<int64_t> nodes = group->nodes();
    return !group->geometry.more.empty() &&
           llvm::all_of(join.nodes, [&](int64_t node) { return is_contained(nodes, node); });
  });
}

UnnamedReport fusion::explainFusion(const GroupGraph &graph, FusionOptions options, ArrayRef<Join> joins,
                                    ModuleOp module) {
  UnnamedReport unnamed{{options.mode, {}, {}, {}}, {}};
  for (const Join &join : joins)
    if (!areInOneKernel(graph, join))
      unnamed.report.joins.push_back({nodeNames(module, join.nodes), join.verdict});
  llvm::DenseMap<Group *, size_t> index;
  for (Group *group : graph.inOrder()) {
    if (group->isView())
      continue;
    index[group] = unnamed.groups.size();
    unnamed.groups.push_back(group);
    unnamed.report.launches.push_back(
        {"host", group->geometry.kind, nodeNames(module, group->nodes()), {group->rules.begin(), group->rules.end()}});
  }
  for (const Edge &edge : edgesBetweenGroups(graph))
    unnamed.report.edges.push_back({index.at(edge.producer), index.at(edge.consumer),
                                    nodeName(module, nodeOf(edge.value.getDefiningOp())),
                                    nodeName(module, nodeOf(edge.user)), whyNot(graph, options, edge)});
  return unnamed;
}

/// Which keys a row of an attention visits.
static std::string visitedKeys(graph::KernelOp kernel, ModuleOp module) {
  KeyRange range = *keyRangeOf(kernel, *takeApart(kernel));
  std::vector<std::string> symbols, bounds;
  if (auto names = module->getAttrOfType<ArrayAttr>(graph::symbolsAttr))
    for (StringAttr name : names.getAsRange<StringAttr>())
      symbols.push_back(name.str());
  for (AffineExpr expr : range.from)
    bounds.push_back("from " + graph::printSize(expr, symbols));
  for (AffineExpr expr : range.below)
    bounds.push_back("below " + graph::printSize(expr, symbols));
  return bounds.empty() ? "all keys, since indices alone exclude none" : "keys " + llvm::join(bounds, ", ");
}

FusionReport fusion::withKernelNames(UnnamedReport unnamed, const OutlinedGroups &outlined) {
  for (auto [group, launch] : llvm::zip_equal(unnamed.groups, unnamed.report.launches))
    if (auto op = dyn_cast<graph::LaunchOp>(outlined.at(group))) {
      auto module = op->getParentOfType<ModuleOp>();
      launch.kernel = op.getKernelAttr().getValue();
      if (launch.kind == RootKind::Attention)
        launch.keys = visitedKeys(module.lookupSymbol<graph::KernelOp>(launch.kernel), module);
    }
  return std::move(unnamed.report);
}
