// SPDX-License-Identifier: Apache-2.0
// The process's one pool of worker threads.
//
// A range is cut into chunks that do not depend on which thread runs them, and every chunk runs once, so that results
// never depend on the number of threads. A loop started from inside another one, or while another caller has the pool,
// runs serially on its caller.
#pragma once

#include "runtime/Status.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace tilewright::runtime {

/// The pool's size: TILEWRIGHT_NUM_THREADS, or the number of processors that this process may use. Code::Usage if the
/// variable is not a number.
Expected<int> threadSetting();

class ThreadPool {
public:
  /// The process's pool, of threadSetting() threads including the caller of a loop. If threadSetting fails it has one;
  /// openDevice("host") reports the failure.
  static ThreadPool &instance();

  explicit ThreadPool(int threads);
  ~ThreadPool();

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls `body(first, last, worker)` for disjoint ranges that cover [0, count), and returns when all are done.
  /// `worker` is below threads(), and no two calls of one loop that run at the same time share one.
  template <typename Body> void forRange(int64_t count, const Body &body) {
    run(
        count,
        [](const void *context, int64_t first, int64_t last, int worker) {
          (*static_cast<const Body *>(context))(first, last, worker);
        },
        &body);
  }

private:
  using Function = void (*)(const void *context, int64_t first, int64_t last, int worker);

  void run(int64_t count, Function function, const void *context);
  void work(int worker);
  void takeChunks(int worker);

  std::vector<std::thread> workers_;
  std::mutex busy_; // held by the caller whose loop runs

  // The current loop. Its caller writes these fields while `open_` is false and no worker is `inside_`; a worker reads
  // them only if it finds `open_` true after it has entered `inside_`. A worker that wakes up too late finds the loop
  // closed, and delays nobody.
  Function function_ = nullptr;
  const void *context_ = nullptr;
  int64_t count_ = 0;
  int64_t grain_ = 1;
  alignas(64) std::atomic<int64_t> next_ = 0;
  alignas(64) std::atomic<uint32_t> generation_ = 0;
  alignas(64) std::atomic<int> inside_ = 0;
  std::atomic<bool> open_ = false;
  std::atomic<bool> stop_ = false;
};

} // namespace tilewright::runtime
