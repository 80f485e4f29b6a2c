// SPDX-License-Identifier: Apache-2.0
#include "backend/math/FoldScales.h"
#include "backend/math/ProductFactors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace tilewright {

namespace {
constexpr unsigned deepest = 8;                     // operations that are looked through
constexpr double largest = 0x1p40, least = 0x1p-40; // of a constant that is moved, so that none leaves the range of f32

/// Builds, in front of a product, what replaces it.
class ScaleFolder {
public:
  explicit ScaleFolder(Operation *product) : b_(product->getLoc(), product) {}

  Value times(Value value, double scale, unsigned depth = 0);
  Value product(Value a, Value b) { return arith::MulFOp::create(b_, a, b); }

private:
  Value constant(Type type, double value);
  Value timesConstant(Value value, double scale);
  Value timesSum(arith::AddFOp sum, double scale);

  ImplicitLocOpBuilder b_;
};
} // namespace

static bool isMovable(double scale) { return std::abs(scale) >= least && std::abs(scale) <= largest; }

Value ScaleFolder::constant(Type type, double value) {
  TypedAttr attr = b_.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(b_, attr);
}

Value ScaleFolder::timesConstant(Value value, double scale) {
  return scale == 1 ? value : product(value, constant(value.getType(), scale));
}

/// `value` times `scale`, in no more operations than `value` itself takes; null if it cannot be, or if `value` has
/// another use, for which it would be computed once more.
Value ScaleFolder::times(Value value, double scale, unsigned depth) {
  if (!isMovable(scale) || depth == deepest)
    return {};
  if (std::optional<double> number = constantOf(value))
    return isMovable(*number * scale) ? constant(value.getType(), *number * scale) : Value();
  if (!value.hasOneUse())
    return {};
  if (auto scaled = scaledValue(value))
    return isMovable(scaled->constant * scale) ? timesConstant(scaled->value, scaled->constant * scale) : Value();
  if (auto factors = value.getDefiningOp<arith::MulFOp>()) {
    for (auto [one, other] : {std::pair(factors.getLhs(), factors.getRhs()), {factors.getRhs(), factors.getLhs()}})
      if (Value scaled = times(one, scale, depth + 1))
        return product(scaled, other);
    return {};
  }
  auto sum = value.getDefiningOp<arith::AddFOp>();
  return sum ? timesSum(sum, scale) : Value();
}

/// (r + r) scale as r (2 scale), (x + c x p) scale as x (c scale p + scale), and (c p + d) scale as
/// c scale p + d scale.
Value ScaleFolder::timesSum(arith::AddFOp sum, double scale) {
  Value left = sum.getLhs(), right = sum.getRhs();
  if (left == right)
    return timesConstant(left, 2 * scale);
  for (auto [x, other] : {std::pair(left, right), {right, left}})
    if (auto beside = factorsBeside(x, other);
        beside && other.hasOneUse() && !beside->factors.empty() && isMovable(beside->constant * scale)) {
      Value rest = beside->factors.front();
      for (Value factor : ArrayRef(beside->factors).drop_front())
        rest = product(rest, factor);
      rest = timesConstant(rest, beside->constant * scale);
      return product(x, arith::AddFOp::create(b_, rest, constant(x.getType(), scale)));
    }
  for (auto [one, other] : {std::pair(left, right), {right, left}}) {
    auto scaled = scaledValue(one);
    std::optional<double> number = constantOf(other);
    if (scaled && number && one.hasOneUse() && isMovable(scaled->constant * scale) && isMovable(*number * scale))
      return arith::AddFOp::create(b_, timesConstant(scaled->value, scaled->constant * scale),
                                   constant(other.getType(), *number * scale));
  }
  return {};
}

/// What replaces a product; null if it stays.
static Value foldedProduct(arith::MulFOp product) {
  ScaleFolder folder(product);
  if (auto scaled = scaledValue(product.getResult()))
    return folder.times(scaled->value, scaled->constant);
  for (auto [one, other] : {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}})
    if (auto scaled = scaledValue(one); scaled && one.hasOneUse())
      if (Value rest = folder.times(other, scaled->constant))
        return folder.product(scaled->value, rest);
  return {};
}

void foldScales(Operation *root) {
  SmallVector<arith::MulFOp> products;
  root->walk([&](arith::MulFOp product) {
    if (getElementTypeOrSelf(product.getType()).isF32())
      products.push_back(product);
  });
  for (arith::MulFOp product : products)
    if (Value folded = foldedProduct(product)) {
      product.replaceAllUsesWith(folded);
      product.erase();
    }
}

} // namespace tilewright
