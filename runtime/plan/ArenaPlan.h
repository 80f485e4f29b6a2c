// Where temporaries lie in the arena.
//
//   bytes ▲            greedy, largest first: each goes into the smallest gap that fits between those placed which live
//         │ ┌──┐       at the same time
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

/// Buffers whose lifetimes meet get disjoint places. Sizes are below 2^48 (Frame.cpp refuses larger values first).
ArenaPlan planArena(std::span<const Lifetime> lifetimes);

} // namespace tilewright::runtime
