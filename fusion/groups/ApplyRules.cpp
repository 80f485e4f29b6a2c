// SPDX-License-Identifier: Apache-2.0
// Tries the rules on all edges until nothing changes.
#include "fusion/groups/ApplyRules.h"

#include "fusion/Legality.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {
/// Pairs of groups that cannot be one kernel. As long as groups only merge, a pair stays refused until one of its
/// groups changes: merges of other groups can only add paths around it.
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

/// Merges the groups of an edge with one that feeds them, if some of those makes a kernel with both.
static bool mergeThree(const Rule &rule, GroupGraph &graph, FusionOptions options, const Edge &edge) {
  for (const Edge &feed : rule.feeds(graph, edge)) {
    if (!modeAllows(options.mode, rule.from, feed.value, feed.user))
      continue;
    GeometryOrRefusal geometry = checkAttention(options, *feed.producer, *edge.producer, *edge.consumer);
    auto *legal = std::get_if<Geometry>(&geometry);
    if (!legal)
      continue;
    graph.merge(*edge.producer, *feed.producer, *legal);
    graph.merge(*edge.consumer, *edge.producer, *legal);
    edge.consumer->rules.insert(rule.name);
    return true;
  }
  return false;
}

/// Merges along each legal edge that `rule` admits. True if there was one.
static bool applyRule(const Rule &rule, GroupGraph &graph, FusionOptions options, Refusals &refused) {
  bool changed = false;
  for (Operation *op : graph.operations())
    for (Value operand : op->getOperands()) {
      Edge edge{graph.groupOf(operand), graph.groupOf(op), operand, op};
      if (!edge.producer || edge.producer == edge.consumer || !modeAllows(options.mode, rule.from, operand, op) ||
          refused.contains(*edge.producer, *edge.consumer) || !rule.admits(edge))
        continue;
      if (rule.feeds) {
        changed |= mergeThree(rule, graph, options, edge);
        continue;
      }
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

void fusion::applyRules(Round round, GroupGraph &graph, FusionOptions options) {
  Refusals refused;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Rule &rule : ruleTable())
      if (rule.first <= round)
        changed |= applyRule(rule, graph, options, refused);
  }
}
