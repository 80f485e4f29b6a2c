// SPDX-License-Identifier: Apache-2.0
#include "fusion/keys/Splat.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

std::optional<double> fusion::splatOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<graph::BroadcastOp, graph::ReshapeOp, arith::ExtFOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

Value fusion::splatOfType(RankedTensorType type, double number, Location loc, OpBuilder &builder) {
  bool isKnown = type.hasStaticShape();
  auto constant = isKnown ? type : RankedTensorType::get({}, type.getElementType());
  FloatAttr element = builder.getFloatAttr(type.getElementType(), number);
  Value splat = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(constant, Attribute(element)));
  return isKnown ? splat : graph::BroadcastOp::create(builder, loc, type, splat, ArrayRef<int64_t>());
}
