// Timing two programs side by side: one run of each in turn, so that whatever else the machine does disturbs both
// alike.
#pragma once

#include "runtime/execute/Context.h"

#include <functional>
#include <optional>
#include <vector>

namespace tilewright {

struct Latency {
  double medianMs = 0;
  std::optional<double> p99Ms; // from 100 runs on: of fewer, the slowest alone would be it
  size_t runs = 0;
  double fastestMs = 0; // what is left of a busy machine's noise: the run that nothing disturbed
};

struct Duration {
  double warmupMs = 200;
  double durationMs = 3000;
};

/// Median, 99th percentile and least of `milliseconds`.
Latency summarize(std::vector<double> milliseconds);

/// Executes the bound contexts in turn until `durationMs` is over (at least five rounds) and returns one latency each.
/// A run is execute() and synchronize(): inputs and outputs stay where they are.
Expected<std::vector<Latency>> measureInterleaved(const std::vector<runtime::Context *> &contexts,
                                                  const Duration &duration,
                                                  const std::function<void(double share)> &progress = {});

/// Each step with its median milliseconds over `rounds` profiled runs; when it began and what it did are the last
/// run's.
Expected<std::vector<runtime::StepProfile>> profileSteps(runtime::Context &context, size_t rounds);

/// What the device at hand reaches, measured: the roofs that shares are taken of.
struct Peaks {
  /// What data that stays in a cache is read at: a working set of at most `bytes`.
  struct Cache {
    double bytes, bytesPerSecond;
  };
  double bytesPerSecond = 0; // a copy through memory, reads and writes counted
  std::vector<Cache> caches; // the host's, smallest first; empty where they were not measured
  double flopsPerSecond =
      0; // multiply-adds in f32 on the vector units: measured on the host, from the data sheet on GPUs; 0 unknown
  double halfFlopsPerSecond =
      0; // of half types on matrix units, from the data sheet; 0 where halves are computed as f32
};
/// `target` is what the program's code is for, as --target spells it: GPUs are asked for memory, their arithmetic is
/// the table's.
Expected<Peaks> measurePeaks(runtime::Device &device, const std::string &target);

/// The roof of what moves `bytes` and computes `flops` (of half types where `half`): the time that it takes at least.
struct Roof {
  double milliseconds;
  const char *name; // "memory", "cache" (everything fits in one, and may be there already) or "compute"
};
Roof roofOf(const Peaks &peaks, double bytes, double flops, bool half);

} // namespace tilewright
