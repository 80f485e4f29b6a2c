// SPDX-License-Identifier: Apache-2.0
// A block of the imitated GPU while it runs: its threads are fibers, which yield where they must wait for others.
#pragma once

#include "tests/backend/gpu/Context.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tilewright::test {

struct PendingCopy {
  std::byte *to;
  const std::byte *from;
  uint32_t bytes, live;
};

/// A stretch of shared memory that a product reads, and what was there when it started.
struct PendingRead {
  const std::byte *from;
  std::vector<std::byte> bytes;
};

/// What a copy engine has been told to copy; for a store, `to` is where it reads.
struct PendingBox {
  std::byte *to;
  const struct SimtTensorMap *map;
  std::array<int32_t, 5> coordinates;
  std::array<int32_t, 3> offsets = {}; // of pixels, x first
};

/// backend/gpu/CopyEngine.h says what phases are.
struct EngineBarrier {
  uint32_t arrivals = 0, missing = 0, phase = 0;
  int64_t missingBytes = 0;
  std::vector<PendingBox> boxes;
};

struct Fiber {
  Context context;
  bool done = false, hasAwaited = false;                       // the kernels before
  uint32_t warpVisits = 0, blockVisits = 0, clusterVisits = 0; // how often it arrived at a meeting of its warp, ...
  uint32_t word = 0;                                           // what it brings to its warp's meeting
  const void *given = nullptr;                                 // what it brings besides
  std::deque<std::vector<PendingCopy>> groups{1};
  std::deque<std::vector<PendingRead>> products{1};
  std::deque<std::vector<PendingBox>> stores{1};
};

/// The block that runs now.
struct RunningBlock {
  unsigned lanes = 32;
  std::array<uint32_t, 3> id = {};
  // What threads read and write, and what instructions and the copy engine see: a thread's writes get there by a fence
  // and the barrier after it. Bytes, and where the kernel's start in both.
  std::vector<std::byte> shared, seen;
  size_t sharedStart = 0;
  bool isPublishing = false; // some thread has executed the fence since the last barrier
  bool overwritten = false;
  bool touchedEarly = false;    // what kernels before may still write, by a thread that has not waited for them
  bool waits = false;           // for all other blocks of the grid
  bool startsWithFirst = false; // its first thread runs before the others, not its last one
  uint64_t progress = 0;        // grows whenever something happens that others may wait for
  std::map<const std::byte *, struct EngineBarrier> barriers;
  struct Meeting {
    uint32_t arrived = 0, generation = 0;
  };
  std::map<uint32_t, Meeting> meetings; // of roles, by the barrier's number
  std::vector<std::unique_ptr<Fiber>> fibers;
  unsigned current = 0;
  std::function<void()> body;
  std::vector<RunningBlock *> cluster; // its blocks by their numbers, this one too

  /// Have all threads ended, or has one not come to the cluster's barrier yet? Then others may not write to this block.
  bool isUnreachable() const {
    return std::ranges::all_of(fibers, [](const auto &fiber) { return fiber->done; }) ||
           std::ranges::any_of(fibers, [](const auto &fiber) { return !fiber->done && !fiber->clusterVisits; });
  }
  Fiber &self() { return *fibers[current]; }
  std::byte *memory() { return shared.data() + sharedStart; }
  /// The same byte as the copy engine and instructions see it.
  std::byte *asSeen(const std::byte *byte) { return seen.data() + (byte - shared.data()); }
  void leaveBarrier() {
    if (std::exchange(isPublishing, false))
      seen = shared;
  }
  void yield() { self().context.giveWay(); }
  Fiber &inWarp(unsigned lane) { return *fibers[current / lanes * lanes + lane]; }
  unsigned lane() const { return current & (lanes - 1); }

  /// Waits until every thread of the warp has called this as often.
  void meetWarp() {
    uint32_t visit = ++self().warpVisits;
    ++progress;
    for (unsigned l = 0; l < lanes; ++l)
      while (inWarp(l).warpVisits < visit && !inWarp(l).done)
        yield();
  }
  void meetBlock() {
    uint32_t visit = ++self().blockVisits;
    ++progress;
    for (auto &fiber : fibers)
      while (fiber->blockVisits < visit && !fiber->done)
        yield();
    leaveBarrier();
  }
  void arriveInCluster() {
    ++self().clusterVisits;
    ++progress;
  }
  void waitForCluster() {
    uint32_t visits = self().clusterVisits;
    for (RunningBlock *other : cluster)
      for (auto &fiber : other->fibers)
        while (fiber->clusterVisits < visits && !fiber->done)
          yield();
  }
};

/// One at a time.
extern RunningBlock *block;

} // namespace tilewright::test
