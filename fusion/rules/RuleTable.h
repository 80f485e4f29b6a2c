// The fusion rules, in the order in which they are tried: which two groups may become one, seen from their roles.
//
// A rule speaks of roles only. Whether the union is one kernel is decided by Geometry, whether it pays by CostModel.
#pragma once

#include "fusion/groups/FormGroups.h"
#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// From which round on a rule is tried. Transposes are carried to their readers between the two.
enum class Round {
  Epilogues, // roots take what follows them, permutations of their results too
  All,
};

struct Rule {
  llvm::StringLiteral name; // as --explain-fusion=json says which rules made a kernel
  Round first;
  FusionMode from; // the least eager mode that applies it between ONNX nodes; inside one node every rule applies
  bool (*admits)(const Edge &edge);
};

llvm::ArrayRef<Rule> ruleTable();

// rules/<Rule>.cpp: an edge's groups by their roots, and nothing that Geometry or CostModel decides.
bool contractEpilogue(const Edge &edge);
bool reductionEpilogue(const Edge &edge);
bool reductionChain(const Edge &edge);
bool reductionPrologue(const Edge &edge);
bool pointwiseChain(const Edge &edge);
bool contractPrologue(const Edge &edge);

} // namespace tilewright::fusion
