// SPDX-License-Identifier: Apache-2.0
// Greedy placement, largest first, best fit.
#include "runtime/plan/ArenaPlan.h"

#include "runtime/artifact/Format.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tilewright::runtime {

struct Placed {
  uint64_t offset;
  uint64_t end;
};

/// The smallest gap of at least `bytes` between `busy` (sorted by offset), or the end of all of them.
static uint64_t bestGap(const std::vector<Placed> &busy, uint64_t bytes) {
  uint64_t best = UINT64_MAX, bestBytes = UINT64_MAX, end = 0;
  for (const Placed &other : busy) {
    if (other.offset > end && other.offset - end >= bytes && other.offset - end < bestBytes) {
      best = end;
      bestBytes = other.offset - end;
    }
    end = std::max(end, other.end);
  }
  return best != UINT64_MAX ? best : end;
}

ArenaPlan planArena(std::span<const Lifetime> lifetimes) {
  std::vector<size_t> bySize(lifetimes.size());
  std::iota(bySize.begin(), bySize.end(), size_t(0));
  std::ranges::sort(bySize, std::greater(),
                    [&](size_t i) { return std::pair(lifetimes[i].bytes, ~i); } /* of equals, the first */);
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> placed;
  std::vector<Placed> busy;
  for (size_t i : bySize) {
    const Lifetime &wanted = lifetimes[i];
    uint64_t bytes = format::alignUp(std::max<uint64_t>(wanted.bytes, 1));
    busy.clear();
    for (size_t other : placed)
      if (lifetimes[other].first <= wanted.last && wanted.first <= lifetimes[other].last)
        busy.push_back({plan.offsets[other],
                        plan.offsets[other] + format::alignUp(std::max<uint64_t>(lifetimes[other].bytes, 1))});
    std::ranges::sort(busy, {}, &Placed::offset);
    plan.offsets[i] = bestGap(busy, bytes);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + bytes);
    placed.push_back(i);
  }
  return plan;
}

} // namespace tilewright::runtime
