// SPDX-License-Identifier: Apache-2.0
// Floats of 8 and 4 bits, whose elements are held in memory as one byte each.
//
// The four 8-bit formats and their rounding are those of ONNX's "Float stored in 8 bits" (after arXiv 2209.05433 and
// 2206.02915), E2M1 and E8M0 those of the OCP microscaling specification 1.0.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tilewright::reference {

/// Which bit patterns are infinities or NaN.
enum class Specials {
  Ieee,   // exponent all ones: infinity, or NaN if the mantissa is not 0
  OneNaN, // "FN": all ones but the sign is NaN; no infinities
  Fnuz,   // minus zero is NaN; no infinities, no minus zero
  None,   // every pattern is a number
};

/// Sign, `Exponent` bits biased by `Bias`, `Mantissa` bits; subnormals as in IEEE 754.
template <int Exponent, int Mantissa, int Bias, Specials Kind> struct SmallFloat {
  uint8_t bits;

  static constexpr uint8_t signBit = 1 << (Exponent + Mantissa);
  static constexpr uint8_t nan = Kind == Specials::Fnuz ? signBit : Kind == Specials::None ? 0 : signBit - 1;
  static constexpr uint8_t infinity = ((1 << Exponent) - 1) << Mantissa; // of Ieee
  static constexpr uint8_t largest = Kind == Specials::Ieee     ? infinity - 1
                                     : Kind == Specials::OneNaN ? signBit - 2
                                                                : signBit - 1;

  operator double() const {
    int mantissa = bits & ((1 << Mantissa) - 1), exponent = (bits & (signBit - 1)) >> Mantissa;
    bool negative = bits & signBit;
    if (Kind == Specials::Fnuz && bits == nan)
      return std::numeric_limits<double>::quiet_NaN();
    constexpr double noNumber = std::numeric_limits<double>::quiet_NaN(),
                     infinite = std::numeric_limits<double>::infinity();
    if (Kind == Specials::OneNaN && (bits & (signBit - 1)) == nan)
      return std::copysign(noNumber, negative ? -1.0 : 1.0); // NaN keeps its sign, as in ONNX's table of casts
    if (Kind == Specials::Ieee && (bits & infinity) == infinity)
      return std::copysign(mantissa ? noNumber : infinite, negative ? -1.0 : 1.0);
    double size = exponent ? std::ldexp((1 << Mantissa) + mantissa, exponent - Bias - Mantissa)
                           : std::ldexp(mantissa, 1 - Bias - Mantissa);
    return negative ? -size : size;
  }

  /// Rounds to nearest even. Beyond the largest number, the result is that number if `saturate`, else infinity, or NaN
  /// in formats without one; E2M1 has neither and always saturates.
  static SmallFloat from(double value, bool saturate = true) {
    uint8_t sign = std::signbit(value) ? signBit : 0;
    if (value != value)
      return {static_cast<uint8_t>(Kind == Specials::Fnuz ? nan : sign | nan)};
    double size = std::abs(value), most = SmallFloat{largest};
    int exponent = 1 - Bias;
    if (std::isfinite(size) && size > 0)
      exponent = std::max(exponent, std::ilogb(size));
    double rounded = std::isfinite(size)
                         ? std::ldexp(std::nearbyint(std::ldexp(size, Mantissa - exponent)), exponent - Mantissa)
                         : size;
    if (rounded > most) {
      uint8_t beyond = Kind == Specials::Ieee ? infinity : nan;
      if (saturate || Kind == Specials::None)
        return {static_cast<uint8_t>(sign | largest)};
      return {static_cast<uint8_t>(Kind == Specials::Fnuz ? nan : sign | beyond)};
    }
    if (rounded == 0)
      return {Kind == Specials::Fnuz ? uint8_t{0} : sign};
    exponent = std::max(std::ilogb(rounded), 1 - Bias);
    int mantissa = static_cast<int>(std::ldexp(rounded, Mantissa - exponent)); // with the leading one, unless subnormal
    int pattern = mantissa < (1 << Mantissa) ? mantissa : ((exponent + Bias - 1) << Mantissa) + mantissa;
    return {static_cast<uint8_t>(sign | pattern)};
  }
};

using E4M3FN = SmallFloat<4, 3, 7, Specials::OneNaN>;
using E4M3FNUZ = SmallFloat<4, 3, 8, Specials::Fnuz>;
using E5M2 = SmallFloat<5, 2, 15, Specials::Ieee>;
using E5M2FNUZ = SmallFloat<5, 2, 16, Specials::Fnuz>;
using E2M1 = SmallFloat<2, 1, 1, Specials::None>;

enum class RoundMode { Up, Down, Nearest };

/// 2^(bits - 127), or NaN for 255: the exponent of a float32 without sign and mantissa.
struct E8M0 {
  uint8_t bits;

  operator double() const {
    return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
  }

  /// By way of float32, as onnx.numpy_helper.to_float8e8m0: drops the sign, maps infinity and NaN to NaN; `Up` rounds
  /// away from zero, `Nearest` rounds ties up. Beyond 2^127 the result is 2^127 if `saturate`, else NaN.
  static E8M0 from(double value, bool saturate = true, RoundMode mode = RoundMode::Up) {
    uint32_t pattern = std::bit_cast<uint32_t>(static_cast<float>(value)), exponent = pattern >> 23 & 0xff,
             fraction = pattern & 0x7fffff;
    if (exponent == 0xff)
      return {0xff};
    bool more =
        mode == RoundMode::Up ? fraction > 0 : mode == RoundMode::Nearest && fraction >= 0x400000u + (exponent == 0);
    if (more && !(saturate && exponent == 0xfe))
      ++exponent;
    return {static_cast<uint8_t>(exponent)};
  }
};

/// An integer narrower than a byte, stored sign-extended in one.
template <int Bits, bool Signed> struct SmallInteger {
  int8_t value;

  static constexpr int most = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;

  operator int64_t() const { return value; }

  /// Keeps the low bits, like the other integers.
  static SmallInteger wrapped(uint64_t number) {
    int low = static_cast<int>(number & ((1 << Bits) - 1));
    return {static_cast<int8_t>(low > most ? low - (1 << Bits) : low)};
  }
};

} // namespace tilewright::reference
