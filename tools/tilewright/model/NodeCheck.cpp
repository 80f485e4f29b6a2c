// SPDX-License-Identifier: Apache-2.0
// Derives the materialized values from the groups of a plan, and compares them.
#include "tools/tilewright/model/NodeCheck.h"

#include <algorithm>
#include <set>

namespace tilewright {

namespace {

/// Which groups of a plan hold each node of the model.
class NodeGroups {
public:
  NodeGroups(const OnnxModel &model, const runtime::Plan &plan) : model(model), groups(model.order().size()) {
    std::map<std::string, int> byName;
    for (int node : model.order())
      byName.try_emplace(model.nodeName(node), node);
    for (runtime::GroupId group = 0; group < plan.groups.size(); ++group)
      for (const std::string &member : plan.groups[group].members)
        if (auto node = byName.find(outerName(member, byName)); node != byName.end())
          groups[node->second].insert(group);
  }

  /// Whether the node has no kernel: a view, a constant, or shape arithmetic.
  bool isView(int node) const { return groups[node].empty(); }

  /// Whether anything outside of the kernels that compute `value` reads it, directly or through views.
  bool leavesKernel(const std::string &value, int producer, std::set<int> &seen) const {
    if (model.isOutput(value))
      return true;
    return std::ranges::any_of(model.readersOf(value), [&](int reader) {
      if (!isView(reader))
        return std::ranges::none_of(groups[reader],
                                    [&](runtime::GroupId group) { return groups[producer].count(group); });
      const auto &outputs = model.node(reader).output();
      return seen.insert(reader).second && std::ranges::any_of(outputs, [&](const std::string &output) {
               return leavesKernel(output, producer, seen);
             });
    });
  }

private:
  /// The node of the main graph that a member belongs to: "call/inner|Op" is of "call", if that calls a function.
  static std::string outerName(const std::string &member, const std::map<std::string, int> &byName) {
    std::string name = member.substr(0, member.rfind('|'));
    for (std::string outer = name; !outer.empty();
         outer = outer.substr(0, outer.find_last_of('/') == std::string::npos ? 0 : outer.find_last_of('/')))
      if (byName.count(outer))
        return outer;
    return name;
  }

  const OnnxModel &model;
  std::vector<std::set<runtime::GroupId>> groups;
};

} // namespace

std::vector<std::string> materializedValues(const OnnxModel &model, const runtime::Plan &plan) {
  NodeGroups groups(model, plan);
  std::vector<std::string> values;
  for (const std::string &value : model.values()) {
    int producer = model.producerOf(value);
    std::set<int> seen;
    if (!groups.isView(producer) && groups.leavesKernel(value, producer, seen))
      values.push_back(value);
  }
  return values;
}

Tolerance toleranceAt(const OnnxModel &model, const std::string &value, DType type,
                      const std::optional<Tolerance> &given) {
  return given ? *given : model.isOutput(value) ? defaultTolerance(type) : innerTolerance(type);
}

Expected<std::vector<NodeRow>> checkNodes(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &inputs,
                                          const ValueMap &expected, const std::optional<Tolerance> &tolerance) {
  runtime::Plan plan;
  Expected<ValueMap> once = evaluateModel(evaluation, model.proto(), inputs, &plan);
  TILEWRIGHT_TRY(once);
  std::vector<std::string> values = materializedValues(model, plan);
  std::erase_if(values, [&](const std::string &value) { return !expected.count(value); });
  if (values.empty())
    return Status(Code::Usage, "none of the values to compare with is one that a kernel leaves in memory");
  Expected<ValueMap> actual = evaluateModel(evaluation, model.withOutputs(values), inputs);
  TILEWRIGHT_TRY(actual);
  std::vector<NodeRow> rows;
  for (const std::string &value : values) {
    int node = model.producerOf(value);
    const Tensor &wanted = expected.at(value);
    Comparison result = compare(value, actual->at(value), wanted, toleranceAt(model, value, wanted.type(), tolerance));
    rows.push_back({model.nodeName(node), model.node(node).op_type(), value, std::move(result)});
  }
  return rows;
}

} // namespace tilewright
