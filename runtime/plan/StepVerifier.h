// The rules of a plan's steps; PlanVerifier.h lists them.
#pragma once

#include "runtime/plan/PlanAnalysis.h"

#include <fmt/format.h>
#include <optional>

namespace tilewright::runtime {

/// Code::Malformed, with a sentence.
template <typename... Args> Status broken(fmt::format_string<Args...> format, Args &&...args) {
  return {Code::Malformed, fmt::format(format, std::forward<Args>(args)...)};
}

/// Checks the steps of a plan in order: what each reads has been written, its sizes are known by then, its arguments
/// match what it runs, and every output is written. The plan's tables, bodies and the ids in its steps are checked.
Status verifySteps(const Plan &plan, const PlanAnalysis &analysis);

/// How many sizes a step reads: the elements of its value, if that is a vector of int64 of a constant size.
std::optional<int64_t> elementsRead(const Plan &plan, const ReadSizes &read);

} // namespace tilewright::runtime
