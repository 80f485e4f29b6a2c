// SPDX-License-Identifier: Apache-2.0
#include "backend/math/FormComplements.h"
#include "backend/math/ProductFactors.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilewright {

/// The addition of 1 to the result of `op`, if that is its only use.
static arith::AddFOp plusOne(Operation *op) {
  auto sum = op->hasOneUse() ? dyn_cast<arith::AddFOp>(*op->user_begin()) : arith::AddFOp();
  bool isOne = sum && matchPattern(sum.getLhs() == op->getResult(0) ? sum.getRhs() : sum.getLhs(), m_OneFloat());
  return isOne ? sum : arith::AddFOp();
}

/// Replaces x sum / 2, where `sum` is 1 + erf(c x) and `op` the erf; the constants may stand anywhere in the product.
/// False if there is no such product, or if powers of c in the polynomial might leave the range of f32.
static bool formGelu(Operation *op, arith::AddFOp sum, NativeMath native) {
  constexpr double leastInner = 0x1p-4, mostInner = 0x1p4;
  std::optional<ScaledValue> inner = scaledValue(op->getOperand(0));
  if (!inner || !(inner->constant >= leastInner && inner->constant <= mostInner))
    return false;
  Operation *top = sum;
  while (top->hasOneUse() && isa<arith::MulFOp>(*top->user_begin()))
    top = *top->user_begin();
  std::optional<Factors> beside = factorsBeside(sum, top->getResult(0));
  if (top == sum || !beside || beside->constant != 0.5 || beside->factors.size() != 1 ||
      beside->factors[0] != inner->value)
    return false;
  ImplicitLocOpBuilder builder(top->getLoc(), top);
  Value x = inner->value;
  top->getResult(0).replaceAllUsesWith(MathFunctions(builder, x.getType(), native).geluByErf(x, inner->constant));
  return true;
}

void formComplements(Operation *root, NativeMath native) {
  auto isNative = [&](Operation *op) {
    return native.exp2 && getElementTypeOrSelf(op->getResult(0).getType()).isF32();
  };
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    if (isa<math::ErfOp>(op) || (isa<math::TanhOp>(op) && isNative(op)))
      found.push_back(op);
  });
  for (Operation *op : found) {
    arith::AddFOp sum = plusOne(op);
    if (!sum || (isa<math::ErfOp>(op) && isNative(op) && formGelu(op, sum, native)))
      continue;
    ImplicitLocOpBuilder builder(sum.getLoc(), sum);
    Value x = op->getOperand(0);
    Value complement = isa<math::TanhOp>(op) ? MathFunctions(builder, x.getType(), native).onePlusTanh(x)
                                             : math::ErfcOp::create(builder, arith::NegFOp::create(builder, x));
    sum.replaceAllUsesWith(complement);
    sum.erase();
    op->erase();
  }
}

} // namespace tilewright
