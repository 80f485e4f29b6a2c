// SPDX-License-Identifier: Apache-2.0
// The table of fusion rules.
#include "fusion/rules/RuleTable.h"

using namespace tilewright::fusion;

/// Epilogues come first, because they consume a value in registers, while a prologue may be computed more than once.
/// Then the pointwise work that no root took forms kernels of its own, and only after that prologues of contractions
/// are considered. The rules are applied in this order until none of them applies any more.
static constexpr Rule rules[] = {
    {"contract-epilogue", Round::Epilogues, FusionMode::Epilogue, contractEpilogue},
    {"reduction-epilogue", Round::Epilogues, FusionMode::Epilogue, reductionEpilogue},
    {"reduction-chain", Round::Epilogues, FusionMode::All, reductionChain},
    {"reduction-prologue", Round::All, FusionMode::All, reductionPrologue},
    {"pointwise-chain", Round::All, FusionMode::All, pointwiseChain},
    {"contract-prologue", Round::All, FusionMode::All, contractPrologue},
};

llvm::ArrayRef<Rule> tilewright::fusion::ruleTable() { return rules; }
