// SPDX-License-Identifier: Apache-2.0
// Elementary functions: reduction of the argument, a minimax polynomial, reconstruction. Branches are selects, NaN
// passes through.
//
//   exp(x)  = 2^n exp(r)              n = round(x / ln2), r = x - n ln2
//   log(x)  = e ln2 + log(1 + f)      x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
//   sin(x)  = +-sin(r) or +-cos(r)    n = round(2 x / pi), r = x - n pi/2; n mod 4 chooses
//   atan(x) = c + atan(r)             |x| <= tan(pi/8): r = x; |x| <= tan(3 pi/8): r = (x-1)/(x+1), c = pi/4;
//                                     else r = -1/x, c = pi/2
//
// The polynomials are minimax fits made for these forms in 160-bit arithmetic; scripts/fit-polynomials repeats the fits
// and compares. Errors are relative to the function's value.
#include "backend/math/MathFunctions.h"

#include "backend/math/PairReciprocals.h"
#include "backend/math/ReciprocalDivisions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace tilewright {

//===- Tables -----------------------------------------------------------------------------------------------------===//

// Constants as sums of ever smaller parts, each with all the bits of its type: fma subtracts a multiple of one exactly.
static constexpr double ln2Narrow[] = {0.69314712286, 5.76999887869e-8, 1.68852492261e-15};
static constexpr double ln2Wide[] = {0.69314718055994528623, 2.3190468138462995584e-17, 5.7077084384162117075e-34};
static constexpr double halfPiNarrow[] = {1.5707962513, 7.54978941586e-8, 5.39030252996e-15, 3.28200354287e-22};
static constexpr double halfPiWide[] = {1.570796326794896558, 6.1232339957367648033e-17, 1.0828566739219139682e-32};

// (exp(r) - 1 - r) / r^2 on |r| <= ln2/2: relative error 4.9e-11; 5.5e-20.
static constexpr double expNarrow[] = {0.500000007935875252,   0.166666668246206894,  0.0416662661282060027,
                                       0.00833327224444344947, 0.0013946305926412195, 0.000199142530985556885};
static constexpr double expWide[] = {0.5,
                                     0.16666666666666684,
                                     0.0416666666666667247,
                                     0.0083333333333166103,
                                     0.00138888888888583872,
                                     0.000198412698973784362,
                                     0.0000248015873738190402,
                                     2.75572339152297195e-6,
                                     2.75572333066640808e-7,
                                     2.51123528438350924e-8,
                                     2.0926957307470544e-9};

// (2^r - 1) / r on |r| <= 1/2: 1.9e-9; 4.2e-20.
static constexpr double exp2Narrow[] = {0.693147206768849391,   0.240226512536726253,   0.0555032700543333858,
                                        0.00961801430542117841, 0.00134005300962739419, 0.00015473548408543871};
static constexpr double exp2Wide[] = {0.693147180559945308,     0.240226506959100712,    0.0555041086648217001,
                                      0.00961812910762849317,   0.00133335581463900618,  0.000154035303933442644,
                                      0.0000152527338565961703, 1.32154868307933173e-6,  1.01780510575382757e-7,
                                      7.0548890062108095e-9,    4.45669709825119676e-10, 2.57408536044816889e-11};

// (log(1+f) - f + f^2/2) / f^3: 7.5e-10. And in f64 (log((1+s)/(1-s))/s - 2)/s^2 as a polynomial in s^2: 2.0e-18.
static constexpr double logNarrow[] = {0.333333124515308174,  -0.250000089832328692, 0.200021263042410044,
                                       -0.166680284430472184, 0.142194482384781961,  -0.124050409390866808,
                                       0.118883165651313047,  -0.116786003940194458, 0.0674972597066506782};
static constexpr double logWide[] = {0.666666666666666665, 0.400000000000008881, 0.285714285707974348,
                                     0.222222223930007689, 0.181817955125431875, 0.15386246193357999,
                                     0.132686094921421412, 0.130882463694782223};

// (sin(r)/r - 1)/r^2 and (cos(r) - 1 + r^2/2)/r^4 as polynomials in r^2 on |r| <= pi/4: 2.8e-11, 2.0e-9; 1.2e-20,
// 1.3e-18.
static constexpr double sinNarrow[] = {-0.166666666638383378, 0.00833333186758227515, -0.000198400827128847555,
                                       2.72493895664820606e-6};
static constexpr double sinWide[] = {-0.166666666666666667,   0.00833333333333333147,  -0.000198412698412650193,
                                     2.75573192193035196e-6,  -2.50521062200213996e-8, 1.60585296441024088e-10,
                                     -7.58658046216380834e-13};
static constexpr double cosNarrow[] = {0.041666664652148005, -0.00138883013038965334, 0.000024547535408875383};
static constexpr double cosWide[] = {0.0416666666666666654,   -0.00138888888888873833, 0.0000248015872987444274,
                                     -2.75573172606240472e-7, 2.08761439417448185e-9,  -1.13824641395052959e-11};

// (atan(r)/r - 1)/r^2 as a polynomial in r^2 on |r| <= tan(pi/8): 1.5e-8; 1.1e-18.
static constexpr double atanNarrow[] = {-0.333333318496912674, 0.199995561612274471, -0.142643901745144034,
                                        0.107475850616203602, -0.0646259316028678415};
static constexpr double atanWide[] = {-0.333333333333333332,  0.199999999999998121,   -0.142857142856615154,
                                      0.111111111053013447,   -0.0909090875995596945, 0.0769229654125198742,
                                      -0.0666642754694245739, 0.0587895627670157722,  -0.0523063327624963043,
                                      0.045523197330483796,   -0.0345871498785744648, 0.0163020265824143688};

//===- Primitives -------------------------------------------------------------------------------------------------===//

struct MathFunctions::Reduced {
  Value bits; // an integer congruent to n modulo 4
  Value n;    // as an integer
  Value r;
};

struct MathFunctions::Log {
  Value e; // as a float
  Value y;
};

MathFunctions::MathFunctions(ImplicitLocOpBuilder &builder, Type type, NativeMath native)
    : builder(builder), type(type), native(native) {
  Type element = getElementTypeOrSelf(type);
  wide = wideTables = element.isF64();
  Type integer = builder.getIntegerType(wide ? 64 : 32);
  auto shaped = dyn_cast<ShapedType>(type);
  intType = shaped ? Type(shaped.clone(integer)) : integer;
}

static Value splat(ImplicitLocOpBuilder &builder, Type type, TypedAttr element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(shaped, Attribute(element)));
  return arith::ConstantOp::create(builder, element);
}

Value MathFunctions::constant(double value) {
  return splat(builder, type, builder.getFloatAttr(getElementTypeOrSelf(type), value));
}
Value MathFunctions::integer(int64_t value) {
  return splat(builder, intType, builder.getIntegerAttr(getElementTypeOrSelf(intType), value));
}
Value MathFunctions::add(Value a, Value b) { return arith::AddFOp::create(builder, a, b); }
Value MathFunctions::sub(Value a, Value b) { return arith::SubFOp::create(builder, a, b); }
Value MathFunctions::mul(Value a, Value b) { return arith::MulFOp::create(builder, a, b); }
Value MathFunctions::div(Value a, Value b) { return arith::DivFOp::create(builder, a, b); }
Value MathFunctions::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, a, b, c); }
Value MathFunctions::sqrt(Value x) { return math::SqrtOp::create(builder, x); }
Value MathFunctions::abs(Value x) { return math::AbsFOp::create(builder, x); }
Value MathFunctions::negate(Value x) { return arith::NegFOp::create(builder, x); }
Value MathFunctions::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, magnitude, sign);
}
Value MathFunctions::less(Value a, Value b) { return arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, a, b); }
Value MathFunctions::equal(Value a, Value b) { return arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, a, b); }
Value MathFunctions::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, condition, a, b);
}
Value MathFunctions::bits(Value x) { return arith::BitcastOp::create(builder, intType, x); }
Value MathFunctions::fromBits(Value x) { return arith::BitcastOp::create(builder, type, x); }

Value MathFunctions::atMost(Value x, double limit) {
  Value c = constant(limit);
  return select(less(c, x), c, x);
}

Value MathFunctions::atLeast(Value x, double limit) {
  Value c = constant(limit);
  return select(less(x, c), c, x);
}

/// Horner's rule; the lowest coefficient comes first.
Value MathFunctions::polynomial(Value x, ArrayRef<double> narrowRow, ArrayRef<double> wideRow) {
  ArrayRef<double> row = wideTables ? wideRow : narrowRow;
  Value result = constant(row.back());
  for (double coefficient : llvm::reverse(row.drop_back()))
    result = fma(result, x, constant(coefficient));
  return result;
}

/// Rounds by adding 1.5 * 2^(mantissa bits): the integer is then in the low bits, with no conversion that NaN or
/// overflow could poison.
MathFunctions::Reduced MathFunctions::reduce(Value x, double inverse, ArrayRef<double> narrowStep,
                                             ArrayRef<double> wideStep) {
  double magic = wide ? 0x1.8p52 : 0x1.8p23;
  Value shifted = fma(x, constant(inverse), constant(magic));
  Value n = sub(shifted, constant(magic));
  Value minusN = negate(n), r = x;
  for (double part : wide ? wideStep : narrowStep)
    r = fma(minusN, constant(part), r);
  Value raw = bits(shifted);
  int64_t magicBits = wide ? 0x4338000000000000 : 0x4b400000;
  return {raw, arith::SubIOp::create(builder, raw, integer(magicBits)), r};
}

MathFunctions::Reduced MathFunctions::reduceByLn2(Value x) {
  return reduce(x, std::numbers::log2e, ln2Narrow, ln2Wide);
}

/// 2^n, for n for which that is a normal number.
Value MathFunctions::powerOfTwo(Value n) {
  Value biased = arith::AddIOp::create(builder, n, integer(wide ? 1023 : 127));
  return fromBits(arith::ShLIOp::create(builder, biased, integer(wide ? 52 : 23)));
}

/// p * 2^n in two steps, so that results may overflow or be subnormal.
Value MathFunctions::scale(Value p, Value n) {
  Value half = arith::ShRSIOp::create(builder, n, integer(1));
  return mul(mul(p, powerOfTwo(half)), powerOfTwo(arith::SubIOp::create(builder, n, half)));
}

Value MathFunctions::expm1OfRemainder(Value r) { return fma(mul(r, r), polynomial(r, expNarrow, expWide), r); }

//===- exp --------------------------------------------------------------------------------------------------------===//

// Beyond these arguments results are 0 or infinity; inside, n/2 is the exponent of a normal number.
static constexpr double expLeast[] = {-104.0, -746.0}, expMost[] = {89.0, 710.0};

/// By the target's exp2, whose argument x log2 e is rounded: what the rounding lost, times ln 2, is the relative
/// correction.
Value MathFunctions::expByNativeExp2(Value x) {
  constexpr double log2e = std::numbers::log2e, rounded = static_cast<float>(log2e);
  Value bounded = atMost(atLeast(x, -200.0), 200.0), product = mul(bounded, constant(rounded));
  Value lost = fma(bounded, constant(log2e - rounded), fma(bounded, constant(rounded), negate(product)));
  Value correction =
      fma(lost, constant(std::numbers::ln2), constant(1.0)); // positive, so that infinity stays what it is
  return mul(math::Exp2Op::create(builder, product), correction);
}

Value MathFunctions::exp(Value x) {
  if (native.exp2 && !wide)
    return expByNativeExp2(x);
  if (native.wholeExp2 && !wide)
    return expByWholeExp2(x);
  // Where the result is 0, exp(0) is computed and discarded: a product that underflows takes some processors a hundred
  // cycles.
  Value isZero = less(x, constant(expLeast[wide])), zero = constant(0.0);
  Reduced reduced = reduceByLn2(select(isZero, zero, atMost(x, expMost[wide])));
  return select(isZero, zero, scale(add(expm1OfRemainder(reduced.r), constant(1.0)), reduced.n));
}

Value MathFunctions::approximateExp(Value x) {
  if (!native.exp2 || wide)
    return exp(x);
  return math::Exp2Op::create(builder, mul(x, constant(std::numbers::log2e)));
}

Value MathFunctions::exp2(Value x) {
  Value clamped = atLeast(atMost(x, wide ? 1025.0 : 129.0), wide ? -1076.0 : -151.0);
  static constexpr double one[] = {1.0};
  Reduced reduced = reduce(clamped, 1.0, one, one);
  return scale(fma(polynomial(reduced.r, exp2Narrow, exp2Wide), reduced.r, constant(1.0)), reduced.n);
}

/// 2^n (exp(r) - 1) + (2^n - 1) does not cancel; where the power overflows, the last 1 no longer matters.
Value MathFunctions::expm1(Value x) {
  Value clamped = atLeast(atMost(x, expMost[wide]), wide ? -40.0 : -20.0);
  Reduced reduced = reduceByLn2(clamped);
  Value tail = expm1OfRemainder(reduced.r), power = powerOfTwo(reduced.n);
  Value exact = fma(power, tail, sub(power, constant(1.0)));
  Value large = scale(add(tail, constant(1.0)), reduced.n);
  return select(less(constant(wide ? 60.0 : 30.0), clamped), large, exact);
}

/// Minimax of (tanh x - x) / x^3 in x^2, |x| < 0.6: 3e-9.
static constexpr double tanhSmall[] = {-0.33333298, 0.13331924, -0.053783824, 0.020795952, -0.00589513645};

/// x + x^3 p(x^2) for small |x|, else 1 - 2 / (e^2x + 1), whose divisor is large enough for an approximate reciprocal
/// (ReciprocalDivisions.h).
Value MathFunctions::tanhByNativeExp2(Value x) {
  Value a = abs(x), square = mul(x, x);
  Value small = fma(mul(square, x), polynomial(square, tanhSmall, tanhSmall), x);
  Value power = math::Exp2Op::create(builder, mul(a, constant(2 * std::numbers::log2e)));
  Value reciprocal = div(constant(1.0), add(power, constant(1.0)));
  reciprocal.getDefiningOp()->setAttr(byReciprocalAttr, builder.getUnitAttr());
  Value large = fma(reciprocal, constant(-2.0), constant(1.0));
  return select(less(a, constant(0.6)), small, copySign(large, x));
}

/// 2 / (1 + e^-2x), by the target's exp2. Rounding its argument causes a relative error of about |x| 2^-22, which is
/// large only for large negative x, where the result is small.
Value MathFunctions::onePlusTanh(Value x) {
  Value power = math::Exp2Op::create(builder, mul(x, constant(-2 * std::numbers::log2e)));
  Value reciprocal = div(constant(1.0), add(power, constant(1.0)));
  for (StringRef attr : {byReciprocalAttr, mayPairAttr})
    reciprocal.getDefiningOp()->setAttr(attr, builder.getUnitAttr());
  return add(reciprocal, reciprocal);
}

Value MathFunctions::tanh(Value x) {
  if (native.exp2 && !wide)
    return tanhByNativeExp2(x);
  Value a = atMost(abs(x), wide ? 20.0 : 10.0);
  Reduced reduced = reduceByLn2(add(a, a));
  Value power = powerOfTwo(reduced.n);
  Value e = fma(power, expm1OfRemainder(reduced.r), sub(power, constant(1.0))); // expm1(2a)
  return copySign(div(e, add(e, constant(2.0))), x);
}

Value MathFunctions::sinh(Value x) {
  Value a = abs(x), e = expm1(a), h = exp(mul(a, constant(0.5)));
  Value exact = mul(constant(0.5), add(e, div(e, add(e, constant(1.0)))));
  Value large = mul(mul(constant(0.5), h), h);
  return copySign(select(less(a, constant(wide ? 700.0 : 80.0)), exact, large), x);
}

Value MathFunctions::cosh(Value x) {
  Value a = abs(x), e = exp(a), h = exp(mul(a, constant(0.5))), half = constant(0.5);
  Value exact = fma(half, e, div(half, e));
  return select(less(a, constant(wide ? 700.0 : 80.0)), exact, mul(mul(half, h), h));
}

/// e^-q. Without a native exp2, q must be so small that the result is a normal number.
Value MathFunctions::complementOfTail(Value q) {
  if (native.exp2 && !wide)
    return math::Exp2Op::create(builder, mul(q, constant(-std::numbers::log2e)));
  Reduced reduced = reduceByLn2(negate(q));
  return mul(add(expm1OfRemainder(reduced.r), constant(1.0)), powerOfTwo(reduced.n));
}

//===- log --------------------------------------------------------------------------------------------------------===//

MathFunctions::Log MathFunctions::logParts(Value x) {
  Value small = less(x, constant(wide ? 0x1p-1022 : 0x1p-126));
  Value normal = select(small, mul(x, constant(wide ? 0x1p54 : 0x1p25)), x);
  // Subtracting the bits of sqrt(1/2) makes the exponent field round at that point.
  Value raw = bits(normal), shift = integer(wide ? 52 : 23);
  Value exponent = arith::ShRSIOp::create(
      builder, arith::SubIOp::create(builder, raw, integer(wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3)), shift);
  Value f = sub(fromBits(arith::SubIOp::create(builder, raw, arith::ShLIOp::create(builder, exponent, shift))),
                constant(1.0));
  Value e =
      sub(arith::SIToFPOp::create(builder, type, exponent), select(small, constant(wide ? 54.0 : 25.0), constant(0.0)));
  if (!wideTables) {
    Value square = mul(f, f);
    Value tail = fma(mul(square, f), polynomial(f, logNarrow, {}), mul(constant(-0.5), square));
    return {e, add(f, tail)};
  }
  Value s = div(f, add(f, constant(2.0))), square = mul(s, s);
  return {e, fma(mul(s, square), polynomial(square, {}, logWide), add(s, s))};
}

/// 0 gives -infinity, infinity itself, anything below 0 and NaN give NaN.
Value MathFunctions::logSpecial(Value x, Value result) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Value zero = constant(0.0), bad = select(equal(x, zero), constant(-infinity), constant(nan));
  return select(less(zero, x), select(equal(x, constant(infinity)), x, result), bad);
}

Value MathFunctions::log(Value x) {
  Log log = logParts(x);
  ArrayRef<double> ln2 = wide ? ln2Wide : ln2Narrow;
  return logSpecial(x, fma(log.e, constant(ln2[0]), fma(log.e, constant(ln2[1]), log.y)));
}

Value MathFunctions::log2(Value x) {
  Log log = logParts(x);
  // log2(e) - 1 instead of log2(e): the product keeps its low bits until the last addition.
  return logSpecial(x, add(log.e, fma(log.y, constant(std::numbers::log2e - 1.0), log.y)));
}

Value MathFunctions::log10(Value x) {
  Log log = logParts(x);
  return logSpecial(
      x, fma(log.e, constant(std::numbers::ln2 / std::numbers::ln10), mul(log.y, constant(std::numbers::log10e))));
}

/// log(u) x / (u - 1) with u = 1 + x as rounded: the quotient undoes the rounding.
Value MathFunctions::log1p(Value x) {
  Value one = constant(1.0), u = add(one, x), l = log(u);
  Value corrected = mul(l, div(x, sub(u, one)));
  Value finite = select(equal(u, one), x, corrected);
  return select(less(u, constant(std::numeric_limits<double>::infinity())), finite, l);
}

Value MathFunctions::asinh(Value x) {
  Value a = abs(x), one = constant(1.0), square = mul(a, a);
  Value exact = log1p(add(a, div(square, add(one, sqrt(add(square, one))))));
  Value large = add(log(a), constant(std::numbers::ln2));
  return copySign(select(less(a, constant(1e8)), exact, large), x);
}

/// For x far below 1, t plus the root cancels to -1, whose log1p is not NaN: so NaN is selected for all x < 1.
Value MathFunctions::acosh(Value x) {
  Value t = sub(x, constant(1.0)), nan = constant(std::numeric_limits<double>::quiet_NaN());
  Value exact = log1p(add(t, sqrt(fma(t, t, add(t, t)))));
  Value defined = select(less(x, constant(1e8)), exact, add(log(x), constant(std::numbers::ln2)));
  return select(less(t, constant(0.0)), nan, defined);
}

Value MathFunctions::atanh(Value x) {
  Value a = abs(x);
  return copySign(mul(constant(0.5), log1p(div(add(a, a), sub(constant(1.0), a)))), x);
}

//===- sin, atan --------------------------------------------------------------------------------------------------===//

std::pair<Value, Value> MathFunctions::sinAndCosOfRemainder(Value r) {
  Value square = mul(r, r);
  Value sine = fma(mul(r, square), polynomial(square, sinNarrow, sinWide), r);
  Value cosine =
      fma(mul(square, square), polynomial(square, cosNarrow, cosWide), fma(square, constant(-0.5), constant(1.0)));
  return {sine, cosine};
}

/// sin(x + quarter pi/2).
Value MathFunctions::sinOrCos(Value x, int64_t quarter) {
  Reduced reduced = reduce(x, 2.0 / std::numbers::pi, halfPiNarrow, halfPiWide);
  auto [sine, cosine] = sinAndCosOfRemainder(reduced.r);
  Value turns = arith::AddIOp::create(builder, reduced.bits, integer(quarter));
  Value odd = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                    arith::AndIOp::create(builder, turns, integer(1)), integer(0));
  Value flip =
      arith::ShLIOp::create(builder, arith::AndIOp::create(builder, turns, integer(2)), integer(wide ? 62 : 30));
  return fromBits(arith::XOrIOp::create(builder, bits(select(odd, cosine, sine)), flip));
}

Value MathFunctions::sin(Value x) { return sinOrCos(x, 0); }
Value MathFunctions::cos(Value x) { return sinOrCos(x, 1); }

Value MathFunctions::tan(Value x) {
  Reduced reduced = reduce(x, 2.0 / std::numbers::pi, halfPiNarrow, halfPiWide);
  auto [sine, cosine] = sinAndCosOfRemainder(reduced.r);
  Value odd = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                    arith::AndIOp::create(builder, reduced.bits, integer(1)), integer(0));
  return div(select(odd, negate(cosine), sine), select(odd, sine, cosine));
}

Value MathFunctions::atan(Value x) {
  Value a = abs(x), one = constant(1.0);
  Value middle = less(constant(0.41421356237309503), a), far = less(constant(2.414213562373095), a);
  Value numerator = select(far, constant(-1.0), select(middle, sub(a, one), a));
  Value denominator = select(far, a, select(middle, add(a, one), one));
  Value offset =
      select(far, constant(std::numbers::pi / 2), select(middle, constant(std::numbers::pi / 4), constant(0.0)));
  Value r = div(numerator, denominator), square = mul(r, r);
  return copySign(add(offset, fma(mul(r, square), polynomial(square, atanNarrow, atanWide), r)), x);
}

/// The angle of (|x|, |y|), mirrored where x is negative, with y's sign.
Value MathFunctions::atan2(Value y, Value x) {
  Value ax = abs(x), ay = abs(y), zero = constant(0.0);
  Value angle = select(equal(ay, zero), add(ay, sub(x, x)), atan(div(ay, ax)));
  Value negative = less(copySign(constant(1.0), x), zero); // -0 included
  return copySign(select(negative, sub(constant(std::numbers::pi), angle), angle), y);
}

Value MathFunctions::asin(Value x) {
  Value one = constant(1.0);
  return atan(div(x, sqrt(mul(sub(one, x), add(one, x)))));
}

Value MathFunctions::acos(Value x) {
  Value one = constant(1.0), half = atan(sqrt(div(sub(one, x), add(one, x))));
  return add(half, half);
}

//===- pow and the rest -------------------------------------------------------------------------------------------===//

static Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

/// 2^(y log2|x|) in f64 arithmetic, with x's sign for an odd y; x^0 and 1^y are 1. For f32 the polynomials of f32 are
/// exact enough.
Value MathFunctions::pow(Value x, Value y) {
  Value one = constant(1.0), zero = constant(0.0), half = mul(y, constant(0.5));
  Type wideType = withElement(type, builder.getF64Type());
  MathFunctions inWide(builder, wideType, native);
  inWide.wideTables = wide;
  Value a = abs(x), power = y;
  if (!wide) {
    a = arith::ExtFOp::create(builder, wideType, a);
    power = arith::ExtFOp::create(builder, wideType, y);
  }
  Value result = inWide.exp2(arith::MulFOp::create(builder, power, inWide.log2(a)));
  if (!wide)
    result = arith::TruncFOp::create(builder, type, result);
  auto isWhole = [&](Value value) { return equal(value, math::TruncOp::create(builder, value)); };
  Value isInteger = isWhole(y);
  Value withSign = select(isInteger, select(isWhole(half), result, copySign(result, x)), result);
  Value nan = constant(std::numeric_limits<double>::quiet_NaN());
  Value general = select(less(x, zero), select(isInteger, withSign, nan), withSign);
  return select(arith::OrIOp::create(builder, equal(y, zero), equal(x, one)), one, general);
}

Value MathFunctions::rsqrt(Value x) { return div(constant(1.0), sqrt(x)); }

/// x - trunc(x/y) y, in f64 for f32 where it is exact while the quotient is below 2^29; has x's sign.
Value MathFunctions::rem(Value x, Value y) {
  if (!wide) {
    Type wideType = withElement(type, builder.getF64Type());
    MathFunctions inWide(builder, wideType, native);
    Value a = arith::ExtFOp::create(builder, wideType, x), b = arith::ExtFOp::create(builder, wideType, y);
    return arith::TruncFOp::create(builder, type, inWide.rem(a, b));
  }
  Value quotient = math::TruncOp::create(builder, div(x, y));
  Value raw = fma(negate(quotient), y, x), size = abs(y), zero = constant(0.0);
  // The quotient may have been rounded up to the next integer: then the remainder has the wrong sign.
  Value wrong = less(mul(copySign(constant(1.0), x), raw), zero);
  Value fixed = select(wrong, add(raw, copySign(size, x)), raw);
  Value isInfinite = equal(size, constant(std::numeric_limits<double>::infinity()));
  return copySign(select(isInfinite, add(x, sub(x, x)), fixed), x);
}

} // namespace tilewright
