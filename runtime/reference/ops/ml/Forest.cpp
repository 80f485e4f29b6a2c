// SPDX-License-Identifier: Apache-2.0
#include "runtime/reference/ops/ml/Forest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace tilewright::reference {

bool Forest::takes(const TreeNode &node, double x) const {
  if (node.missingIsYes && std::isnan(x))
    return true;
  switch (node.mode) {
  case Mode::lessOrEqual:
    return x <= node.value;
  case Mode::less:
    return x < node.value;
  case Mode::greaterOrEqual:
    return x >= node.value;
  case Mode::greater:
    return x > node.value;
  case Mode::equal:
    return x == node.value;
  case Mode::notEqual:
    return x != node.value;
  case Mode::member:
    return members[static_cast<size_t>(node.value)].contains(x);
  case Mode::leaf:
    break;
  }
  return false;
}

const TreeNode &Forest::leafOf(int64_t root, const double *row) const {
  const TreeNode *node = &nodes[root];
  // A walk longer than the list is a cycle.
  for (size_t steps = 0; node->mode != Mode::leaf;
       node = &nodes[takes(*node, row[node->feature]) ? node->yes : node->no])
    require(++steps <= nodes.size(), "a tree of the ensemble goes round in a circle");
  return *node;
}

void Forest::findSteps() {
  for (const TreeNode &node : nodes)
    if (node.mode != Mode::leaf) {
      if (node.mode > Mode::greater || (mode != Mode::leaf && node.mode != mode))
        return;
      mode = node.mode;
    }
  if (mode == Mode::leaf || nodes.size() > INT32_MAX || features > INT32_MAX)
    return;
  for (const TreeNode &node : nodes) {
    auto self = static_cast<int32_t>(steps.size());
    steps.push_back(node.mode == Mode::leaf ? TreeStep{.next = {self, self}}
                                            : TreeStep{node.value,
                                                       static_cast<int32_t>(node.feature),
                                                       {static_cast<int32_t>(node.no), static_cast<int32_t>(node.yes)},
                                                       node.missingIsYes});
  }
}

namespace {
constexpr size_t lanes = 8;
constexpr int64_t rowsTogether = 64;

struct Lanes {
  std::array<int32_t, lanes> at{}; // nodes
  std::array<const double *, lanes> rows{};
};
} // namespace

/// Walks all lanes until none moves.
template <typename Compare> static void walk(const std::vector<TreeStep> &steps, Lanes &walks) {
  for (size_t count = 0;; ++count) {
    require(count <= steps.size(), "a tree of the ensemble goes round in a circle");
    int32_t moved = 0;
    for (size_t lane = 0; lane < lanes; ++lane) {
      const TreeStep &step = steps[walks.at[lane]];
      double value = walks.rows[lane][step.feature];
      int isYes = int(Compare{}(value, step.value)) | (int(step.missingIsYes) & int(value != value));
      int32_t next = step.next[isYes];
      moved |= next ^ walks.at[lane];
      walks.at[lane] = next;
    }
    if (moved == 0)
      return;
  }
}

static void walk(const Forest &forest, Lanes &walks) {
  if (forest.mode == Mode::lessOrEqual)
    walk<std::less_equal<>>(forest.steps, walks);
  else if (forest.mode == Mode::less)
    walk<std::less<>>(forest.steps, walks);
  else if (forest.mode == Mode::greaterOrEqual)
    walk<std::greater_equal<>>(forest.steps, walks);
  else
    walk<std::greater<>>(forest.steps, walks);
  for (int32_t at : walks.at) // a node that leads to itself does not move either
    require(forest.nodes[at].mode == Mode::leaf, "a tree of the ensemble goes round in a circle");
}

void Leaves::walkFrom(int64_t row) {
  first = row, rows = std::min(rowsTogether, x.rows - row);
  size_t total = forest.roots.size() * rows, tree = 0, done = 0;
  found.resize(total);
  for (int64_t next = 0; done < total;) {
    Lanes walks;
    size_t count = std::min(lanes, total - done);
    for (size_t lane = 0; lane < count; ++lane) {
      walks.at[lane] = static_cast<int32_t>(forest.roots[tree]), walks.rows[lane] = x.row(row + next);
      if (++next == rows)
        next = 0, ++tree;
    }
    for (size_t lane = count; lane < lanes; ++lane) // repeat the first
      walks.at[lane] = walks.at[0], walks.rows[lane] = walks.rows[0];
    walk(forest, walks);
    std::copy_n(walks.at.begin(), count, found.begin() + static_cast<int64_t>(done));
    done += count;
  }
}

} // namespace tilewright::reference
