// A run as a Chrome trace: what chrome://tracing, Perfetto and speedscope open.
#pragma once

#include "tools/tilewright/bench/BenchReport.h"

namespace tilewright {

/// One process row for each program, one slice for each step, in microseconds: its nodes, bytes and operations are the
/// slice's arguments.
nlohmann::json chromeTrace(const BenchReport &report, const std::vector<StepRow> &fused,
                           const std::vector<StepRow> &unfused);

} // namespace tilewright
