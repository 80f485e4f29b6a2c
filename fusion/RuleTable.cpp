// The table of fusion rules.
#include "fusion/RuleTable.h"

using namespace tilewright::fusion;

/// Epilogues first: there a value is consumed in registers, where a prologue may be computed more than once. Pointwise work that
/// no root took forms kernels of its own, and only what is left then is considered as a contraction's prologue.
static constexpr Rule rules[] = {
    {"contract-epilogue", FusionMode::Epilogue, contractEpilogue},
    {"reduction-epilogue", FusionMode::Epilogue, reductionEpilogue},
    {"reduction-chain", FusionMode::All, reductionChain},
    {"reduction-prologue", FusionMode::All, reductionPrologue},
    {"pointwise-chain", FusionMode::All, pointwiseChain},
    {"contract-prologue", FusionMode::All, contractPrologue},
};

llvm::ArrayRef<Rule> tilewright::fusion::ruleTable() { return rules; }
