// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees as one list of nodes, and the walk of a table's rows down all trees.
//
//     node i: compare x[feature] with value, go to `yes` or `no`     leaf: the votes first ... last
//
// Where all nodes compare alike, several rows and trees are walked in step: without branches that depend on data, and
// while one walk waits for its node the others go on.
#pragma once

#include "runtime/reference/ops/ml/Table.h"

#include <set>
#include <vector>

namespace tilewright::reference {

enum class Mode : uint8_t { lessOrEqual, less, greaterOrEqual, greater, equal, notEqual, member, leaf };

struct TreeNode {
  Mode mode = Mode::leaf;
  bool missingIsYes = false;
  int64_t feature = 0, yes = 0, no = 0; // of a leaf: its votes are [yes, no)
  double value = 0;                     // of a membership test: the index of its set
};

struct Vote {
  int64_t target;
  double weight;
};

/// A node of a forest whose tests all compare alike. A leaf stays where it is.
struct TreeStep {
  double value = 0;
  int32_t feature = 0, next[2] = {}; // if the comparison is false, and if it is true
  bool missingIsYes = false;
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<TreeStep> steps; // the same nodes, if all tests are one order comparison, `mode`; else empty
  Mode mode = Mode::leaf;
  std::vector<int64_t> roots;
  std::vector<Vote> votes;
  std::vector<std::set<double>> members;
  int64_t targets = 0;
  int64_t features = 0; // the highest feature that a node tests, plus 1

  bool takes(const TreeNode &node, double x) const;
  const TreeNode &leafOf(int64_t root, const double *row) const;
  /// Fills `steps` and `mode` if all tests are one order comparison.
  void findSteps();
};

/// The leaves that the rows of a table reach in each tree of a forest.
class Leaves {
public:
  Leaves(const Forest &forest, const Table &x) : forest(forest), x(x) {}

  /// Tree `tree`'s leaf for `row`; rows in ascending order.
  const TreeNode &of(int64_t row, size_t tree) {
    if (forest.steps.empty())
      return forest.leafOf(forest.roots[tree], x.row(row));
    if (row >= first + rows)
      walkFrom(row);
    return forest.nodes[found[tree * rows + row - first]];
  }

private:
  void walkFrom(int64_t row);

  const Forest &forest;
  const Table &x;
  int64_t first = 0, rows = 0; // what `found` has
  std::vector<int32_t> found;  // [trees, rows]
};

} // namespace tilewright::reference
