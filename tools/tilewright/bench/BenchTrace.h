// SPDX-License-Identifier: Apache-2.0
// A run as a Chrome trace, for chrome://tracing, Perfetto and speedscope.
#pragma once

#include "tools/tilewright/bench/BenchReport.h"

namespace tilewright {

/// One process for each program, one slice for each step, in microseconds; the slice's arguments are the step's nodes,
/// bytes and operations.
nlohmann::json chromeTrace(const BenchReport &report, const std::vector<StepRow> &fused,
                           const std::vector<StepRow> &unfused);

} // namespace tilewright
