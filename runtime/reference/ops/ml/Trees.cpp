// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml: ensembles of decision trees. Every encoding becomes a Forest, and each row of the input walks down every
// tree. Votes are added in float32, or in double for inputs of double, as in ONNX Runtime.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Scores.h"
#include "runtime/reference/ops/ml/Forest.h"
#include "runtime/reference/ops/ml/Labels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace tilewright::reference {

namespace {

enum class Aggregate : uint8_t { average, sum, minimum, maximum };

/// Rounds a sum of votes to float32, unless inputs are double.
double rounded(double sum, bool inDouble) { return inDouble ? sum : static_cast<float>(sum); }

struct Outcome {
  std::vector<double> scores;
  std::vector<bool> voted;
};

void evaluateRow(const Forest &forest, Leaves &leaves, int64_t row, Aggregate aggregate, bool inDouble,
                 Outcome &outcome) {
  outcome.scores.assign(forest.targets, 0), outcome.voted.assign(forest.targets, false);
  for (size_t tree = 0; tree < forest.roots.size(); ++tree) {
    const TreeNode &leaf = leaves.of(row, tree);
    for (int64_t i = leaf.yes; i < leaf.no; ++i) {
      auto [target, weight] = forest.votes[i];
      double &score = outcome.scores[target];
      if (aggregate == Aggregate::minimum || aggregate == Aggregate::maximum)
        score = !outcome.voted[target]            ? weight
                : aggregate == Aggregate::minimum ? std::min(score, weight)
                                                  : std::max(score, weight);
      else
        score = rounded(score + weight, inDouble);
      outcome.voted[target] = true;
    }
  }
  if (aggregate == Aggregate::average)
    for (double &score : outcome.scores)
      score = rounded(score / static_cast<double>(std::max<size_t>(forest.roots.size(), 1)), inDouble);
}

//===- Encodings --------------------------------------------------------------------------------------------------===//

std::vector<int64_t> integersOf(Call &call, std::string_view name) {
  return call.integers(name).value_or(std::vector<int64_t>());
}

/// A list of floats, or a tensor of doubles under the same name with "_as_tensor".
std::vector<double> realsOf(Call &call, const std::string &name) {
  if (const Tensor *tensor = call.tensor(name + "_as_tensor")) {
    Values<double> values(*tensor);
    return {values.begin(), values.end()};
  }
  std::vector<float> list = call.reals(name).value_or(std::vector<float>());
  return {list.begin(), list.end()};
}

constexpr std::string_view modeNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                          "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};

void countFeature(Forest &forest, const TreeNode &node) {
  if (node.mode == Mode::leaf)
    return;
  require(node.feature >= 0 && node.feature < INT64_MAX, "expected features from 0 on, found {}", node.feature);
  forest.features = std::max(forest.features, node.feature + 1);
}

void checkFeatures(const Forest &forest, const Table &x) {
  require(forest.features <= x.columns, "expected features below {}, found {}", x.columns, forest.features - 1);
}

/// Assigns votes to leaves, which are identified by (tree, node); `find` gives the node's index.
void addVotes(Forest &forest, Call &call, const std::string &kind,
              const std::function<int64_t(int64_t tree, int64_t id)> &find) {
  std::vector<int64_t> voteTrees = integersOf(call, kind + "_treeids"), voteNodes = integersOf(call, kind + "_nodeids"),
                       voteIds = integersOf(call, kind + "_ids");
  std::vector<double> weights = realsOf(call, kind + "_weights");
  require(voteTrees.size() == weights.size() && voteNodes.size() == weights.size() && voteIds.size() == weights.size(),
          "expected lists of {}_... of one length, found {} ids and {} weights", kind, voteIds.size(), weights.size());
  std::vector<std::pair<int64_t, size_t>> order; // leaf, vote
  for (size_t i = 0; i < weights.size(); ++i) {
    require(0 <= voteIds[i] && voteIds[i] < forest.targets, "expected {}_ids below {}, found {}", kind, forest.targets,
            voteIds[i]);
    order.emplace_back(find(voteTrees[i], voteNodes[i]), i);
  }
  std::ranges::sort(order);
  for (auto [leaf, vote] : order) {
    TreeNode &node = forest.nodes[leaf];
    if (node.mode != Mode::leaf)
      continue;
    if (node.no == 0)
      node.yes = static_cast<int64_t>(forest.votes.size());
    forest.votes.push_back({voteIds[vote], weights[vote]});
    node.no = static_cast<int64_t>(forest.votes.size());
  }
}

/// Versions 1 to 3: nodes and the leaves of votes are identified by (tree, node). `kind` is "target" or "class".
Forest forestByIds(Call &call, const std::string &kind, int64_t targets) {
  Forest forest;
  forest.targets = targets;
  std::vector<int64_t> trees = integersOf(call, "nodes_treeids"), ids = integersOf(call, "nodes_nodeids"),
                       features = integersOf(call, "nodes_featureids"), yes = integersOf(call, "nodes_truenodeids"),
                       no = integersOf(call, "nodes_falsenodeids"),
                       missing = integersOf(call, "nodes_missing_value_tracks_true");
  std::vector<double> values = realsOf(call, "nodes_values");
  std::vector<std::string> modes = call.texts("nodes_modes").value_or(std::vector<std::string>());
  size_t count = ids.size();
  require(trees.size() == count && features.size() == count && yes.size() == count && no.size() == count &&
              values.size() == count && modes.size() == count && (missing.empty() || missing.size() == count),
          "expected lists of nodes_... of one length, found {} ids and {} modes", count, modes.size());
  auto key = [](int64_t tree, int64_t id) { return static_cast<uint64_t>(tree) << 32 ^ static_cast<uint64_t>(id); };
  std::unordered_map<uint64_t, int64_t> place;
  for (size_t i = 0; i < count; ++i) {
    require(place.try_emplace(key(trees[i], ids[i]), i).second, "node {} of tree {} is defined twice", ids[i],
            trees[i]);
    if (i == 0 || trees[i] != trees[i - 1])
      forest.roots.push_back(static_cast<int64_t>(i));
  }
  auto find = [&](int64_t tree, int64_t id) {
    auto found = place.find(key(tree, id));
    require(found != place.end(), "tree {} has no node {}", tree, id);
    return found->second;
  };
  for (size_t i = 0; i < count; ++i) {
    auto mode = std::ranges::find(modeNames, modes[i]);
    require(mode != std::end(modeNames) && modes[i] != "BRANCH_MEMBER", "'{}' is no mode of a node", modes[i]);
    TreeNode &node = forest.nodes.emplace_back();
    node = {static_cast<Mode>(mode - std::begin(modeNames)),
            !missing.empty() && missing[i] != 0,
            features[i],
            0,
            0,
            values[i]};
    countFeature(forest, node);
    if (node.mode != Mode::leaf)
      node.yes = find(trees[i], yes[i]), node.no = find(trees[i], no[i]);
  }
  addVotes(forest, call, kind, find);
  forest.findSteps();
  return forest;
}

/// Version 5: children are indices of nodes or leaves, each leaf has one vote.
Forest forestByIndex(Call &call) {
  Forest forest;
  forest.targets = call.integer("n_targets", 0);
  forest.roots = integersOf(call, "tree_roots");
  std::vector<int64_t> features = integersOf(call, "nodes_featureids"), yes = integersOf(call, "nodes_truenodeids"),
                       no = integersOf(call, "nodes_falsenodeids"), yesLeaf = integersOf(call, "nodes_trueleafs"),
                       noLeaf = integersOf(call, "nodes_falseleafs"),
                       missing = integersOf(call, "nodes_missing_value_tracks_true"),
                       leafTargets = integersOf(call, "leaf_targetids");
  auto tensor = [&](const char *name) { return call.tensor(name) ? *call.tensor(name) : allocate(DType::F64, {0}); };
  Values<double> splits(tensor("nodes_splits")), weights(tensor("leaf_weights")), sets(tensor("membership_values"));
  Values<int64_t> modes(tensor("nodes_modes"));
  auto count = static_cast<int64_t>(features.size()), leaves = static_cast<int64_t>(leafTargets.size());
  auto has = [](const std::vector<int64_t> &list, int64_t size) { return static_cast<int64_t>(list.size()) == size; };
  require(has(yes, count) && has(no, count) && has(yesLeaf, count) && has(noLeaf, count) && splits.size() == count &&
              modes.size() == count && (missing.empty() || has(missing, count)) && weights.size() == leaves,
          "expected lists of nodes_... and of leaf_... of one length each, found {} features and {} modes", count,
          modes.size());
  for (double member : sets) { // NaN ends a set
    if (forest.members.empty())
      forest.members.emplace_back();
    if (std::isnan(member))
      forest.members.emplace_back();
    else
      forest.members.back().insert(member);
  }
  size_t nextSet = 0;
  auto child = [&](int64_t index, int64_t isLeaf) {
    require(0 <= index && index < (isLeaf ? leaves : count), "expected children below {}, found {}",
            isLeaf ? leaves : count, index);
    return isLeaf ? count + index : index;
  };
  for (int64_t i = 0; i < count; ++i) {
    require(0 <= modes[i] && modes[i] <= 6, "expected modes from 0 to 6, found {}", modes[i]);
    TreeNode node{static_cast<Mode>(modes[i]),
                  !missing.empty() && missing[i] != 0,
                  features[i],
                  child(yes[i], yesLeaf[i]),
                  child(no[i], noLeaf[i]),
                  splits[i]};
    if (node.mode == Mode::member) {
      require(nextSet < forest.members.size(), "expected a set of members for each test, found {}",
              forest.members.size());
      node.value = static_cast<double>(nextSet++);
    }
    countFeature(forest, node);
    forest.nodes.push_back(node);
  }
  for (int64_t i = 0; i < leaves; ++i) {
    require(0 <= leafTargets[i] && leafTargets[i] < forest.targets, "expected leaf_targetids below {}, found {}",
            forest.targets, leafTargets[i]);
    TreeNode &leaf = forest.nodes.emplace_back();
    leaf.yes = i, leaf.no = i + 1;
    forest.votes.push_back({leafTargets[i], weights[i]});
  }
  for (int64_t root : forest.roots)
    require(0 <= root && root < count, "expected tree_roots below {}, found {}", count, root);
  forest.findSteps();
  return forest;
}

/// Scores of all rows, with base values and the transform.
void regress(Call &call, const Forest &forest, const Table &x, Aggregate aggregate, const std::string &transform,
             DType type) {
  checkFeatures(forest, x);
  bool inDouble = call.input(0).type() == DType::F64;
  std::vector<double> base = realsOf(call, "base_values"), result;
  require(base.empty() || static_cast<int64_t>(base.size()) == forest.targets || base.size() == 1,
          "expected {} base values, found {}", forest.targets, base.size());
  Outcome outcome;
  Leaves leaves(forest, x);
  for (int64_t i = 0; i < x.rows; ++i) {
    evaluateRow(forest, leaves, i, aggregate, inDouble, outcome);
    for (size_t t = 0; t < outcome.scores.size() && !base.empty(); ++t)
      outcome.scores[t] =
          rounded(outcome.scores[t] + (outcome.voted[t] ? base[base.size() == 1 ? 0 : t] : 0), inDouble);
    writeScores(outcome.scores, transform, SecondScore::none, result);
  }
  call.give(0, type, {x.rows, forest.targets}, result);
}

} // namespace

void treeEnsembleRegressor(Call &call) {
  Table x(call.input(0));
  int64_t targets = call.integer("n_targets", 1);
  require(targets >= 1, "expected n_targets of 1 or more, found {}", targets);
  auto forest = call.cached([&] { return forestByIds(call, "target", targets); });
  static constexpr std::string_view aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  auto aggregate = std::ranges::find(aggregates, call.text("aggregate_function", "SUM"));
  require(aggregate != std::end(aggregates), "'{}' is no aggregate_function", call.text("aggregate_function", "SUM"));
  regress(call, *forest, x, static_cast<Aggregate>(aggregate - aggregates), call.text("post_transform", "NONE"),
          DType::F32);
}

void treeEnsemble(Call &call) {
  static constexpr const char *transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int64_t aggregate = call.integer("aggregate_function", 1), transform = call.integer("post_transform", 0);
  require(0 <= aggregate && aggregate < 4 && 0 <= transform && transform < 5,
          "expected aggregate_function from 0 to 3 and post_transform from 0 to 4, found {} and {}", aggregate,
          transform);
  Table x(call.input(0));
  auto forest = call.cached([&] { return forestByIndex(call); });
  require(forest->targets >= 1, "expected n_targets of 1 or more, found {}", forest->targets);
  regress(call, *forest, x, static_cast<Aggregate>(aggregate), transforms[transform], call.input(0).type());
}

namespace {

/// Adds base values for two classes. If there are two and the second class has votes, only the second base value is
/// used, and the first class's votes count for the second. A second class without votes has no score.
void addBase(Outcome &outcome, const std::vector<double> &base) {
  std::vector<double> &scores = outcome.scores;
  if (base.size() == 2 && outcome.voted[1]) {
    scores[1] = base[1] + scores[0];
    scores[0] = outcome.voted[0] ? -scores[1] : 0;
    return;
  }
  if (!base.empty() && outcome.voted[0])
    scores[0] += base[0];
  if (base.size() != 2 && !outcome.voted[1])
    scores.resize(1);
}

/// A classifier, and properties of its votes: whether one of two classes gets all of them, and whether none is
/// negative.
struct Classifier {
  Forest forest;
  Labels labels;
  std::vector<double> base;
  bool oneVotes, allPositive;
};

Classifier classifierOf(Call &call) {
  Labels labels = Labels::either(call, "classlabels_int64s", "classlabels_strings");
  require(labels.size() > 0, "expected class labels, found none");
  Forest forest = forestByIds(call, "class", labels.size());
  std::set<int64_t> voting;
  bool allPositive = true;
  for (const Vote &vote : forest.votes)
    voting.insert(vote.target), allPositive &= vote.weight >= 0;
  bool oneVotes = labels.size() == 2 && voting.size() == 1;
  return {std::move(forest), std::move(labels), realsOf(call, "base_values"), oneVotes, allPositive};
}

} // namespace

/// Two classes of which only one ever gets votes are decided by the sign of its score, or by 0.5 if all weights are
/// positive. If both get votes, ONNX Runtime returns 1 or 0 by the sign of the second score, whatever the labels are,
/// unless they are strings.
void treeEnsembleClassifier(Call &call) {
  Table x(call.input(0));
  auto classifier = call.cached([&] { return classifierOf(call); });
  const auto &[forest, labels, base, oneVotes, allPositive] = *classifier;
  checkFeatures(forest, x);
  bool inDouble = call.input(0).type() == DType::F64;
  std::string transform = call.text("post_transform", "NONE");
  int64_t classes = labels.size();
  bool anyLabels = classes != 2 || oneVotes || labels.type() == DType::String;
  std::vector<int64_t> found; // positions of labels
  std::vector<double> result;
  Outcome outcome;
  Leaves leaves(forest, x);
  for (int64_t i = 0; i < x.rows; ++i) {
    evaluateRow(forest, leaves, i, Aggregate::sum, inDouble, outcome);
    std::vector<double> &scores = outcome.scores;
    SecondScore second = SecondScore::none;
    if (classes == 2) {
      addBase(outcome, base);
      bool positive = scores[outcome.voted[1]] > (oneVotes && allPositive ? 0.5 : 0);
      second = oneVotes && allPositive ? SecondScore::complement : SecondScore::opposite;
      found.push_back(positive);
    } else {
      for (size_t c = 0; c < base.size() && c < scores.size(); ++c)
        scores[c] += base[c];
      found.push_back(std::ranges::max_element(scores) - scores.begin());
    }
    writeScores(scores, transform, second, result);
  }
  call.give(0, anyLabels ? labels.at(found, {x.rows}) : store(DType::I64, {x.rows}, found));
  if (call.wants(1))
    call.give(1, DType::F32, {x.rows, classes}, result);
}

} // namespace tilewright::reference
