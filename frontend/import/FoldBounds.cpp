// SPDX-License-Identifier: Apache-2.0
#include "frontend/import/FoldBounds.h"

#include <cmath>

using namespace mlir;

namespace tilewright {
namespace {

enum class ResultSize {
  Grows,       // may be far larger than the inputs: as the values of small integer inputs say
  Expands,     // the same, but the first input is data, whose values do not count
  ToShape,     // the common shape of the first input and the shape that the second holds
  LikeFirst,   // as many elements as the first input
  Broadcast,   // the common shape of all inputs
  Together,    // as many elements as all inputs together
  Contraction, // a matrix product of the first two inputs
  Gathered,    // for each element of the second input a slice of the first along an axis
};

constexpr std::pair<std::string_view, ResultSize> resultSizes[] = {
    {"AffineGrid", ResultSize::Grows},
    {"BlackmanWindow", ResultSize::Grows},
    {"CenterCropPad", ResultSize::Expands},
    {"ConstantOfShape", ResultSize::Grows},
    {"Expand", ResultSize::ToShape},
    {"EyeLike", ResultSize::Grows},
    {"HammingWindow", ResultSize::Grows},
    {"HannWindow", ResultSize::Grows},
    {"MelWeightMatrix", ResultSize::Grows},
    {"OneHot", ResultSize::Grows},
    {"Pad", ResultSize::Expands},
    {"Range", ResultSize::Grows},
    {"Resize", ResultSize::Expands},
    {"Tile", ResultSize::Expands},
    {"Upsample", ResultSize::Expands},

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
    {"Reshape", ResultSize::LikeFirst},
    {"Scatter", ResultSize::LikeFirst},
    {"ScatterElements", ResultSize::LikeFirst},
    {"ScatterND", ResultSize::LikeFirst},
    {"Slice", ResultSize::LikeFirst},
    {"Squeeze", ResultSize::LikeFirst},
    {"Unsqueeze", ResultSize::LikeFirst},

    {"Add", ResultSize::Broadcast},
    {"And", ResultSize::Broadcast},
    {"Div", ResultSize::Broadcast},
    {"Equal", ResultSize::Broadcast},
    {"Greater", ResultSize::Broadcast},
    {"GreaterOrEqual", ResultSize::Broadcast},
    {"Less", ResultSize::Broadcast},
    {"LessOrEqual", ResultSize::Broadcast},
    {"Max", ResultSize::Broadcast},
    {"Min", ResultSize::Broadcast},
    {"Mod", ResultSize::Broadcast},
    {"Mul", ResultSize::Broadcast},
    {"Or", ResultSize::Broadcast},
    {"Pow", ResultSize::Broadcast},
    {"Sub", ResultSize::Broadcast},
    {"Where", ResultSize::Broadcast},
    {"Xor", ResultSize::Broadcast},

    {"Concat", ResultSize::Together},

    {"Gather", ResultSize::Gathered},

    {"MatMul", ResultSize::Contraction},
    {"MatMulInteger", ResultSize::Contraction},
};

/// Elements. A gather that is not folded reads its indices and its data in each run, and where a kernel repeats it, as
/// an attention of many windows repeats its bias, more often than that: so a result may be larger than its data.
constexpr double maxFolded = 1 << 26, maxGrown = 1 << 20, maxGathered = 1 << 22;

double elementsOf(ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t size : shape)
    count *= std::max<double>(1, static_cast<double>(size));
  return count;
}

/// The size of the dimension with `fromLast` dimensions after it; 1 if there is none.
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
  return {elements, elements * static_cast<double>(depth), maxFolded};
}

FoldBound gatherBound(NodeBuilder &b, ArrayRef<int64_t> data, ArrayRef<int64_t> indices) {
  int64_t rank = static_cast<int64_t>(data.size()), axis = b.integer("axis", 0);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) // the operator reports it
    return {elementsOf(data) * elementsOf(indices), 0, maxFolded};
  double elements = elementsOf(data) / std::max<double>(1, static_cast<double>(data[axis])) * elementsOf(indices);
  return {elements, 0, elements > elementsOf(data) ? maxGathered : maxFolded};
}

/// The values of a small integer input, which may be a shape or a count. Empty for other inputs.
SmallVector<int64_t> valuesOf(NodeBuilder &b, ImportedValue &value) {
  SmallVector<int64_t> values;
  if (const Sizes *elements = b.state.elementsOf(value))
    for (AffineExpr element : *elements)
      values.push_back(graph::constantSize(element).value_or(1));
  return values;
}

double productOf(ArrayRef<int64_t> values) {
  double product = 1;
  for (int64_t value : values)
    product *= std::max<double>(1, std::abs(static_cast<double>(value)));
  return product;
}

/// The bound for an operator whose result is as large as its inputs say.
FoldBound grownBound(NodeBuilder &b, ResultSize size) {
  double elements = 1;
  for (auto [i, value] : llvm::enumerate(b.node.inputs)) {
    if (!value)
      continue;
    ArrayRef<int64_t> shape = value->constant->shape();
    if (size == ResultSize::ToShape && i == 1 && b.node.inputs[0])
      return {broadcastElements({b.node.inputs[0]->constant->shape(), valuesOf(b, *value)}, 0), 0, maxGrown};
    elements *= elementsOf(shape);
    if (size == ResultSize::Grows || i > 0)
      elements *= productOf(valuesOf(b, *value));
  }
  return {elements, 0, maxGrown};
}

} // namespace

FoldBound foldBound(NodeBuilder &b) {
  const auto *rule = llvm::find_if(resultSizes, [&](const auto &row) { return row.first == b.node.op; });
  std::optional<ResultSize> size = rule == std::end(resultSizes) ? std::nullopt : std::optional(rule->second);
  SmallVector<ArrayRef<int64_t>> shapes;
  double product = 1, together = 0;
  for (ImportedValue *value : b.node.inputs) {
    if (!value)
      continue;
    shapes.push_back(value->constant->shape());
    product *= elementsOf(shapes.back()), together += elementsOf(shapes.back());
  }
  if (size == ResultSize::Grows || size == ResultSize::Expands || size == ResultSize::ToShape)
    return grownBound(b, *size);
  if (size == ResultSize::Together)
    return {together, 0, maxFolded};
  if (size == ResultSize::LikeFirst && !shapes.empty())
    return {elementsOf(shapes.front()), 0, maxFolded};
  if (size == ResultSize::Broadcast)
    return {broadcastElements(shapes, 0), 0, maxFolded};
  if (size == ResultSize::Contraction && shapes.size() >= 2)
    return contractionBound(shapes);
  if (size == ResultSize::Gathered && shapes.size() == 2)
    return gatherBound(b, shapes[0], shapes[1]);
  return {product, 0, maxFolded};
}

bool isSmallEnough(const FoldBound &bound) { return bound.elements <= bound.most; }

} // namespace tilewright
