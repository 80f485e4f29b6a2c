// SPDX-License-Identifier: Apache-2.0
// One operation each, but for divisions of what may be negative.
#include "tilegen/index/ArithEmitter.h"

using namespace mlir;

namespace tilewright::index {

template <typename Op> Value ArithEmitter::make(Value a, Value b) const { return Op::create(builder, loc, a, b); }

Value ArithEmitter::constant(Type type, int64_t value) const {
  TypedAttr number = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto tile = dyn_cast<ShapedType>(type))
    number = DenseElementsAttr::get(tile, ArrayRef<Attribute>{number});
  return arith::ConstantOp::create(builder, loc, type, number);
}

Value ArithEmitter::add(Value a, Value b) const { return make<arith::AddIOp>(a, b); }
Value ArithEmitter::multiply(Value a, Value b) const { return make<arith::MulIOp>(a, b); }

std::pair<Value, Value> ArithEmitter::signedRest(Value a, Value b) const {
  Value zero = constant(a.getType(), 0), rest = make<arith::RemSIOp>(a, b);
  return {rest, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, rest, zero)};
}

Value ArithEmitter::floorDivide(Value a, Value b, bool isNonNegative) const {
  if (isNonNegative)
    return make<arith::DivUIOp>(a, b);
  if (divisions == Divisions::Tiles)
    return make<arith::FloorDivSIOp>(a, b);
  auto [rest, below] = signedRest(a, b);
  Value quotient = make<arith::DivSIOp>(a, b);
  Value lower = make<arith::SubIOp>(quotient, constant(a.getType(), 1));
  return arith::SelectOp::create(builder, loc, below, lower, quotient);
}

Value ArithEmitter::modulo(Value a, Value b, bool isNonNegative) const {
  if (isNonNegative)
    return make<arith::RemUIOp>(a, b);
  if (divisions == Divisions::Tiles)
    return make<arith::SubIOp>(a, multiply(floorDivide(a, b, false), b));
  auto [rest, below] = signedRest(a, b);
  return arith::SelectOp::create(builder, loc, below, add(rest, b), rest);
}

} // namespace tilewright::index
