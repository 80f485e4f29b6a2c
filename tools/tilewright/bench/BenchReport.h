// SPDX-License-Identifier: Apache-2.0
// The results of `bench`: fused and unfused side by side as a whole, then group by group.
#pragma once

#include "tools/tilewright/bench/Measure.h"
#include "tools/tilewright/bench/VendorLibrary.h"

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tilewright {

/// One of the two programs.
struct BenchSide {
  std::string mode;
  Latency latency;
  size_t kernels = 0;   // launches of one run, including every iteration of loops
  size_t hostCalls = 0; // nodes that run through the reference, counted likewise
  double bytes = 0;     // distinct bytes that each launch moves through memory, summed over launches
};

/// A step of a run: a launch, a node through the reference, or a copy. Between two steps the host prepares the next.
struct StepRow {
  std::string name;
  std::vector<std::string> members; // ONNX node names
  double startMs = 0, ms = 0;
  double bytes = 0, flops = 0;
};

/// A launch of the fused program, or several of the same kernel merged, compared with the unfused launches of the same
/// ONNX nodes.
struct GroupRow {
  std::string name;
  std::string kernel; // empty if the step is not a launch
  std::string form;   // of the kernel: its root, tiles, and what it uses of its target
  size_t launches = 1;
  std::vector<std::string> members;                  // ONNX node names
  std::optional<runtime::KernelResources> resources; // of one of the kernel's threads; absent on the host
  double fusedMs = 0;
  double share = 0;     // of the time of all groups, 0 to 1
  double unfusedMs = 0; // sum over its parts; 0 if they count for another group that shares a node
  double bytes = 0, flops = 0;
  double roofShare = 0; // time at the roof over time taken, 0 to 1
  std::string roof;     // "memory", "cache" or "compute"
  std::vector<ProductSize> products;
  std::optional<double> vendorMs; // its products alone, by the vendor's library; absent if that does not have them
};

struct BenchReport {
  std::string model, device, target;
  std::vector<std::string> inputs;                         // "x float32 [8, 784]"
  std::vector<std::string> assumed;                        // symbolic sizes that were not given and are 1
  std::array<std::string, 2> names = {"fused", "unfused"}; // of the two programs; "edited" and "unedited" for a stage
  BenchSide fused, unfused;
  Peaks peaks;
  double largestDifference = 0; // between fused and unfused outputs
  bool agree = false;
  std::vector<GroupRow> groups;
  std::string vendor;                                       // the vendor's library; empty if none was found
  std::string vendorAbsent;                                 // why none was found
  std::vector<std::pair<std::string, std::string>> machine; // properties of the device and the compiler, by name
};

/// The steps of `context` with the milliseconds that each took.
std::vector<StepRow> stepRows(const runtime::Context &context, const std::vector<runtime::StepProfile> &profile);

/// Asks the device what the kernels of `groups` take. Fails if the device does.
Status addResources(const runtime::Context &fused, std::vector<GroupRow> &groups);

/// "kernel 'softmax' keeps 24 bytes a thread in memory because its 64 registers do not suffice", for each that does.
std::vector<std::string> spillsOf(const BenchReport &report);

/// The groups of `fused` in order, with times from both profiles.
std::vector<GroupRow> groupRows(const runtime::Context &fused, const std::vector<runtime::StepProfile> &fusedSteps,
                                const runtime::Context &unfused, const std::vector<runtime::StepProfile> &unfusedSteps,
                                const Peaks &peaks);

/// Merges the launches of each kernel into one row, longest time first, for tables.
std::vector<GroupRow> mergedRows(const std::vector<GroupRow> &groups);

/// Times the products of `report`'s groups with the vendor's library, each size once.
Status timeVendor(runtime::Device &device, BenchReport &report);

/// Name, memory, processors, threads and versions.
std::vector<std::pair<std::string, std::string>> describeMachine(const runtime::DeviceInfo &device);

/// Launches, host calls and bytes of a profiled run.
BenchSide countSide(const runtime::Context &context, Latency latency, const std::vector<runtime::StepProfile> &profile);

/// The report's first sentence: "fused takes 0.52 ms, unfused 0.77 ms: 1.48 times as long".
std::string conclusion(const BenchReport &report);
/// Milliseconds with `decimals` digits after the point, or three significant digits if those are more.
std::string millisecondsText(double value, int decimals = 3);
/// "batch and sequence were taken to be 1; --dim batch=8 gives sizes", or nothing.
std::string assumedText(const BenchReport &report);

/// "q.matmul q.add"; a long list is shortened to the first, the last and the count.
std::string membersText(const std::vector<std::string> &members);
std::string bytesText(double bytes);
/// The titles of the table of groups, and a row of it. vendorColumn is left out where no library was found.
std::vector<std::string> groupTitles(const BenchReport &report);
std::vector<std::string> groupCells(const GroupRow &row);
inline constexpr size_t vendorColumn = 5;
/// The measured peak rates, each with its name.
std::vector<std::pair<std::string, std::string>> describePeaks(const Peaks &peaks);

std::string printReport(const BenchReport &report, bool perKernel);
nlohmann::json jsonReport(const BenchReport &report);

} // namespace tilewright
