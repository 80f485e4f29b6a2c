// SPDX-License-Identifier: Apache-2.0
// Random numbers that are bit by bit the same on every machine: only integers and exact arithmetic, no libm, no
// standard distributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace tilewright::models {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), seeded by a name.
class Random {
public:
  explicit Random(std::string_view name) {
    for (unsigned char letter : name)
      state_ = (state_ ^ letter) * 0x100000001b3; // FNV-1a
  }

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Approximately normal, with mean 0 and deviation 1: the sum of four uniform 16-bit numbers, within 3.5.
  double normal() {
    uint64_t bits = next();
    double sum = 0;
    for (int i = 0; i < 4; ++i, bits >>= 16)
      sum += static_cast<double>(bits & 0xffff) - 32767.5;
    return sum * (1.7320508075688772 / 65536);
  }

private:
  uint64_t state_ = 0xcbf29ce484222325;
};

} // namespace tilewright::models
