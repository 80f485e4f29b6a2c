// SPDX-License-Identifier: Apache-2.0
// The fusion rules, in the order in which they are tried: which two groups may merge, by the kinds of their roots.
//
// Whether the union can be one kernel is decided by Geometry, and whether that pays by CostModel.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// The first round in which a rule is tried. Between the rounds, transposes are carried to their readers.
enum class Round {
  Epilogues, // roots take what follows them, including transposes of their results
  All,
  Pairs, // kernels get several contractions, now that all attentions are found
};

struct Rule {
  llvm::StringLiteral name; // as in --explain-fusion=json
  Round first;
  FusionMode from; // the first mode that applies it between ONNX nodes; inside one node every rule applies
  bool (*admits)(const Edge &edge);
  /// For a rule that merges three groups at once, since no two of them are a kernel: the groups that feed the producer
  /// of an admitted edge, any of which may be the third. Null for the others.
  llvm::SmallVector<Edge> (*feeds)(const GroupGraph &graph, const Edge &edge) = nullptr;
  /// For a rule that changes what the groups compute: merges those of an admitted edge, or returns false with both as
  /// they were. Null for the others, which unite the groups' operations.
  bool (*merge)(GroupGraph &graph, const Edge &edge) = nullptr;
};

llvm::ArrayRef<Rule> ruleTable();

/// The rule of the table that merges three groups.
const Rule &attentionRule();

} // namespace tilewright::fusion
