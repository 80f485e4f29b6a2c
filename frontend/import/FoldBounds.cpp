// SPDX-License-Identifier: Apache-2.0
#include "frontend/import/FoldBounds.h"

#include <cmath>

using namespace mlir;

namespace tilewright {
namespace {

enum class ResultSize {
  Grows,       // far larger than the inputs, by the values of small integer inputs
  LikeFirst,   // as many elements as the first input
  Broadcast,   // the common shape of all inputs
  Contraction, // a matrix product of the first two inputs
};

constexpr std::pair<std::string_view, ResultSize> resultSizes[] = {
    {"AffineGrid", ResultSize::Grows},
    {"BlackmanWindow", ResultSize::Grows},
    {"CenterCropPad", ResultSize::Grows},
    {"ConstantOfShape", ResultSize::Grows},
    {"Expand", ResultSize::Grows},
    {"EyeLike", ResultSize::Grows},
    {"HammingWindow", ResultSize::Grows},
    {"HannWindow", ResultSize::Grows},
    {"MelWeightMatrix", ResultSize::Grows},
    {"OneHot", ResultSize::Grows},
    {"Pad", ResultSize::Grows},
    {"Range", ResultSize::Grows},
    {"Resize", ResultSize::Grows},
    {"Tile", ResultSize::Grows},
    {"Upsample", ResultSize::Grows},

    {"BatchNormalization", ResultSize::LikeFirst},
    {"Cast", ResultSize::LikeFirst},
    {"CastLike", ResultSize::LikeFirst},
    {"Clip", ResultSize::LikeFirst},
    {"DequantizeLinear", ResultSize::LikeFirst},
    {"GroupNormalization", ResultSize::LikeFirst},
    {"InstanceNormalization", ResultSize::LikeFirst},
    {"LayerNormalization", ResultSize::LikeFirst},
    {"QuantizeLinear", ResultSize::LikeFirst},
    {"RMSNormalization", ResultSize::LikeFirst},

    {"Add", ResultSize::Broadcast},
    {"Div", ResultSize::Broadcast},
    {"Max", ResultSize::Broadcast},
    {"Min", ResultSize::Broadcast},
    {"Mul", ResultSize::Broadcast},
    {"Pow", ResultSize::Broadcast},
    {"Sub", ResultSize::Broadcast},
    {"Where", ResultSize::Broadcast},

    {"MatMul", ResultSize::Contraction},
    {"MatMulInteger", ResultSize::Contraction},
};

constexpr double maxFolded = 1 << 26, maxGrown = 1 << 20; // elements

double elementsOf(ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t size : shape)
    count *= std::max<double>(1, static_cast<double>(size));
  return count;
}

/// The size of dimension `fromLast` of a shape that is aligned at its end; 1 if it has none.
int64_t sizeFromLast(ArrayRef<int64_t> shape, size_t fromLast) {
  return fromLast < shape.size() ? shape[shape.size() - 1 - fromLast] : 1;
}

/// The elements of the shape that all inputs broadcast to, without its last `skipped` dimensions.
double broadcastElements(ArrayRef<ArrayRef<int64_t>> shapes, size_t skipped) {
  double count = 1;
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  for (size_t i = skipped; i < rank; ++i) {
    int64_t size = 1;
    for (ArrayRef<int64_t> shape : shapes)
      size = std::max(size, sizeFromLast(shape, i));
    count *= static_cast<double>(size);
  }
  return count;
}

FoldBound contractionBound(ArrayRef<ArrayRef<int64_t>> shapes) {
  ArrayRef<int64_t> left = shapes[0], right = shapes[1];
  int64_t depth = std::max<int64_t>(1, sizeFromLast(left, 0));
  int64_t columns = right.size() > 1 ? std::max<int64_t>(1, right.back()) : 1;
  double elements = broadcastElements(shapes.take_front(2), 2) *
                    static_cast<double>(std::max<int64_t>(1, sizeFromLast(left, 1))) * static_cast<double>(columns);
  return {elements, elements * static_cast<double>(depth), false};
}

/// The product of the values of a small integer input, which may be a shape or a count.
double valuesOf(NodeBuilder &b, ImportedValue &value) {
  double product = 1;
  if (const Sizes *elements = b.state.elementsOf(value))
    for (AffineExpr element : *elements)
      product *= std::max<double>(1, std::abs(static_cast<double>(graph::constantSize(element).value_or(1))));
  return product;
}

} // namespace

FoldBound foldBound(NodeBuilder &b) {
  const auto *rule = llvm::find_if(resultSizes, [&](const auto &row) { return row.first == b.node.op; });
  std::optional<ResultSize> size = rule == std::end(resultSizes) ? std::nullopt : std::optional(rule->second);
  SmallVector<ArrayRef<int64_t>> shapes;
  double product = 1, values = 1;
  for (ImportedValue *value : b.node.inputs) {
    if (!value)
      continue;
    shapes.push_back(value->constant->shape());
    product *= elementsOf(shapes.back());
    if (size == ResultSize::Grows)
      values *= valuesOf(b, *value);
  }
  if (size == ResultSize::Grows)
    return {product * values, 0, true};
  if (size == ResultSize::LikeFirst && !shapes.empty())
    return {elementsOf(shapes.front()), 0, false};
  if (size == ResultSize::Broadcast)
    return {broadcastElements(shapes, 0), 0, false};
  if (size == ResultSize::Contraction && shapes.size() >= 2)
    return contractionBound(shapes);
  return {product, 0, false};
}

bool isSmallEnough(const FoldBound &bound) { return bound.elements <= (bound.grows ? maxGrown : maxFolded); }

} // namespace tilewright
