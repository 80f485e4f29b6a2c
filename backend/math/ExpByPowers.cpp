// SPDX-License-Identifier: Apache-2.0
// exp of f32 for targets on which one instruction computes whole powers of two: two thirds of the instructions of
// MathFunctions::exp.
#include "backend/math/MathFunctions.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;

namespace tilewright {

// 2 (exp(r) - 1 - r) / r^2 on |r| <= ln2/2: relative error 3.2e-9, an eighteenth of the rounding.
static constexpr double twiceExpRest[] = {0.99999986172908389, 0.333330419394637417, 0.083336950985382676,
                                          0.0167373360055540373, 0.00276194010152925808};

// Below `leastArgument` the result is 0, and the argument is replaced by `surelyZero`. For the first, the power 2^-150
// underflows just below the subnormal numbers, for which an Intel core takes 55 ns for a vector; 2^-1443, for the
// second, takes no longer than any other power (the limit is between 2^-500 and 2^-600). Every masked element of a
// softmax takes this path.
static constexpr double leastArgument = -104, surelyZero = -1000;

/// 2^(n - 1) times 2 exp(r), since 2^128 is infinite where the result need not be. Powers down to the least subnormal
/// number are exact, so that the product rounds once.
Value MathFunctions::expByWholeExp2(Value x) {
  constexpr double magic = 0x1.8p23, ln2 = std::numbers::ln2;
  constexpr float most = static_cast<float>(ln2), rest = static_cast<float>(ln2 - most);
  Value clamped = atMost(select(less(x, constant(leastArgument)), constant(surelyZero), x), 89.0);
  Value shifted = fma(clamped, constant(std::numbers::log2e), constant(magic));
  Value minusN = sub(constant(magic), shifted);
  Value r = fma(minusN, constant(rest), fma(minusN, constant(most), clamped));
  Value p = fma(fma(polynomial(r, twiceExpRest, twiceExpRest), r, constant(2.0)), r, constant(2.0));
  auto power = math::Exp2Op::create(builder, sub(shifted, constant(magic + 1)));
  power->setAttr(wholeAttr, builder.getUnitAttr());
  return mul(p, power);
}

} // namespace tilewright
