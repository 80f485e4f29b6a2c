// SPDX-License-Identifier: Apache-2.0
#include "backend/math/ProductFactors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {

static constexpr size_t mostFactors = 8;

std::optional<double> constantOf(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToDouble();
}

std::optional<ScaledValue> scaledValue(Value value) {
  if (auto quotient = value.getDefiningOp<arith::DivFOp>())
    if (std::optional<double> number = constantOf(quotient.getRhs()))
      return ScaledValue{quotient.getLhs(), 1 / *number};
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (auto [scale, other] : {std::pair(product.getRhs(), product.getLhs()), {product.getLhs(), product.getRhs()}})
    if (std::optional<double> number = constantOf(scale))
      return ScaledValue{other, *number};
  return std::nullopt;
}

std::optional<Factors> factorsBeside(Value x, Value product) {
  SmallVector<Value> open{product};
  Factors found{1, {}};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    auto inner = value.getDefiningOp<arith::MulFOp>();
    if (std::optional<double> number = constantOf(value))
      found.constant *= *number;
    else if (inner && (value == product || value.hasOneUse()) && open.size() + found.factors.size() < mostFactors)
      open.append({inner.getRhs(), inner.getLhs()});
    else
      found.factors.push_back(value);
  }
  auto *same = llvm::find(found.factors, x);
  if (same == found.factors.end())
    return std::nullopt;
  found.factors.erase(same);
  return found;
}

} // namespace tilewright
