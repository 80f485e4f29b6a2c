// SPDX-License-Identifier: Apache-2.0
// exp of f32 for targets on which one instruction multiplies by whole powers of two: half of the instructions of
// MathFunctions::exp.
#include "backend/math/MathFunctions.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;

namespace tilewright {

// (exp(r) - 1 - r) / r^2 on |r| <= ln2/2: relative error 3.2e-9, an eighteenth of the rounding.
static constexpr double expRest[] = {0.4999999308645419, 0.1666652096973187, 0.041668475492691336, 0.00836866800277702,
                                     0.001380970050764629};

// Below this argument the result is 0.
static constexpr double leastArgument = -104;

/// 2^n exp(r), rounded once. Where the result is 0, as for every masked element of a softmax, the selection lets the
/// target leave out the scaling: just below the subnormal numbers that takes an Intel core 55 ns for a vector.
Value MathFunctions::expByWholeExp2(Value x) {
  constexpr double magic = 0x1.8p23, ln2 = std::numbers::ln2;
  constexpr float most = static_cast<float>(ln2), rest = static_cast<float>(ln2 - most);
  Value bounded = atMost(x, 89.0);
  Value n = sub(fma(bounded, constant(std::numbers::log2e), constant(magic)), constant(magic));
  Value r = fma(n, constant(-rest), fma(n, constant(-most), bounded));
  Value p = fma(fma(polynomial(r, expRest, expRest), r, constant(1.0)), r, constant(1.0));
  auto power = math::Exp2Op::create(builder, n);
  power->setAttr(wholeAttr, builder.getUnitAttr());
  Value result = mul(p, power);
  result.getDefiningOp()->setAttr(scalesAttr, builder.getUnitAttr());
  return select(less(x, constant(leastArgument)), constant(0.0), result);
}

} // namespace tilewright
