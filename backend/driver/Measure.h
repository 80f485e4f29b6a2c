// Timing two programs side by side: one run of each in turn, so that whatever else the machine does disturbs both alike.
#pragma once

#include "runtime/Context.h"

#include <functional>
#include <vector>

namespace tilewright {

struct Latency {
  double medianMs = 0;
  double p99Ms = 0;
  size_t runs = 0;
};

struct Duration {
  double warmupMs = 200;
  double durationMs = 3000;
};

/// Median and 99th percentile of `milliseconds`.
Latency summarize(std::vector<double> milliseconds);

/// Executes the bound contexts in turn until `durationMs` is over (at least five rounds) and returns one latency each. A run is execute() and
/// synchronize(): inputs and outputs stay where they are.
Expected<std::vector<Latency>> measureInterleaved(const std::vector<runtime::Context *> &contexts, const Duration &duration,
                                                  const std::function<void(double share)> &progress = {});

/// The median milliseconds of each step over `rounds` profiled runs.
Expected<std::vector<double>> profileSteps(runtime::Context &context, size_t rounds);

/// What the device at hand reaches, measured: the roofs that shares are taken of.
struct Peaks {
  double bytesPerSecond = 0; // a copy, reads and writes counted
  double flopsPerSecond = 0; // multiply-adds in f32 on the vector units; 0 where it was not measured
};
Expected<Peaks> measurePeaks(runtime::Device &device);

} // namespace tilewright
