// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/Operations.h"

#include "backend/host/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::host {

static llvm::Constant *constantOf(llvm::Type *type, Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return llvm::ConstantFP::get(type->getContext(), number.getValue());
  return llvm::ConstantInt::get(type, cast<IntegerAttr>(element).getValue().getSExtValue());
}

Rows Operations::poison(Value value, const Position &position) {
  return Rows(position.rows.size(), llvm::PoisonValue::get(vectorOf(function.typeOf(value), position.width)));
}

Rows Operations::elementwise(Operation *op, const Position &position) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements) {
      function.fail(op, "only constants of one value are tiles");
      return poison(constant, position);
    }
    return splat(ir, {constantOf(function.typeOf(constant), elements.getSplatValue<Attribute>())}, position.rows.size(),
                 position.width);
  }
  if (!isElementwise(op)) {
    function.fail(op, "there is no rule for this operation on tiles");
    return poison(op->getResult(0), position);
  }
  SmallVector<Value> read(op->getOperands());
  if (Value exponent = exponentOfScale(op))
    read[1] = exponent;
  SmallVector<Rows> operands;
  for (Value operand : read)
    operands.push_back(values.tileOf(operand, position));
  Rows result;
  for (unsigned row = 0; row < position.rows.size(); ++row) {
    SmallVector<llvm::Value *> elements;
    for (const Rows &rows : operands)
      elements.push_back(rows[row]);
    result.push_back(emitElementwise(ir, op, elements, position.width));
  }
  return result;
}

Rows Operations::broadcast(tile::BroadcastOp op, const Position &position) {
  auto from = cast<RankedTensorType>(op.getInput().getType()), to = cast<RankedTensorType>(op.getResult().getType());
  Position source = position;
  for (unsigned axis = 0, rank = from.getRank(); axis < rank; ++axis)
    if (from.getDimSize(rank - 1 - axis) != to.getDimSize(rank - 1 - axis))
      source.set(axis, math.constant(0));
  return splat(ir, values.tileOf(op.getInput(), source), position.rows.size(), position.width);
}

Rows Operations::coordinate(tile::CoordinateOp op, const Position &position) {
  llvm::Type *type = function.typeOf(op.getResult());
  unsigned axis = cast<RankedTensorType>(op.getResult().getType()).getRank() - 1 - op.getDim();
  Ix offset = function.index(op.getOffset());
  Rows rows;
  for (unsigned row = 0; row < position.rows.size(); ++row) {
    Ix first = math.add(offset, position.at(axis, row));
    llvm::Value *value = splat(ir, {ir.CreateIntCast(first, type, true)}, 1, position.width).front();
    rows.push_back(axis == position.laneAxis ? ir.CreateAdd(value, laneNumbers(type, position.width)) : value);
  }
  return rows;
}

} // namespace tilewright::host
