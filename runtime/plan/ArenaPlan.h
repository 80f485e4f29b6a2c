// SPDX-License-Identifier: Apache-2.0
// Places temporaries in the arena.
//
//   bytes ▲            greedy, largest first: each goes into the smallest gap that fits between placed buffers that are
//         │ ┌──┐       live at the same time
//         │ │c ├─────┐
//         │ ├──┴──┐ b│
//         │ │  a  │  │
//         └─┴─────┴──┴─▶ steps
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright::runtime {

/// A buffer that is needed from step `first` to step `last`, both included.
struct Lifetime {
  int64_t first = 0;
  int64_t last = 0;
  uint64_t bytes = 0;
};

struct ArenaPlan {
  std::vector<uint64_t> offsets; // multiples of 64, one for each lifetime
  uint64_t bytes = 0;
};

/// Buffers whose lifetimes overlap get disjoint ranges. Sizes are below 2^48 (PlanInstance.cpp refuses larger values
/// first).
ArenaPlan planArena(std::span<const Lifetime> lifetimes);

} // namespace tilewright::runtime
