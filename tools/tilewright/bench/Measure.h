// SPDX-License-Identifier: Apache-2.0
// Times two programs with interleaved runs, so that other work on the machine disturbs both equally.
#pragma once

#include "runtime/execute/Context.h"

#include <functional>
#include <optional>
#include <vector>

namespace tilewright {

struct Latency {
  double medianMs = 0;
  std::optional<double> p99Ms; // absent below 100 runs, where it would be the slowest run
  size_t runs = 0;
  double fastestMs = 0; // the least disturbed run on a busy machine
};

struct Duration {
  double warmupMs = 200;
  double durationMs = 3000;
};

/// Median, 99th percentile and minimum of `milliseconds`.
Latency summarize(std::vector<double> milliseconds);

/// Executes the bound contexts alternately for `durationMs` (at least five rounds) and returns the latency of each. A
/// run is execute() and synchronize(), without copies of inputs and outputs.
Expected<std::vector<Latency>> measureInterleaved(const std::vector<runtime::Context *> &contexts,
                                                  const Duration &duration,
                                                  const std::function<void(double share)> &progress = {});

/// The steps with their median milliseconds over `rounds` profiled runs; begin and work are those of the last run.
Expected<std::vector<runtime::StepProfile>> profileSteps(runtime::Context &context, size_t rounds);

/// The peaks of a device, to which groups are compared; arithmetic ones count multiplications and additions, and are 0
/// where they are not known.
struct Peaks {
  /// The read rate of a working set of at most `bytes` that stays in a cache.
  struct Cache {
    double bytes, bytesPerSecond;
  };
  double bytesPerSecond = 0;     // a copy through memory, reads and writes counted
  std::vector<Cache> caches;     // the host's, smallest first; empty where they were not measured
  double flopsPerSecond = 0;     // in f32 on the vector units: measured on the host, from the data sheet on GPUs
  double halfFlopsPerSecond = 0; // of half types on matrix units, from the data sheet; 0: as f32
  double byteFlopsPerSecond = 0; // of bytes: measured on a host with VNNI, from the data sheet on GPUs; 0 unknown
};
/// `target` is that of the program's code. On GPUs, memory bandwidth is measured and arithmetic peaks are from the
/// table of targets.
Expected<Peaks> measurePeaks(runtime::Device &device, const std::string &target);

/// The least time to move `bytes` and to compute `flops` on elements of `elementBytes` (products of 1 or 2 have rates
/// of their own), and which peak bounds it. What is computed at an unknown rate bounds nothing.
struct Roof {
  double milliseconds;
  const char *name; // "memory", "cache" (all bytes fit in one and may be there already) or "compute"
};
Roof roofOf(const Peaks &peaks, double bytes, double flops, size_t elementBytes);

} // namespace tilewright
