// SPDX-License-Identifier: Apache-2.0
// Looks for the band of zeros (of booleans, of ones), then for that of the other number.
#include "fusion/keys/ComparedBand.h"

#include "fusion/keys/ConstantBand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

std::optional<ComparedBands::Band> ComparedBands::find(Operation *constant) {
  bool isBoolean = getElementTypeOrSelf(constant->getResult(0)).isInteger(1);
  double inside = isBoolean ? 1 : 0;
  auto isInside = [&](double value) { return value == inside; };
  std::optional<ConstantBand> band = bandOf(constant, isInside);
  if (!band || band->outside != band->leastOutside)
    return std::nullopt;
  double outside = band->outside;
  if (!band->full && !isBoolean) {
    std::swap(inside, outside);
    band = bandOf(constant, isInside);
  }
  return band && band->full ? std::optional(Band{band->row, band->column, band->shape[band->row],
                                                 band->shape[band->column], band->first, band->last, inside, outside})
                            : std::nullopt;
}

Value ComparedBands::emit(Operation *constant, OpBuilder &builder) {
  if (!isa<graph::ConstantOp>(constant))
    return {};
  auto [at, isNew] = known.try_emplace(constant);
  if (isNew)
    at->second = find(constant);
  if (!at->second)
    return {};
  const Band &band = *at->second;
  Location loc = constant->getLoc();
  auto type = cast<RankedTensorType>(constant->getResult(0).getType());
  RankedTensorType indices = type.clone(builder.getI64Type());
  Value row = graph::IotaOp::create(builder, loc, indices, band.row),
        column = graph::IotaOp::create(builder, loc, indices, band.column), in;
  auto compare = [&](arith::CmpIPredicate predicate, int64_t diagonal) {
    Value distance =
        arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(indices, builder.getI64IntegerAttr(diagonal)));
    Value end = arith::AddIOp::create(builder, loc, row, distance);
    Value holds = arith::CmpIOp::create(builder, loc, predicate, column, end);
    in = in ? arith::AndIOp::create(builder, loc, in, holds).getResult() : holds;
  };
  if (band.last < band.shapeColumn - 1)
    compare(arith::CmpIPredicate::sle, band.last);
  if (band.first > 1 - band.shapeRow)
    compare(arith::CmpIPredicate::sge, band.first);
  if (!in || type.getElementType().isInteger(1))
    return in;
  auto number = [&](double value) -> Value {
    FloatAttr element = builder.getFloatAttr(type.getElementType(), value);
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, Attribute(element)));
  };
  return arith::SelectOp::create(builder, loc, in, number(band.inside), number(band.outside));
}
