// What `bench` tells: fused beside unfused as a whole, then group by group.
#pragma once

#include "backend/driver/Measure.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tilewright {

/// One of the two programs.
struct BenchSide {
  std::string mode;
  Latency latency;
  size_t kernels = 0;   // launches of one run
  size_t hostCalls = 0; // nodes that run through the reference
  double bytes = 0;     // unique bytes that its launches move through memory
};

/// One launch of the fused program beside the unfused launches of the same ONNX nodes.
struct GroupRow {
  std::string name;
  std::vector<std::string> members; // ONNX node names
  double fusedMs = 0;
  double unfusedMs = 0; // sum over its parts; 0 where a node is shared by groups, so that no part is counted twice
  double bytes = 0, flops = 0;
  double roofShare = 0; // time at the roof over time taken, 0 to 1
  std::string roof;     // "memory" or "compute"
};

struct BenchReport {
  std::string model, device, target;
  BenchSide fused, unfused;
  Peaks peaks;
  double largestDifference = 0; // between fused and unfused outputs
  bool agree = false;
  std::vector<GroupRow> groups;
};

/// The groups of `fused` in order, with times from both profiles (milliseconds a step).
std::vector<GroupRow> groupRows(const runtime::Context &fused, const std::vector<double> &fusedSteps, const runtime::Context &unfused,
                                const std::vector<double> &unfusedSteps, const Peaks &peaks);

/// Launches, host calls and bytes of a bound program.
BenchSide countSide(const runtime::Context &context, Latency latency);

std::string printReport(const BenchReport &report, bool perKernel);
nlohmann::json jsonReport(const BenchReport &report);

} // namespace tilewright
