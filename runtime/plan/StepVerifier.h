// SPDX-License-Identifier: Apache-2.0
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

/// Checks the steps of a plan in order: values are written before they are read, sizes are known by then, arguments
/// match, and every output is written. Requires that the tables, the bodies and the ids in the steps are checked.
Status verifySteps(const Plan &plan, const PlanAnalysis &analysis);

/// The number of elements of the tensor that a step reads sizes from, if that is an int64 vector of constant length.
std::optional<int64_t> elementsRead(const Plan &plan, const ReadSizes &read);

} // namespace tilewright::runtime
