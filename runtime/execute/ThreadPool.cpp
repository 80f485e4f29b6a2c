// SPDX-License-Identifier: Apache-2.0
// Workers spin for about as long as the gap between two kernels of a plan, then sleep on a generation counter.
#include "runtime/execute/ThreadPool.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>
#include <system_error>

namespace tilewright::runtime {

static constexpr int spins = 2000;          // some 20 microseconds
static constexpr int64_t chunksAThread = 4; // more than 1, so that others take over work of a thread that starts late

static thread_local bool insideLoop = false;

Expected<int> threadSetting() {
  if (const char *text = std::getenv("TILEWRIGHT_NUM_THREADS")) {
    int threads = 0;
    auto [end, error] = std::from_chars(text, text + std::strlen(text), threads);
    if (error != std::errc() || *end != 0 || threads < 1 || threads > 1024)
      return Status(Code::Usage, fmt::format("TILEWRIGHT_NUM_THREADS is '{}', expected a number from 1 to 1024", text));
    return threads;
  }
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(CPU_COUNT(&allowed), 1) : 1;
}

ThreadPool &ThreadPool::instance() {
  static ThreadPool pool([] {
    Expected<int> threads = threadSetting();
    return threads ? *threads : 1;
  }());
  return pool;
}

ThreadPool::ThreadPool(int threads) {
  try {
    for (int worker = 1; worker < threads; ++worker)
      workers_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error &) { // out of threads; openDevice("host") compares the counts and reports it
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
}

void ThreadPool::takeChunks(int worker) {
  insideLoop = true;
  for (int64_t first = next_.fetch_add(grain_); first < count_; first = next_.fetch_add(grain_))
    function_(context_, first, std::min(first + grain_, count_), worker);
  insideLoop = false;
}

void ThreadPool::work(int worker) {
  uint32_t seen = 0;
  while (true) {
    for (int i = 0; i < spins && generation_.load(std::memory_order_acquire) == seen; ++i)
      __builtin_ia32_pause();
    generation_.wait(seen, std::memory_order_acquire);
    seen = generation_.load(std::memory_order_acquire);
    if (stop_)
      return;
    inside_.fetch_add(1);
    if (open_.load())
      takeChunks(worker);
    if (inside_.fetch_sub(1) == 1)
      inside_.notify_one();
  }
}

void ThreadPool::run(int64_t count, Function function, const void *context) {
  if (count <= 0)
    return;
  std::unique_lock lock(busy_, std::defer_lock);
  if (count == 1 || workers_.empty() || insideLoop || !lock.try_lock())
    return function(context, 0, count, 0);
  function_ = function;
  context_ = context;
  count_ = count;
  grain_ = std::max<int64_t>(1, count / (threads() * chunksAThread));
  next_.store(0);
  open_.store(true);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  takeChunks(0);
  open_.store(false);
  for (int i = 0; i < spins && inside_.load() != 0; ++i)
    __builtin_ia32_pause();
  for (int inside = inside_.load(); inside != 0; inside = inside_.load())
    inside_.wait(inside);
}

} // namespace tilewright::runtime
