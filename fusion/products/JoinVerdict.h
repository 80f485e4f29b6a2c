// SPDX-License-Identifier: Apache-2.0
// What was decided about products of one left side, with the sentences that --explain-fusion prints.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tilewright::fusion {

enum class JoinVerdict { Joined, OwnEpilogues, NeedOwnMemory, ManyRows };

struct JoinText {
  JoinVerdict verdict;
  llvm::StringLiteral name;     // stable: appears in JSON and tests
  llvm::StringLiteral sentence; // completes "are joined because ..." or "stay apart because ..."
};

inline constexpr JoinText joinTexts[] = {
    {JoinVerdict::Joined, "joined", "one kernel reads their left side once and has the tiles of all"},
    {JoinVerdict::OwnEpilogues, "own-epilogues",
     "what follows them differs, and is cheaper in their own kernels than in one more"},
    {JoinVerdict::NeedOwnMemory, "need-own-memory",
     "an output, a host call, a window or a concatenation needs a result in memory of its own"},
    {JoinVerdict::ManyRows, "many-rows",
     "a processor core gains nothing by it, and their readers want rows side by side"},
};

constexpr const JoinText &text(JoinVerdict verdict) { return joinTexts[static_cast<size_t>(verdict)]; }

/// Every verdict has its row, in the order of the enumeration.
static_assert([] {
  size_t i = 0;
  for (const JoinText &row : joinTexts)
    if (static_cast<size_t>(row.verdict) != i++)
      return false;
  return i == static_cast<size_t>(JoinVerdict::ManyRows) + 1;
}());

} // namespace tilewright::fusion
