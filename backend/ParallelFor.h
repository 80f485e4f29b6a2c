// SPDX-License-Identifier: Apache-2.0
// A loop whose iterations run on several threads.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace tilewright {

/// Calls `work` once for each number below `count` and returns when all calls have. Up to `jobs` of them run at a time,
/// on this thread and others; `work` must not throw.
inline void parallelFor(size_t count, unsigned jobs, llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  auto takeTurns = [&] {
    for (size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> others;
  auto start = [&] {
    try {
      others.emplace_back(takeTurns);
      return true;
    } catch (const std::system_error &) {
      return false;
    }
  };
  for (size_t i = 1; i < jobs && i < count; ++i)
    if (!start()) // no more threads can be started: this one does the rest
      break;
  takeTurns();
  for (std::thread &other : others)
    other.join();
}

} // namespace tilewright
