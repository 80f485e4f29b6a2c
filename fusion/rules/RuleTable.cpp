// SPDX-License-Identifier: Apache-2.0
// The table of fusion rules.
#include "fusion/rules/RuleTable.h"

#include "fusion/groups/SplitProducts.h"

namespace tilewright::fusion {

// One predicate a file of this folder.
bool contractEpilogue(const Edge &edge);
bool reductionEpilogue(const Edge &edge);
bool reductionChain(const Edge &edge);
bool reductionPrologue(const Edge &edge);
bool pointwiseChain(const Edge &edge);
bool contractPrologue(const Edge &edge);
bool attentionChain(const Edge &edge);
bool contractParts(const Edge &edge);
bool contractPair(const Edge &edge);
llvm::SmallVector<Edge> scoresOf(const GroupGraph &graph, const Edge &edge);

/// Epilogues come first, because they consume a value in registers, while a prologue may be computed more than once.
/// Then the pointwise work that no root took forms kernels of its own, and only after that prologues of contractions
/// are considered. An attention is made of whole groups. The rules are applied in this order until none of them applies
/// any more. What puts several contractions into a kernel comes last: an attention may take one of them.
static constexpr Rule rules[] = {
    {"contract-epilogue", Round::Epilogues, FusionMode::Epilogue, contractEpilogue},
    {"reduction-epilogue", Round::Epilogues, FusionMode::Epilogue, reductionEpilogue},
    {"reduction-chain", Round::Epilogues, FusionMode::All, reductionChain},
    {"reduction-prologue", Round::All, FusionMode::All, reductionPrologue},
    {"pointwise-chain", Round::All, FusionMode::All, pointwiseChain},
    {"contract-prologue", Round::All, FusionMode::All, contractPrologue},
    {"attention-chain", Round::All, FusionMode::All, attentionChain, scoresOf},
    {"contract-parts", Round::Pairs, FusionMode::All, contractParts, nullptr, splitProduct},
    {"contract-pair", Round::Pairs, FusionMode::All, contractPair},
};

llvm::ArrayRef<Rule> ruleTable() { return rules; }

const Rule &attentionRule() {
  return *llvm::find_if(rules, [](const Rule &rule) { return rule.feeds != nullptr; });
}

} // namespace tilewright::fusion
