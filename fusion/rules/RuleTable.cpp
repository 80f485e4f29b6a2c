// The table of fusion rules.
#include "fusion/rules/RuleTable.h"

using namespace tilewright::fusion;

/// Epilogues first: there a value is consumed in registers, where a prologue may be computed more than once. Pointwise
/// work that no root took forms kernels of its own, and only what is left then is considered as a contraction's
/// prologue. The rows apply in order, again and again until none finds an edge.
static constexpr Rule rules[] = {
    {"contract-epilogue", Round::Epilogues, FusionMode::Epilogue, contractEpilogue},
    {"reduction-epilogue", Round::Epilogues, FusionMode::Epilogue, reductionEpilogue},
    {"reduction-chain", Round::Epilogues, FusionMode::All, reductionChain},
    {"reduction-prologue", Round::All, FusionMode::All, reductionPrologue},
    {"pointwise-chain", Round::All, FusionMode::All, pointwiseChain},
    {"contract-prologue", Round::All, FusionMode::All, contractPrologue},
};

llvm::ArrayRef<Rule> tilewright::fusion::ruleTable() { return rules; }
