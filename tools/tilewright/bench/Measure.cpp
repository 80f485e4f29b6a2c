// SPDX-License-Identifier: Apache-2.0
// Measures latencies, steps and peaks.
#include "tools/tilewright/bench/Measure.h"

#include "runtime/execute/ThreadPool.h"
#include "tilegen/TargetDesc.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <immintrin.h>

namespace tilewright {

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Latency summarize(std::vector<double> milliseconds) {
  if (milliseconds.empty())
    return {};
  std::sort(milliseconds.begin(), milliseconds.end());
  size_t n = milliseconds.size();
  std::optional<double> p99;
  if (n >= 100)
    p99 = milliseconds[n * 99 / 100];
  return {milliseconds[n / 2], p99, n, milliseconds.front()};
}

static Expected<double> timeOnce(runtime::Context &context) {
  Clock::time_point start = Clock::now();
  if (Status status = context.execute(); !status)
    return status;
  if (Status status = context.synchronize(); !status)
    return status;
  return millisecondsSince(start);
}

Expected<std::vector<Latency>> measureInterleaved(const std::vector<runtime::Context *> &contexts,
                                                  const Duration &duration,
                                                  const std::function<void(double)> &progress) {
  for (Clock::time_point start = Clock::now(); millisecondsSince(start) < duration.warmupMs;)
    for (runtime::Context *context : contexts)
      if (Expected<double> once = timeOnce(*context); !once)
        return once.status();
  std::vector<std::vector<double>> times(contexts.size());
  Clock::time_point start = Clock::now();
  for (size_t round = 0; round < 5 || millisecondsSince(start) < duration.durationMs; ++round) {
    for (size_t i = 0; i < contexts.size(); ++i) {
      // The order alternates, because the second finds warmer caches.
      size_t which = round % 2 ? contexts.size() - 1 - i : i;
      Expected<double> once = timeOnce(*contexts[which]);
      if (!once)
        return once.status();
      times[which].push_back(*once);
    }
    if (progress)
      progress(std::min(1.0, millisecondsSince(start) / duration.durationMs));
  }
  std::vector<Latency> latencies;
  for (std::vector<double> &series : times)
    latencies.push_back(summarize(std::move(series)));
  return latencies;
}

Expected<std::vector<runtime::StepProfile>> profileSteps(runtime::Context &context, size_t rounds) {
  std::vector<std::vector<double>> series;
  std::vector<runtime::StepProfile> steps;
  for (size_t round = 0; round < rounds; ++round) {
    Expected<std::vector<runtime::StepProfile>> profile = context.profile();
    if (!profile)
      return profile.status();
    steps = std::move(*profile);
    series.resize(steps.size());
    for (size_t i = 0; i < steps.size(); ++i)
      series[i].push_back(steps[i].ms);
  }
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i].ms = summarize(std::move(series[i])).medianMs;
  return steps;
}

//===- Peaks of the host ------------------------------------------------------------------------------------------===//

// Twelve independent chains hide the latency of a multiply-add (4 cycles, two a cycle) on every x86-64 core with FMA.
static constexpr int chains = 12;
static constexpr int rounds = 1 << 16;

/// Chains that begin at FIRST and go on from `sum` by STEP.
#define CHAIN_LOOP(TYPE, FIRST, STEP)                                                                                  \
  TYPE sums[chains];                                                                                                   \
  for (TYPE &sum : sums)                                                                                               \
    sum = FIRST;                                                                                                       \
  for (int i = 0; i < rounds; ++i)                                                                                     \
    _Pragma("clang loop unroll(full)") for (TYPE &sum :                                                                \
                                            sums) { /* else the sums live in memory without optimization */            \
      sum = STEP;                                                                                                      \
      asm volatile("" : "+v"(sum));                                                                                    \
    }                                                                                                                  \
  float result;                                                                                                        \
  std::memcpy(&result, &sums[0], sizeof result);                                                                       \
  return result

__attribute__((target("avx512f"))) static float multiplyAdds512() {
  __m512 factor = _mm512_set1_ps(0.999f), addend = _mm512_set1_ps(1e-3f);
  CHAIN_LOOP(__m512, _mm512_set1_ps(1.0f), _mm512_fmadd_ps(sum, factor, addend));
}
__attribute__((target("avx2,fma"))) static float multiplyAdds256() {
  __m256 factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(1e-3f);
  CHAIN_LOOP(__m256, _mm256_set1_ps(1.0f), _mm256_fmadd_ps(sum, factor, addend));
}

// Of bytes, whose sums come five cycles later.
__attribute__((target("avx512f,avx512vnni"))) static float dots512() {
  __m512i left = _mm512_set1_epi8(3), right = _mm512_set1_epi8(1);
  CHAIN_LOOP(__m512i, _mm512_setzero_si512(), _mm512_dpbusd_epi32(sum, left, right));
}
__attribute__((target("avx2,avxvnni"))) static float dots256() {
  __m256i left = _mm256_set1_epi8(3), right = _mm256_set1_epi8(1);
  CHAIN_LOOP(__m256i, _mm256_setzero_si256(), _mm256_dpbusd_avx_epi32(sum, left, right));
}
#undef CHAIN_LOOP

/// The best of `times` runs, in seconds, which other work on the machine disturbed least.
static double bestSeconds(int times, const std::function<void()> &work) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    Clock::time_point start = Clock::now();
    work();
    best = std::min(best, millisecondsSince(start) / 1e3);
  }
  return best;
}

/// Of `loop`, whose instructions each do `operations`, on all threads.
static double hostRate(float (*loop)(), double operations) {
  volatile float sink = 0;
  runtime::ThreadPool &pool = runtime::ThreadPool::instance();
  int threads = pool.threads();
  auto work = [&](int64_t first, int64_t last, int) {
    for (int64_t i = first; i < last; ++i)
      sink = loop();
  };
  double seconds = bestSeconds(20, [&] { pool.forRange(threads, work); });
  return operations * chains * rounds * threads / seconds;
}

static double hostFlopsPerSecond() {
  return __builtin_cpu_supports("avx512f") ? hostRate(multiplyAdds512, 2 * 16) : hostRate(multiplyAdds256, 2 * 8);
}

/// Unknown without VNNI, and with a matrix unit, which code for `target` may multiply bytes with.
static double hostByteFlopsPerSecond(const std::string &target) {
  if (target.ends_with("-amx"))
    return 0;
  if (__builtin_cpu_supports("avx512vnni"))
    return hostRate(dots512, 2 * 64);
  return __builtin_cpu_supports("avxvnni") ? hostRate(dots256, 2 * 32) : 0;
}

// Working sets that fit the caches of every x86-64 processor with AVX2: a core's second level, and the shared level.
static constexpr size_t cacheSizes[] = {256 << 10, 4 << 20};

/// Reads every cache line of `bytes`, split over the threads.
__attribute__((target("avx2"))) static void readLines(const std::byte *first, size_t bytes) {
  __m256i sums[8] = {};
  for (size_t at = 0; at + 256 <= bytes; at += 256)
    for (int i = 0; i < 8; ++i) {
      sums[i] = _mm256_xor_si256(sums[i], _mm256_load_si256(reinterpret_cast<const __m256i *>(first + at) + i));
      asm volatile("" : "+x"(sums[i]));
    }
}

static double readBytesPerSecond(const std::byte *data, size_t bytes) {
  constexpr int repeats = 20;
  runtime::ThreadPool &pool = runtime::ThreadPool::instance();
  int threads = pool.threads();
  size_t share = bytes / threads / 256 * 256;
  auto work = [&](int64_t first, int64_t last, int) {
    for (int64_t thread = first; thread < last; ++thread)
      for (int i = 0; i < repeats; ++i)
        readLines(data + thread * share, share);
  };
  return double(repeats) * share * threads / bestSeconds(20, [&] { pool.forRange(threads, work); });
}

static double rateOf(const Peaks &peaks, size_t elementBytes) {
  if (elementBytes == 1)
    return peaks.byteFlopsPerSecond;
  return elementBytes == 2 && peaks.halfFlopsPerSecond > 0 ? peaks.halfFlopsPerSecond : peaks.flopsPerSecond;
}

Roof roofOf(const Peaks &peaks, double bytes, double flops, size_t elementBytes) {
  auto cache = std::ranges::find_if(peaks.caches, [&](const Peaks::Cache &level) { return bytes <= level.bytes; });
  Roof roof = cache != peaks.caches.end() ? Roof{bytes / cache->bytesPerSecond * 1e3, "cache"}
                                          : Roof{bytes / peaks.bytesPerSecond * 1e3, "memory"};
  double rate = rateOf(peaks, elementBytes);
  double computeMs = rate > 0 ? flops / rate * 1e3 : 0;
  return computeMs > roof.milliseconds ? Roof{computeMs, "compute"} : roof;
}

Expected<Peaks> measurePeaks(runtime::Device &device, const std::string &target) {
  const size_t bytes =
      device.info().hostMemory ? size_t(64) << 20 : size_t(512) << 20; // well beyond the last-level cache's share
  auto from = device.allocate(bytes), to = device.allocate(bytes);
  if (!from || !to)
    return !from ? from.status() : to.status();
  auto stream = device.createStream();
  if (!stream)
    return stream.status();
  Status failed;
  auto copy = [&] {
    if (Status status = (*stream)->copyWithin(to->get(), from->get(), bytes); !status)
      failed = status;
    if (auto word = (*stream)->synchronize(); !word)
      failed = word.status();
  };
  if (Status status = (*stream)->fill(from->get(), 0, bytes); !status)
    return status;
  copy();
  Peaks peaks;
  peaks.bytesPerSecond = 2.0 * bytes / bestSeconds(8, copy);
  if (!failed)
    return failed;
  if (device.info().hostMemory) {
    peaks.flopsPerSecond = hostFlopsPerSecond();
    peaks.byteFlopsPerSecond = hostByteFlopsPerSecond(target);
    for (size_t size : cacheSizes)
      peaks.caches.push_back({double(size), readBytesPerSecond(static_cast<const std::byte *>(from->get()), size)});
  } else if (auto row = findTarget(target)) {
    peaks.flopsPerSecond = (*row)->peakF32;
    peaks.halfFlopsPerSecond = (*row)->peakF16;
    peaks.byteFlopsPerSecond = (*row)->peakI8;
  }
  return peaks;
}

} // namespace tilewright
