// SPDX-License-Identifier: Apache-2.0
// Experimental operators of opset 1 that ONNX removed, but that old exporters wrote. The formulas are those of ONNX
// 1.2's operators-ml and of ONNX Runtime's contrib kernels, which still accept them.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <cmath>

namespace tilewright::reference {

template <typename Function> static void mapFloats(Call &call, Function function) {
  const Tensor &x = call.input(0);
  require(isFloat(x.type()), "expected a floating-point input, found {}", name(x.type()));
  Values<double> values(x);
  std::vector<double> results(values.size());
  for (int64_t i = 0; i < values.size(); ++i)
    results[i] = function(values[i], i);
  call.give(0, x.type(), x.shape(), results);
}

/// alpha * x + beta
void affine(Call &call) {
  double alpha = call.real("alpha", 1), beta = call.real("beta", 0);
  mapFloats(call, [=](double x, int64_t) { return alpha * x + beta; });
}

/// alpha * tanh(beta * x)
void scaledTanh(Call &call) {
  double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  mapFloats(call, [=](double x, int64_t) { return alpha * std::tanh(beta * x); });
}

/// alpha * log(1 + exp(beta * x))
void parametricSoftplus(Call &call) {
  double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  mapFloats(call, [=](double x, int64_t) {
    return alpha * (std::max(beta * x, 0.0) + std::log1p(std::exp(-std::abs(beta * x))));
  });
}

void scaleOp(Call &call) {
  double scale = call.real("scale", 1);
  mapFloats(call, [=](double x, int64_t) { return x * scale; });
}

/// [N, C, H, W]: x * scale + bias[c]
void imageScaler(Call &call) {
  const Tensor &x = call.input(0);
  std::vector<float> bias = call.reals("bias").value_or(std::vector<float>());
  require(x.rank() == 4 && static_cast<int64_t>(bias.size()) == x.shape()[1],
          "expected an image [N, {}, H, W], found {}", bias.size(), x.shape());
  double scale = call.real("scale", 1);
  int64_t area = std::max<int64_t>(x.shape()[2] * x.shape()[3], 1), channels = x.shape()[1];
  mapFloats(call, [&](double value, int64_t i) { return value * scale + bias[i / area % channels]; });
}

/// Removes a border [left, top, right, bottom] of [N, C, H, W]; with `scale` [height, width], keeps that size from left
/// and top on.
void crop(Call &call) {
  const Tensor &x = call.input(0);
  auto border = call.integers("border").value_or(Shape{}), scale = call.integers("scale").value_or(Shape{});
  require(x.rank() == 4 && border.size() == 4 && (scale.empty() || scale.size() == 2),
          "expected an image [N, C, H, W] and a border of 4, found {} and {}", x.shape(), border);
  std::vector<IndexMap> maps{identityMap(x.shape()[0]), identityMap(x.shape()[1])};
  for (int64_t d = 0; d < 2; ++d) {
    int64_t first = border[1 - d], size = x.shape()[2 + d],
            end = scale.empty() ? size - border[3 - d] : first + scale[d];
    require(0 <= first && first <= end && end <= size, "expected a part of dimension {}, found {} to {}", size, first,
            end);
    IndexMap &map = maps.emplace_back();
    for (int64_t i = first; i < end; ++i)
      map.push_back(i);
  }
  call.give(0, pick(x, maps));
}

/// A constant. Its shape is the attribute, the input's contents, or with input_as_shape = 0 the input's shape; then
/// extra_shape.
void constantFill(Call &call) {
  DType type = static_cast<DType>(call.integer("dtype", static_cast<int64_t>(DType::F32)));
  Shape shape = call.integers("shape").value_or(Shape{});
  if (call.has(0))
    shape = call.integer("input_as_shape", 0) ? call.indices(0) : call.input(0).shape();
  for (int64_t dim : call.integers("extra_shape").value_or(Shape{}))
    shape.push_back(dim);
  checkSize(type, shape);
  call.give(0, type, shape, std::vector<double>(product(shape), call.real("value", 0)));
}

void givenTensorFill(Call &call) {
  Shape shape = call.has(0) ? call.input(0).shape() : call.integers("shape").value_or(Shape{});
  for (int64_t dim : call.integers("extra_shape").value_or(Shape{}))
    shape.push_back(dim);
  std::vector<float> values = call.reals("values").value_or(std::vector<float>());
  require(product(shape) == static_cast<int64_t>(values.size()), "expected {} values for shape {}, found {}",
          product(shape), shape, values.size());
  call.give(0, DType::F32, shape, std::vector<double>(values.begin(), values.end()));
}

} // namespace tilewright::reference
