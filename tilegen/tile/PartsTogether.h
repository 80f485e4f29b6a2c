// SPDX-License-Identifier: Apache-2.0
// How many parts of a shared tile the program that arrives last reads before it adds them, so that latencies overlap.
// Placing emits the loads so (tilegen/place/ShareSums.cpp), and schedules estimate what they cost.
#pragma once

#include <cstdint>

namespace tilewright::tile {

/// The most registers of a thread that loads of parts in flight may take: for sums, and for parts of an attention's
/// keys, which are many and small, and beside which a thread holds little else.
inline constexpr int64_t registersOnTheWay = 64, registersOfKeysOnTheWay = 144;

/// The largest divisor of `parts` for which as many parts of `registers` registers take at most `room`; at least 1.
inline int64_t partsTogether(int64_t parts, int64_t registers, int64_t room) {
  int64_t together = parts;
  while (together > 1 && (parts % together || together * registers > room))
    --together;
  return together;
}

} // namespace tilewright::tile
