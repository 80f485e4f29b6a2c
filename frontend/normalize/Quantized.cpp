// SPDX-License-Identifier: Apache-2.0
// Traces arithmetic back to the integers.
#include "frontend/normalize/Quantized.h"

#include "frontend/normalize/Rebuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cstring>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

static constexpr int64_t signBit = 128; // signed(x) = unsigned(x ^ 0x80) - 128

static std::optional<double> splatNumber(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>()))
    return number.getValueAsDouble();
  return static_cast<double>(splat.getSplatValue<APInt>().getSExtValue());
}

static std::optional<QuantizationParameter> parameterOf(Value value) {
  if (std::optional<double> number = splatNumber(value))
    return QuantizationParameter{number, {}, -1};
  if (auto broadcast = value.getDefiningOp<graph::BroadcastOp>()) {
    Value data = broadcast.getData();
    if (broadcast.getDims().empty())
      return QuantizationParameter{splatNumber(data), data, -1};
    if (broadcast.getDims().size() == 1)
      return QuantizationParameter{std::nullopt, data, broadcast.getDims().front()};
    return std::nullopt;
  }
  if (tensorOf(value).getRank() == 1)
    return QuantizationParameter{std::nullopt, value, 0};
  return tensorOf(value).getRank() == 0 ? std::optional(QuantizationParameter{std::nullopt, value, -1}) : std::nullopt;
}

static bool fillsWithZero(graph::AccessOpInterface access) {
  TypedAttr fill = access.getFill();
  if (!fill)
    return true;
  auto number = dyn_cast<FloatAttr>(fill);
  return number ? number.getValue().isZero() : cast<IntegerAttr>(fill).getValue().isZero();
}

static Value accessedBy(Value value, SmallVectorImpl<Operation *> &accesses) {
  while (auto access = value.getDefiningOp<graph::AccessOpInterface>()) {
    if (!access.getIndexOperands().empty() || !fillsWithZero(access))
      break;
    accesses.push_back(access);
    value = access.getData();
  }
  return value;
}

/// The integers that `value` multiplies by its scale: i32, or i8 if they are directly cast to floats.
static Value withoutScale(Value value, std::optional<QuantizationParameter> &scale) {
  auto isCast = [](Value v) { return isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(v.getDefiningOp()); };
  if (auto product = value.getDefiningOp<arith::MulFOp>()) {
    bool swapped = !isCast(product.getLhs());
    scale = parameterOf(swapped ? product.getLhs() : product.getRhs());
    value = swapped ? product.getRhs() : product.getLhs();
    if (!scale)
      return {};
  }
  return isCast(value) ? value : Value();
}

std::optional<Quantized> normalize::quantizedOf(Value value) {
  Quantized result;
  bool isFloat = tensorOf(value).getElementType().isF32();
  if (!isFloat && !tensorOf(value).getElementType().isInteger(32))
    return std::nullopt;
  value = accessedBy(value, result.accesses);
  if (isFloat) {
    value = withoutScale(value, result.scale);
    Operation *cast = value ? value.getDefiningOp() : nullptr;
    if (!cast)
      return std::nullopt;
    if (Value narrow = cast->getOperand(0); tensorOf(narrow).getElementType().isInteger(8)) {
      result.integers = narrow;
      result.isUnsigned = isa<arith::UIToFPOp>(cast);
      return result;
    }
    if (!isa<arith::SIToFPOp>(cast))
      return std::nullopt;
    value = cast->getOperand(0);
  }
  while (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    std::optional<QuantizationParameter> zero = parameterOf(difference.getRhs());
    if (!zero || (!zero->number && result.zero))
      return std::nullopt;
    if (zero->number)
      result.offset += static_cast<int64_t>(*zero->number);
    else
      result.zero = zero;
    value = difference.getLhs();
  }
  Operation *extend = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extend) || !tensorOf(value).getElementType().isInteger(32))
    return std::nullopt;
  result.integers = extend->getOperand(0);
  result.isUnsigned = isa<arith::ExtUIOp>(extend);
  if (!tensorOf(result.integers).getElementType().isInteger(8))
    return std::nullopt;
  if (auto flip = result.integers.getDefiningOp<arith::XOrIOp>(); flip && splatNumber(flip.getRhs()) == -signBit) {
    result.integers = flip.getLhs();
    result.offset += result.isUnsigned ? -signBit : signBit;
    result.isUnsigned = !result.isUnsigned;
  }
  return result;
}

ArrayRef<int8_t> normalize::bytesOf(graph::ConstantOp constant) {
  auto &pool = constant.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  std::span<const std::byte> bytes = pool.get(constant.getKey());
  return {reinterpret_cast<const int8_t *>(bytes.data()), bytes.size()};
}

template <typename T> static SmallVector<double> decoded(ArrayRef<int8_t> bytes) {
  SmallVector<double> result(bytes.size() / sizeof(T));
  for (size_t i = 0; i < result.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    result[i] = static_cast<double>(element);
  }
  return result;
}

std::optional<SmallVector<double>> normalize::knownNumbers(Value value) {
  RankedTensorType type = tensorOf(value);
  if (std::optional<double> number = splatNumber(value); number && type.hasStaticShape())
    return SmallVector<double>(type.getNumElements(), *number);
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    std::optional<SmallVector<double>> narrow = knownNumbers(op->getOperand(0));
    if (narrow && isa<arith::ExtUIOp>(op))
      for (double &number : *narrow)
        number += number < 0 ? std::ldexp(1.0, tensorOf(op->getOperand(0)).getElementTypeBitWidth()) : 0;
    return narrow;
  }
  auto constant = dyn_cast_or_null<graph::ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  ArrayRef<int8_t> bytes = bytesOf(constant);
  if (bytes.empty() && type.getNumElements() != 0)
    return std::nullopt;
  Type element = type.getElementType();
  if (element.isF32())
    return decoded<float>(bytes);
  if (element.isInteger(32))
    return decoded<int32_t>(bytes);
  return element.isInteger(8) ? std::optional(decoded<int8_t>(bytes)) : std::nullopt;
}
