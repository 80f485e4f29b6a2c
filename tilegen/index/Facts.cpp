// SPDX-License-Identifier: Apache-2.0
// Rules by which divisors, ranges and slopes pass through index arithmetic.
#include "tilegen/index/Facts.h"

#include "frontend/index/Evaluate.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright::index {

//===- Ends of ranges, and slopes: absent is not known ------------------------------------------------------------===//

using Number = std::optional<int64_t>;

static Number add(Number a, Number b) {
  int64_t sum;
  return a && b && !llvm::AddOverflow(*a, *b, sum) ? Number(sum) : std::nullopt;
}

static Number subtract(Number a, Number b) {
  int64_t difference;
  return a && b && !llvm::SubOverflow(*a, *b, difference) ? Number(difference) : std::nullopt;
}

static Number multiply(Number a, Number b) {
  int64_t product;
  return a && b && !llvm::MulOverflow(*a, *b, product) ? Number(product) : std::nullopt;
}

/// The smaller of two numbers, or the one that is known.
static Number smallerKnown(Number a, Number b) { return a && b ? std::min(*a, *b) : a ? a : b; }
static Number largerKnown(Number a, Number b) { return a && b ? std::max(*a, *b) : a ? a : b; }

//===- Sums and products ------------------------------------------------------------------------------------------===//

Facts Facts::constant(int64_t value) { return {value == INT64_MIN ? 1 : std::abs(value), value, value, 0}; }

Facts operator+(const Facts &a, const Facts &b) {
  return {std::gcd(a.divisor, b.divisor), add(a.low, b.low), add(a.high, b.high), add(a.slope, b.slope)};
}

Facts operator-(const Facts &a, const Facts &b) {
  return {std::gcd(a.divisor, b.divisor), subtract(a.low, b.high), subtract(a.high, b.low), subtract(a.slope, b.slope)};
}

static Number slopeOfProduct(const Facts &a, const Facts &b) {
  if (a.slope == 0 && b.slope == 0)
    return 0;
  if (b.value())
    return multiply(a.slope, b.value());
  return a.value() ? multiply(b.slope, a.value()) : std::nullopt;
}

Facts operator*(const Facts &a, const Facts &b) {
  Facts result;
  result.divisor = multiply(a.divisor, b.divisor).value_or(1);
  result.slope = slopeOfProduct(a, b);
  Number corners[] = {multiply(a.low, b.low), multiply(a.low, b.high), multiply(a.high, b.low),
                      multiply(a.high, b.high)};
  if (llvm::all_of(corners, [](Number corner) { return corner.has_value(); })) {
    auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
    result.low = *low, result.high = *high;
  } else if (a.isNonNegative() && b.isNonNegative()) {
    result.low = multiply(a.low, b.low).value_or(0);
    result.high = multiply(a.high, b.high);
  }
  return result;
}

Facts smaller(const Facts &a, const Facts &b) {
  Number low = a.low && b.low ? smallerKnown(a.low, b.low) : std::nullopt,
         slope = a.slope == 0 && b.slope == 0 ? Number(0) : std::nullopt;
  return {std::gcd(a.divisor, b.divisor), low, smallerKnown(a.high, b.high), slope};
}

Facts larger(const Facts &a, const Facts &b) {
  Number high = a.high && b.high ? largerKnown(a.high, b.high) : std::nullopt,
         slope = a.slope == 0 && b.slope == 0 ? Number(0) : std::nullopt;
  return {std::gcd(a.divisor, b.divisor), largerKnown(a.low, b.low), high, slope};
}

Facts either(const Facts &a, const Facts &b) {
  return {std::gcd(a.divisor, b.divisor), a.low && b.low ? smallerKnown(a.low, b.low) : std::nullopt,
          a.high && b.high ? largerKnown(a.high, b.high) : std::nullopt, a.slope == b.slope ? a.slope : std::nullopt};
}

//===- Division ---------------------------------------------------------------------------------------------------===//

/// Can x not cross a multiple of c within the vector?
static bool staysInPeriod(const Facts &x, int64_t c, int64_t vector) {
  if (!x.slope || *x.slope < 0)
    return false;
  return *x.slope == 0 || *x.slope * (vector - 1) < std::gcd(x.divisor, c);
}

/// The divisor where it is one known positive number.
static Number knownDivisor(const Facts &by) { return by.isPositive() ? by.value() : std::nullopt; }

// The low end is the low end of x over the largest divisor, or over the smallest one where it is negative; the high end
// the other way round.
Facts floorDivide(const Facts &x, const Facts &by, int64_t vector) {
  Facts result;
  int64_t least = std::max<int64_t>(by.low.value_or(1), 1);
  Number most = by.high ? Number(std::max<int64_t>(*by.high, 1)) : std::nullopt;
  if (x.low)
    result.low = *x.low < 0 ? llvm::divideFloorSigned(*x.low, least) : most ? *x.low / *most : 0;
  if (x.high)
    result.high = *x.high >= 0 ? *x.high / least : most ? llvm::divideFloorSigned(*x.high, *most) : -1;
  Number c = knownDivisor(by);
  if (c && x.divisor % *c == 0)
    result.divisor = x.divisor / *c;
  bool isFixed = c ? staysInPeriod(x, *c, vector) : x.slope == 0 && by.slope == 0;
  result.slope = isFixed ? Number(0) : std::nullopt;
  return result;
}

Facts modulo(const Facts &x, const Facts &by, int64_t vector) {
  Number c = knownDivisor(by);
  if (c && x.within(0, *c - 1))
    return x;
  Facts result = {std::gcd(x.divisor, by.divisor), 0, subtract(by.high, 1)};
  if (c)
    result.slope = staysInPeriod(x, *c, vector) ? x.slope : std::nullopt;
  else
    result.slope = x.slope == 0 && by.slope == 0 ? Number(0) : std::nullopt;
  return result;
}

/// floorDivide(x + by - 1, by), and no more than x where that is not negative.
static Facts ceilDivide(const Facts &x, const Facts &by, int64_t vector) {
  Facts result = floorDivide(x + by - Facts::constant(1), by, vector);
  if (x.isNonNegative())
    result.high = smallerKnown(result.high, x.high);
  return result;
}

bool isAlwaysLess(const Facts &a, const Facts &b) { return a.high && b.low && *a.high < *b.low; }

bool isAtMost(const Facts &a, const Facts &b) { return a.high && b.low && *a.high <= *b.low; }

Facts inductionOf(const Facts &first, const Facts &end, const Facts &step) {
  Facts result = {std::gcd(first.divisor, step.divisor), first.low, subtract(end.high, 1)};
  if (first.value() && step.value() && result.high && *result.high >= *result.low)
    *result.high -= (*result.high - *result.low) % *step.low; // the last one reached
  return result;
}

//===- Expressions ------------------------------------------------------------------------------------------------===//

namespace {

struct FactsAlgebra {
  using Value = Facts;
  ArrayRef<Facts> dims, symbols;
  int64_t vector;

  std::optional<Facts> leaf(AffineExpr expr) { return leafOf<Facts>(expr, dims, symbols, Facts::constant); }
  Facts add(const Facts &a, const Facts &b) { return a + b; }
  Facts multiply(const Facts &a, const Facts &b) { return a * b; }
  Facts floorDivide(const Facts &a, const Facts &b) { return index::floorDivide(a, b, vector); }
  Facts ceilDivide(const Facts &a, const Facts &b) { return index::ceilDivide(a, b, vector); }
  Facts modulo(const Facts &a, const Facts &b) { return index::modulo(a, b, vector); }
};

} // namespace

Facts factsOf(AffineExpr expr, ArrayRef<Facts> dims, ArrayRef<Facts> symbols, int64_t vector) {
  FactsAlgebra algebra{dims, symbols, vector};
  return evaluate(expr, algebra);
}

bool fitsIn32(AffineExpr expr, ArrayRef<Facts> dims, ArrayRef<Facts> symbols) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (!factsOf(expr, dims, symbols).within(-most, most))
    return false;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (fitsIn32(binary.getLHS(), dims, symbols) && fitsIn32(binary.getRHS(), dims, symbols));
}

} // namespace tilewright::index
