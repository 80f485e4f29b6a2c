// SPDX-License-Identifier: Apache-2.0
// Tries the rules on all edges until nothing changes.
#include "fusion/groups/ApplyRules.h"

#include "fusion/Legality.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {
/// Pairs of groups that cannot be one kernel, by all rules that unite groups or by one that changes what they compute.
/// As long as groups only merge, a pair stays refused until one of its groups changes: merges of other groups can only
/// add paths around it.
class Refusals {
public:
  bool contains(const Rule &rule, const Edge &edge) const {
    auto found = pairs.find(keyOf(rule, edge));
    return found != pairs.end() && found->second == versionsOf(edge);
  }
  void add(const Rule &rule, const Edge &edge) { pairs[keyOf(rule, edge)] = versionsOf(edge); }

private:
  using Key = std::pair<const Rule *, std::pair<const Group *, const Group *>>;
  static Key keyOf(const Rule &rule, const Edge &edge) {
    return {rule.merge ? &rule : nullptr, {edge.producer, edge.consumer}};
  }
  static std::pair<unsigned, unsigned> versionsOf(const Edge &edge) {
    return {edge.producer->version, edge.consumer->version};
  }

  llvm::DenseMap<Key, std::pair<unsigned, unsigned>> pairs;
};
} // namespace

/// Merges the groups of an edge with one that feeds them, if some of those makes a kernel with both.
static bool mergeThree(const Rule &rule, GroupGraph &graph, FusionOptions options, const Edge &edge) {
  for (const Edge &feed : rule.feeds(graph, edge)) {
    if (!modeAllows(options.mode, rule.from, isInsideNode(feed.value, feed.user)))
      continue;
    GeometryOrRefusal geometry = checkAttention(options, *feed.producer, *edge.producer, *edge.consumer);
    auto *legal = std::get_if<Geometry>(&geometry);
    if (!legal)
      continue;
    graph.merge(*edge.producer, *feed.producer, *legal);
    graph.merge(*edge.consumer, *edge.producer, *legal);
    edge.consumer->addRule(rule.name);
    return true;
  }
  return false;
}

namespace {
/// `user` reads `value`, which another operation of the graph computes.
struct Use {
  Value value;
  Operation *producer, *user;
  bool insideNode; // where every rule applies

  /// Whether a rule has replaced one of the operations, or let the user read another value.
  bool isGone(const GroupGraph &graph) const {
    return !graph.groupOf(producer) || !graph.groupOf(user) || !llvm::is_contained(user->getOperands(), value);
  }
};
} // namespace

/// The uses along which a rule may merge in this mode, in program order. An operation reads what lies as its result
/// does before what is transposed: of two products that are added, the one stays that computes the sum's rows, which
/// may be an attention's scores. The rules are tried in turns until nothing changes, so what none of them may do is
/// left out once.
static std::vector<Use> usesToTry(const GroupGraph &graph, FusionMode mode) {
  bool betweenNodes = llvm::any_of(ruleTable(), [&](const Rule &rule) { return rule.from <= mode; });
  std::vector<Use> uses;
  auto add = [&](Operation *op, bool transposed) {
    for (Value operand : op->getOperands())
      if (graph.groupOf(operand) && (operand.getDefiningOp<graph::TransposeOp>() != nullptr) == transposed)
        if (bool inside = isInsideNode(operand, op); inside || betweenNodes)
          uses.push_back({operand, operand.getDefiningOp(), op, inside});
  };
  for (Operation *op : graph.operations())
    for (bool transposed : {false, true})
      add(op, transposed);
  return uses;
}

/// Merges along each legal edge that `rule` admits. True if there was one.
static bool applyRule(const Rule &rule, GroupGraph &graph, FusionOptions options, llvm::ArrayRef<Use> uses,
                      Refusals &refused) {
  bool changed = false;
  for (const Use &use : uses) {
    if (rule.merge && changed && use.isGone(graph))
      continue;
    Edge edge{graph.groupOf(use.producer), graph.groupOf(use.user), use.value, use.user};
    if (edge.producer == edge.consumer || !modeAllows(options.mode, rule.from, use.insideNode) ||
        refused.contains(rule, edge) || !rule.admits(edge))
      continue;
    if (rule.feeds) {
      changed |= mergeThree(rule, graph, options, edge);
      continue;
    }
    if (rule.merge) {
      if (rule.merge(graph, edge)) {
        edge.consumer->addRule(rule.name);
        changed = true;
      } else {
        refused.add(rule, edge);
      }
      continue;
    }
    GeometryOrRefusal geometry = checkUnion(graph, *edge.producer, *edge.consumer);
    if (auto *legal = std::get_if<Geometry>(&geometry)) {
      graph.merge(*edge.consumer, *edge.producer, std::move(*legal));
      edge.consumer->addRule(rule.name);
      changed = true;
    } else {
      refused.add(rule, edge);
    }
  }
  return changed;
}

void fusion::applyRules(Round round, GroupGraph &graph, FusionOptions options) {
  std::vector<Use> uses = usesToTry(graph, options.mode);
  Refusals refused;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Rule &rule : ruleTable())
      if (rule.first <= round && applyRule(rule, graph, options, uses, refused)) {
        if (rule.merge) // others stand for some operations
          uses = usesToTry(graph, options.mode);
        llvm::erase_if(uses, [&](const Use &use) { return graph.groupOf(use.producer) == graph.groupOf(use.user); });
        changed = true;
      }
  }
}
