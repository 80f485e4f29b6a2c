// SPDX-License-Identifier: Apache-2.0
// erf and erfc.
//
//   erf(x)  = x P(x^2) for |x| < 1, else 1 - exp(-Q(|x|)); erfc(|x|) = exp(-R(|x|))
//
// The polynomials are minimax fits, as those of MathFunctions.cpp.
#include "backend/math/MathFunctions.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;

namespace tilewright {

// erf(x)/x as a polynomial in x^2 on |x| <= 1: 1.2e-9; 1.3e-19.
static constexpr double erfNarrow[] = {1.12837916591335321,     -0.37612627133074666,   0.112836001423188767,
                                       -0.0268544431371916509,  0.00518953252380259595, -0.000802081618154703018,
                                       0.0000788903567683854879};
static constexpr double erfWide[] = {1.12837916709551257,     -0.376126389031837482,    0.112837916709548844,
                                     -0.026866170645077863,   0.00522397762482832202,   -0.000854832698141978953,
                                     0.000120553311327619709, -0.000014925595767865794, 1.64610084135256392e-6,
                                     -1.63503955886949388e-7, 1.46603247448903635e-8,   -1.13749413697867589e-9,
                                     5.96066259145599189e-11};

// -log(1 - erf(x)) on 1 <= x <= 4 (f32) and 6 (f64), absolute error of erf: 2.2e-11; 1.3e-20. Beyond, erf rounds to 1.
static constexpr double erfTailNarrow[] = {-0.000188089834521569471, 1.12957865375116983,     0.633219447942841446,
                                           0.108419046518424591,     -0.0252085468771928299,  0.00420466712170036449,
                                           -0.000441357111521133269, 0.0000216885612396989595};
static constexpr double erfTailWide[] = {
    -2.660748135220850627e-8,   1.128379506943473371,      0.6366177200523634328,      0.1027803999521037556,
    -0.01914935872349579029,    -0.0001670730674075515157, 0.001630057189362819771,    -0.0005071669673607576112,
    -0.00005847281581840233743, 0.0001346023968851663211,  -0.00007742420585569119277, 0.0000297688864748056569,
    -8.720154795207064524e-6,   2.022398159698453453e-6,   -3.745902645394837063e-7,   5.502383180329325509e-8,
    -6.284221485986641404e-9,   5.38693809538223379e-10,   -3.2621276000344196e-11,    1.24410358053777905e-12,
    -2.246374752917090038e-14};

// -log(erfc(x)) on 0 <= x <= 5, absolute error of erfc: 1.6e-8. It grows beyond.
static constexpr double erfcNarrow[] = {-1.61059696691133362e-8, 1.12838077122199487,      0.636593229656161617,
                                        0.102936415602065816,    -0.0196161513487890288,   0.000570907551232081426,
                                        0.0010125661002735803,   -0.000302835946827465863, 0.0000307224388231435675};

Value MathFunctions::erf(Value x) {
  Value a = abs(x), inner = mul(x, polynomial(mul(x, x), erfNarrow, erfWide));
  Value q = polynomial(atMost(a, wide ? 6.0 : 4.0), erfTailNarrow, erfTailWide);
  Value outer = copySign(sub(constant(1.0), complementOfTail(q)), x);
  return select(less(a, constant(1.0)), inner, outer);
}

/// Accurate in absolute terms only, as 1 + erf(-x) would be; half of the work of erf.
Value MathFunctions::erfc(Value x) {
  if (wide)
    return sub(constant(1.0), erf(x));
  Value q = polynomial(abs(x), erfcNarrow, {}), e = native.exp2 ? complementOfTail(q) : exp(negate(q));
  return select(less(x, constant(0.0)), sub(constant(2.0), e), e);
}

/// The second term of max(x, 0) - |x| erfc(c |x|) / 2 is |x| 2^p(|x|): all of its constants are in the polynomial.
/// |x| is cut where the power is 0 long since, so that its product with an infinity is no NaN. NaN is kept by the first
/// term.
Value MathFunctions::geluByErf(Value x, double c) {
  constexpr double largest = 0x1p60;
  SmallVector<double> row;
  double power = -std::numbers::log2e;
  for (double coefficient : erfcNarrow)
    row.push_back(coefficient * power), power *= c;
  row.front() -= 1;
  Value a = arith::MinNumFOp::create(builder, abs(x), constant(largest)),
        half = math::Exp2Op::create(builder, polynomial(a, row, {})),
        linear = arith::MaximumFOp::create(builder, x, constant(0.0));
  return fma(negate(a), half, linear);
}

} // namespace tilewright
