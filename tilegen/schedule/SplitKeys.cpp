// SPDX-License-Identifier: Apache-2.0
// One estimate of the time of few tiles with many keys each, as a sum over a program's steps:
//
//   steps of a part * step + sharing + parts * reading,    step = max(bytes / bandwidth of a multiprocessor, computing)
//
// With few rows there is little to multiply, and a step takes as long as copying its keys and values. A multiprocessor
// reads hardly more than its share of the memory's bandwidth, so a machine that is half empty reads at half speed.
// Without roles a warp also has to compute its step, whose latency nothing hides.
#include "tilegen/schedule/SplitKeys.h"

#include "llvm/Support/MathExtras.h"

namespace tilewright::tilegen {

// 64 programs of 8,192 keys of 128 took 135 us on an H200 with a step of 32 KiB in 1.05 us. Sharing was predicted: 19,
// 23 and 22 us in all for 1, 4 and 16 rows took 22, 25 and 24 (docs/performance.md).
constexpr double shareOfBandwidth = 0.85;
// A warp of 16 rows takes 1.05 us for 64 keys of 128, and about 0.7 for 64 of 64.
constexpr double secondsOfWarpStep = 0.3e-6, multiplicationsOfWarp = 3.5e11; // fixed time of a step; then a second
constexpr double secondsOfSharing = 2e-6;     // to write the last bytes, count, and wait for the first bytes read
constexpr double secondsOfReading = 0.3e-6;   // of a part, by a program that waits for several at a time
constexpr double bytesOfUnitPerSecond = 1e11; // of a multiprocessor, from the second-level cache
constexpr double clearGain = 0.9;             // of the time without parts, at most
constexpr int64_t fewestSteps = 2;            // of a part
constexpr int64_t numbersOfParts[] = {2, 3, 4, 6, 8, 12, 16};

int64_t partsOfKeys(const KeySteps &programs, const TargetDesc &target) {
  if (target.bandwidth <= 0)
    return 1;
  double reading = double(programs.bytesOfStep) * target.units / (shareOfBandwidth * target.bandwidth),
         computing = secondsOfWarpStep + double(programs.multiplicationsOfWarp) / multiplicationsOfWarp,
         secondsOfStep = programs.multiplicationsOfWarp ? std::max(reading, computing) : reading,
         secondsOfPart = secondsOfReading + double(programs.bytesOfPart) / bytesOfUnitPerSecond;
  auto estimate = [&](int64_t parts) {
    double steps = double(llvm::divideCeil(programs.steps, parts)) * secondsOfStep;
    return parts == 1 ? steps : steps + secondsOfSharing + double(parts) * secondsOfPart;
  };
  int64_t best = 1;
  double least = clearGain * estimate(1);
  for (int64_t parts : numbersOfParts) {
    if (programs.tiles * parts > target.units * programs.resident || programs.steps / parts < fewestSteps)
      continue;
    if (double time = estimate(parts); time < least)
      best = parts, least = time;
  }
  return best;
}

} // namespace tilewright::tilegen
