// SPDX-License-Identifier: Apache-2.0
// Writes steps as events of the Trace Event Format: {"ph": "X", "ts": start, "dur": length} in microseconds.
#include "tools/tilewright/bench/BenchTrace.h"

#include "tools/tilewright/Json.h"

#include <nlohmann/json.hpp>

namespace tilewright {

static void addRun(nlohmann::json &events, int process, const std::string &name, const std::vector<StepRow> &steps) {
  events.push_back({{"ph", "M"}, {"pid", process}, {"name", "process_name"}, {"args", {{"name", name}}}});
  events.push_back(
      {{"ph", "M"}, {"pid", process}, {"name", "process_sort_index"}, {"args", {{"sort_index", process}}}});
  for (const StepRow &step : steps)
    events.push_back({{"ph", "X"},
                      {"pid", process},
                      {"tid", 1},
                      {"cat", name},
                      {"name", step.name},
                      {"ts", step.startMs * 1e3},
                      {"dur", step.ms * 1e3},
                      {"args", {{"nodes", step.members}, {"bytes", step.bytes}, {"flops", step.flops}}}});
}

nlohmann::json chromeTrace(const BenchReport &report, const std::vector<StepRow> &fused,
                           const std::vector<StepRow> &unfused) {
  nlohmann::json events = nlohmann::json::array();
  addRun(events, 1, report.names[0], fused);
  addRun(events, 2, report.names[1], unfused);
  return {{"displayTimeUnit", "ms"},
          {"otherData",
           {{"schema", jsonSchema}, {"model", report.model}, {"device", report.device}, {"target", report.target}}},
          {"traceEvents", std::move(events)}};
}

} // namespace tilewright
