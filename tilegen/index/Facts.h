// SPDX-License-Identifier: Apache-2.0
// What is known about an integer: what divides it, between which numbers it lies, and how it moves along a vector.
//
// An access reads neighbours together, `vector` of them in lanes 0, 1, 2, ... . Facts are about the values in all
// lanes:
//
//     lane       0    1    2    3         divisor   divides the value in lane 0 (0: that value is 0)
//     x         24   26   28   30         low, high hold in every lane; absent: not known
//               '----'                    slope     from each lane to the next; absent: no fixed one
//                 2                   here  {divisor 24 (or 8, or 1), 24 <= x <= 30, slope 2}
//
// Facts form a lattice: fewer facts hold of more numbers, and `either` gives those that two have in common. They are an
// algebra of affine expressions (frontend/index/Evaluate.h): what an operation gives is true of its result wherever
// what it takes is true of the operands. For slopes and divisors that is
//
//     x + y          slopes add;       divisor gcd(x, y)
//     x * c          slope times c;    divisor times c
//     x floordiv c   slope 0           if x crosses no multiple of c within the vector, and it crosses none where
//     x mod c        slope of x        slope * (vector - 1) < gcd(divisor of x, c)
//
// Ranges prove bounds checks and masks away and let addresses be 32 bits wide; slopes and divisors make accesses
// vectors.
#pragma once

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace tilewright::index {

struct Facts {
  int64_t divisor = 1; // 0 if the number is 0
  std::optional<int64_t> low, high;
  std::optional<int64_t> slope = 0;

  static Facts constant(int64_t value);
  static Facts between(std::optional<int64_t> low, std::optional<int64_t> high) { return {1, low, high}; }

  bool within(int64_t lowest, int64_t highest) const { return low && high && *low >= lowest && *high <= highest; }
  bool isNonNegative() const { return low && *low >= 0; }
  bool isPositive() const { return low && *low > 0; }
  /// The number, where only one is possible.
  std::optional<int64_t> value() const { return low == high ? low : std::nullopt; }
};

Facts operator+(const Facts &a, const Facts &b);
Facts operator-(const Facts &a, const Facts &b);
Facts operator*(const Facts &a, const Facts &b);
Facts smaller(const Facts &a, const Facts &b);
Facts larger(const Facts &a, const Facts &b);
/// The facts that are true of both, and so of the one that a condition chooses for all lanes.
Facts either(const Facts &a, const Facts &b);

/// Quotient, rounded down, and remainder of a division by a positive number, `vector` lanes at a time.
Facts floorDivide(const Facts &x, const Facts &by, int64_t vector = 1);
Facts modulo(const Facts &x, const Facts &by, int64_t vector = 1);

/// a < b, a <= b in every lane.
bool isAlwaysLess(const Facts &a, const Facts &b);
bool isAtMost(const Facts &a, const Facts &b);

/// Facts about the variable of a loop that runs from `first` to below `end`.
Facts inductionOf(const Facts &first, const Facts &end, const Facts &step);

/// Facts about an expression, `vector` lanes at a time.
Facts factsOf(mlir::AffineExpr expr, llvm::ArrayRef<Facts> dims, llvm::ArrayRef<Facts> symbols, int64_t vector = 1);

/// Do this expression and all its parts fit in 32 bits, with a sign? False if unproved.
bool fitsIn32(mlir::AffineExpr expr, llvm::ArrayRef<Facts> dims, llvm::ArrayRef<Facts> symbols);

} // namespace tilewright::index
