// SPDX-License-Identifier: Apache-2.0
#include "backend/math/tiles/NarrowProducts.h"

#include "backend/math/IntegerRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Makes tiles of type `half` whose elements equal those of given tiles of f32.
class Narrower {
public:
  explicit Narrower(FloatType half)
      : half(half), most(int64_t(1) << APFloat::semanticsPrecision(half.getFloatSemantics())) {}

  /// Whether every element of `value` is known to be exactly representable as a half.
  bool isHalf(Value value) const { return isInteger(value) || isExtended(value); }
  Value narrow(Value value);

private:
  bool isExtended(Value value) const {
    auto extend = value.getDefiningOp<arith::ExtFOp>();
    return extend && getElementTypeOrSelf(extend.getIn()) == half;
  }
  /// Integers of magnitude up to 2^precision are exact as halves, and so are sums and differences that stay within it.
  bool isInteger(Value value) const {
    std::optional<IntegerRange> range = rangeOf(value);
    return range && range->low >= -most && range->high <= most;
  }
  std::optional<IntegerRange> rangeOf(Value value) const;

  FloatType half;
  int64_t most;
};

} // namespace

/// The range of a tile of floats, if it holds integers only; else nullopt. The operands of a sum must be exact as
/// halves too.
std::optional<IntegerRange> Narrower::rangeOf(Value value) const {
  auto small = [&](std::optional<IntegerRange> range) {
    return range && range->low >= -most && range->high <= most ? range : std::nullopt;
  };
  if (auto convert = value.getDefiningOp<arith::SIToFPOp>())
    return small(integerRange(convert.getIn(), false));
  if (auto convert = value.getDefiningOp<arith::UIToFPOp>())
    return small(integerRange(convert.getIn(), true));
  APFloat number(0.0f);
  if (matchPattern(value, m_ConstantFloat(&number)) && number.isInteger()) {
    double whole = number.convertToDouble();
    return std::abs(whole) <= static_cast<double>(most)
               ? std::optional(IntegerRange{static_cast<int64_t>(whole), static_cast<int64_t>(whole)})
               : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<tile::BroadcastOp>(op))
    return rangeOf(broadcast.getInput());
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op))
    return std::nullopt;
  std::optional<IntegerRange> a = rangeOf(op->getOperand(0)), b = rangeOf(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  return small(isa<arith::AddFOp>(op) ? IntegerRange{a->low + b->low, a->high + b->high}
                                      : IntegerRange{a->low - b->high, a->high - b->low});
}

Value Narrower::narrow(Value value) {
  if (isExtended(value))
    return value.getDefiningOp<arith::ExtFOp>().getIn();
  Operation *op = value.getDefiningOp();
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(value.getType()).clone(half);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    APFloat number = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<APFloat>();
    bool loses = false;
    number.convert(half.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    return arith::ConstantOp::create(b, op->getLoc(), DenseElementsAttr::get(type, number));
  }
  SmallVector<Value> operands(op->getOperands());
  if (isa<arith::AddFOp, arith::SubFOp, tile::BroadcastOp>(op))
    for (Value &operand : operands)
      operand = narrow(operand);
  Operation *result = b.create(op->getLoc(), op->getName().getIdentifier(), operands, {type});
  return result->getResult(0);
}

void narrowProducts(tile::KernelOp kernel) {
  SmallVector<arith::TruncFOp> roundings;
  kernel.walk([&](arith::TruncFOp rounding) { roundings.push_back(rounding); });
  for (arith::TruncFOp rounding : roundings) {
    auto half = cast<FloatType>(getElementTypeOrSelf(rounding.getType()));
    auto product = rounding.getIn().getDefiningOp<arith::MulFOp>();
    Narrower narrower(half);
    if (!product || !isa<RankedTensorType>(rounding.getType()) || half.getWidth() != 16 ||
        !getElementTypeOrSelf(product.getType()).isF32() || !narrower.isHalf(product.getLhs()) ||
        !narrower.isHalf(product.getRhs()))
      continue;
    Value left = narrower.narrow(product.getLhs()), right = narrower.narrow(product.getRhs());
    OpBuilder b(rounding);
    Value narrow = arith::MulFOp::create(b, product.getLoc(), left, right);
    rounding.replaceAllUsesWith(narrow);
    rounding.erase();
  }
}

} // namespace tilewright
