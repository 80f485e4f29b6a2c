// What `bench` tells: fused beside unfused as a whole, then group by group.
#pragma once

#include "backend/driver/Measure.h"
#include "backend/driver/VendorLibrary.h"

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

/// A step that took part of a run: a launch, a node through the reference, or a copy. All of them end to end are one run.
struct StepRow {
  std::string name;
  std::vector<std::string> members; // ONNX node names
  double startMs = 0, ms = 0;
  double bytes = 0, flops = 0;
};

/// One launch of the fused program beside the unfused launches of the same ONNX nodes.
struct GroupRow {
  std::string name;
  std::vector<std::string> members; // ONNX node names
  double fusedMs = 0;
  double unfusedMs = 0; // sum over its parts; 0 where a node is shared by groups, so that no part is counted twice
  double bytes = 0, flops = 0;
  double roofShare = 0; // time at the roof over time taken, 0 to 1
  std::string roof;     // "memory", "cache" or "compute"
  std::vector<ProductSize> products;
  std::optional<double> vendorMs; // its products alone, by the vendor's library; absent where that has none of them
};

struct BenchReport {
  std::string model, device, target;
  BenchSide fused, unfused;
  Peaks peaks;
  double largestDifference = 0; // between fused and unfused outputs
  bool agree = false;
  std::vector<GroupRow> groups;
  std::string vendor;       // the vendor's library; empty if none was found
  std::string vendorAbsent; // the sentence that says so
  std::vector<std::pair<std::string, std::string>> machine; // facts of the device and the compiler, by name
};

/// The steps of `context` with the milliseconds that each took.
std::vector<StepRow> stepRows(const runtime::Context &context, const std::vector<double> &milliseconds);

/// The groups of `fused` in order, with times from both profiles (milliseconds a step).
std::vector<GroupRow> groupRows(const runtime::Context &fused, const std::vector<double> &fusedSteps, const runtime::Context &unfused,
                                const std::vector<double> &unfusedSteps, const Peaks &peaks);

/// Times the products of `report`'s groups with the vendor's library, each size once.
Status timeVendor(runtime::Device &device, BenchReport &report);

/// Name, memory, processors, threads and versions.
std::vector<std::pair<std::string, std::string>> machineFacts(const runtime::DeviceInfo &device);

/// Launches, host calls and bytes of a bound program.
BenchSide countSide(const runtime::Context &context, Latency latency);

/// "q.matmul q.add", or the first, the last and how many there are where all would be long.
std::string membersText(const std::vector<std::string> &members);
std::string bytesText(double bytes);
/// What each rate of the roofs is, and the rate.
std::vector<std::pair<std::string, std::string>> roofFacts(const Peaks &peaks);

std::string printReport(const BenchReport &report, bool perKernel);
nlohmann::json jsonReport(const BenchReport &report);

} // namespace tilewright
