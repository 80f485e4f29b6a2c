// SPDX-License-Identifier: Apache-2.0
// The thread pool: every index once, workers kept apart, nested and concurrent loops serial but complete.
#include "runtime/execute/ThreadPool.h"
#include "runtime/Devices.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <numeric>

namespace tilewright::runtime {

TEST(ThreadPool, CoversEveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 3, 7, 8, 63, 1000, 4097}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
      pool.forRange(count, [&](int64_t first, int64_t last, int worker) {
        EXPECT_LT(worker, threads);
        for (int64_t i = first; i < last; ++i)
          ++hits[static_cast<size_t>(i)];
      });
      for (const std::atomic<int> &hit : hits)
        ASSERT_EQ(hit, 1);
    }
  }
}

TEST(ThreadPool, ManyLoopsInARow) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum = 0;
  for (int loop = 0; loop < 5000; ++loop)
    pool.forRange(16, [&](int64_t first, int64_t last, int) { sum += last - first; });
  EXPECT_EQ(sum, 5000 * 16);
}

TEST(ThreadPool, NoTwoRunningBodiesShareAWorker) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  for (int loop = 0; loop < 200; ++loop)
    pool.forRange(64, [&](int64_t, int64_t, int worker) {
      EXPECT_EQ(inside[static_cast<size_t>(worker)].fetch_add(1), 0);
      inside[static_cast<size_t>(worker)].fetch_sub(1);
    });
}

TEST(ThreadPool, NestedLoopsRunSerially) {
  ThreadPool pool(4);
  std::atomic<int64_t> count = 0;
  pool.forRange(32, [&](int64_t first, int64_t last, int) {
    for (int64_t i = first; i < last; ++i)
      pool.forRange(10, [&](int64_t innerFirst, int64_t innerLast, int worker) {
        EXPECT_EQ(worker, 0);
        EXPECT_EQ(innerLast - innerFirst, 10);
        count += innerLast - innerFirst;
      });
  });
  EXPECT_EQ(count, 320);
}

TEST(ThreadPool, TakesItsSizeFromTheEnvironmentOrRefusesIt) {
  const char *before = std::getenv("TILEWRIGHT_NUM_THREADS");
  std::string saved = before ? before : "";
  ::setenv("TILEWRIGHT_NUM_THREADS", "3", 1);
  EXPECT_EQ(*threadSetting(), 3);
  for (const char *wrong : {"", "0", "-2", "many", "4x", "99999999999"}) {
    ::setenv("TILEWRIGHT_NUM_THREADS", wrong, 1);
    EXPECT_EQ(threadSetting().status().message(),
              "TILEWRIGHT_NUM_THREADS is '" + std::string(wrong) + "', expected a number from 1 to 1024");
    EXPECT_EQ(openDevice("host").status().code(), Code::Usage);
  }
  ::unsetenv("TILEWRIGHT_NUM_THREADS");
  EXPECT_GE(*threadSetting(), 1);
  if (before)
    ::setenv("TILEWRIGHT_NUM_THREADS", saved.c_str(), 1);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int loop = 0; loop < 500; ++loop)
        pool.forRange(20, [&](int64_t first, int64_t last, int) { sum += last - first; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 4 * 500 * 20);
}

} // namespace tilewright::runtime
