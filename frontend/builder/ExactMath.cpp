// SPDX-License-Identifier: Apache-2.0
#include "frontend/builder/ExactMath.h"

using namespace mlir;

namespace tilewright::ops {

Term roundedFirst(NodeBuilder &b, Term x) {
  Term isNumber = b.compare(arith::CmpFPredicate::ORD, arith::CmpIPredicate::eq, x, x);
  return b.select(isNumber, x, b.like(x, std::numeric_limits<double>::quiet_NaN()));
}

/// Horner's scheme by fused multiply-adds, with the coefficient of the highest power first.
static Term polynomial(NodeBuilder &b, Term x, ArrayRef<double> coefficients) {
  Term sum = b.like(x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = b.term(
        math::FmaOp::create(b.state.builder, b.state.location, sum.value, x.value, b.like(x, coefficient).value));
  return sum;
}

/// x p(x^2) / q(x^2), with x clamped to -bound..bound.
static Term oddQuotient(NodeBuilder &b, Term x, double bound, ArrayRef<double> p, ArrayRef<double> q) {
  x = b.minimum(b.maximum(x, -bound), bound);
  Term square = roundedFirst(b, x * x);
  return x * polynomial(b, square, p) / polynomial(b, square, q);
}

Term rationalSigmoid(NodeBuilder &b, Term x, double, double) {
  constexpr double p[] = {4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05, 8.51377133304701e-03,
                          2.48287947061529e-01};
  constexpr double q[] = {6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06,
                          1.70198817374094e-03, 1.16817656904453e-01, 9.93151921023180e-01};
  return b.minimum(b.maximum(oddQuotient(b, x, 18, p, q) + 0.5, 0), 1);
}

Term rationalTanh(NodeBuilder &b, Term x, double, double) {
  constexpr double p[] = {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
                          1.48572235717979e-05,  6.37261928875436e-04, 4.89352455891786e-03};
  constexpr double q[] = {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03};
  return oddQuotient(b, x, 9, p, q);
}

} // namespace tilewright::ops
