// SPDX-License-Identifier: Apache-2.0
// Conversions between float and the two 16-bit formats, whose elements are held in memory as bit patterns.
#pragma once

#include <bit>
#include <cstdint>

namespace tilewright::reference {

/// Made of operations that vectorize. A multiplication adjusts the exponent, so that subnormals need no special case.
inline float fromHalf(uint16_t bits) {
  float magnitude = std::bit_cast<float>(static_cast<uint32_t>(bits & 0x7fff) << 13) * 0x1p112f;
  uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u; // infinity and NaN
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | special |
                              static_cast<uint32_t>(bits & 0x8000) << 16);
}

/// Rounds to nearest even directly from double: by way of float, a value near a tie could be rounded twice.
inline uint16_t toHalf(double value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

inline float fromBFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// Rounds to nearest even. The step to float rounds to odd, which keeps the second rounding correct.
inline uint16_t toBFloat(double value) {
  float single = static_cast<float>(value);
  if (single != single)
    return 0x7fc0;
  uint32_t bits = std::bit_cast<uint32_t>(single);
  bool infinite = (bits & 0x7fffffff) == 0x7f800000;
  if (double back = single; back != value && !infinite) {
    if ((back > value) == (value > 0)) // rounded away from zero: step back
      --bits;
    bits |= 1;
  }
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace tilewright::reference
