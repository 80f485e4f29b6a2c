// SPDX-License-Identifier: Apache-2.0
// Quantization: QuantizeLinear, DequantizeLinear (per tensor, per axis, per block), DynamicQuantizeLinear.
#include "runtime/reference/Quantization.h"

#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

double roundTo(double value, DType type) {
  const DTypeInfo *info = findDType(type);
  int bits = static_cast<int>(info->bits);
  double high = std::ldexp(1.0, info->isSigned ? bits - 1 : bits) - 1, low = info->isSigned ? -high - 1 : 0;
  return value != value ? 0 : std::clamp(std::nearbyint(value), low, high);
}

std::vector<double> dequantize(const Tensor &x, const Tensor &scale, const Tensor &zero) {
  Values<double> values(x);
  std::vector<double> result(values.begin(), values.end());
  auto apply = [&](const Tensor &parameter, auto function) {
    if (!parameter.defined())
      return;
    Values<double> factors(parameter);
    Shape own = parameter.count() == 1 ? Shape{} : parameter.shape(); // [1] counts as a scalar
    double *at = result.data();
    walk(x.shape(), std::array{broadcastStrides(own, x.shape())}, [&](const auto &from) {
      *at = function(*at, factors[from[0]]);
      ++at;
    });
  };
  apply(zero, std::minus<>());
  apply(scale, std::multiplies<>());
  return result;
}

Tensor quantize(const std::vector<double> &values, const Shape &shape, const Tensor &scale, const Tensor &zero) {
  bool toFloats = isFloat(zero.type()); // 8- or 4-bit floats, whose conversion rounds
  require((!toFloats || findDType(zero.type())->bits <= 8) && zero.type() != DType::Bool,
          "expected a zero point of integers or of floats of a byte, found {}", name(zero.type()));
  Values<double> scales(scale), zeros(zero);
  auto strides = [&](const Tensor &parameter) {
    return broadcastStrides(parameter.count() == 1 ? Shape{} : parameter.shape(), shape);
  };
  std::vector<double> result(values.size());
  int64_t i = 0;
  walk(shape, std::array{strides(scale), strides(zero)}, [&](const auto &at) {
    // The specification divides in float32, which decides ties.
    double steps = static_cast<float>(values[i]) / static_cast<float>(scales[at[0]]), whole = std::nearbyint(steps);
    if (toFloats)
      result[i] = steps + zeros[at[1]];
    else
      result[i] = roundTo(whole != whole ? -HUGE_VAL : whole + zeros[at[1]],
                          zero.type()); // NaN becomes the lowest integer, as in ONNX Runtime
    ++i;
  });
  return store(zero.type(), shape, result);
}

/// The parameter in a shape that broadcasts to x: a vector along `axis`, or each element repeated for the `block`
/// elements of its block.
static Tensor spread(const Tensor &parameter, const Shape &x, int64_t axis, int64_t block) {
  if (parameter.count() == 1 && block == 0)
    return parameter.reshaped({});
  axis = normalizeAxis(axis, static_cast<int64_t>(x.size()));
  if (block == 0) {
    require(parameter.rank() == 1 && parameter.shape()[0] == x[axis],
            "expected {} elements along axis {}, found shape {}", x[axis], axis, parameter.shape());
    Shape shape(x.size(), 1);
    shape[axis] = x[axis];
    return parameter.reshaped(shape);
  }
  Shape expected = x;
  require(block > 0, "expected a block_size of 0 or more, found {}", block);
  expected[axis] = x[axis] / block + (x[axis] % block != 0);
  require(parameter.shape() == expected, "expected scales and zero points of shape {} for blocks of {}, found {}",
          expected, block, parameter.shape());
  AxisView view(x, axis);
  Values<double> values(parameter);
  std::vector<double> result(product(x));
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.size; ++i)
      for (int64_t j = 0; j < view.inner; ++j)
        result[(o * view.size + i) * view.inner + j] = values[(o * expected[axis] + i / block) * view.inner + j];
  return store(parameter.type(), x, result);
}

static const Tensor &outputType(Call &call, Tensor &made) {
  if (call.has(2))
    return call.input(2);
  DType type = static_cast<DType>(call.integer("output_dtype", static_cast<int64_t>(DType::U8)));
  made = allocate(type == DType{} ? DType::U8 : type, call.input(1).shape());
  return made;
}

void quantizeLinear(Call &call) {
  const Tensor &x = call.input(0);
  Tensor made;
  const Tensor &zero = outputType(call, made);
  int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  Values<double> values(x);
  call.give(0, quantize({values.begin(), values.end()}, x.shape(), spread(call.input(1), x.shape(), axis, block),
                        spread(zero, x.shape(), axis, block)));
}

void dequantizeLinear(Call &call) {
  const Tensor &x = call.input(0), &scale = call.input(1);
  int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
  Tensor zero = call.has(2) ? spread(call.input(2), x.shape(), axis, block) : Tensor();
  DType type = static_cast<DType>(call.integer("output_dtype", 0));
  call.give(0, type == DType{} ? scale.type() : type, x.shape(),
            dequantize(x, spread(scale, x.shape(), axis, block), zero));
}

/// Scale and zero point from the range of x, widened to include 0. In float32, as in the specification.
void dynamicQuantizeLinear(Call &call) {
  const Tensor &x = call.input(0);
  require(x.type() == DType::F32, "expected float32, found {}", name(x.type()));
  Values<double> values(x);
  float low = 0, high = 0;
  for (double value : values) {
    low = std::min(low, static_cast<float>(value));
    high = std::max(high, static_cast<float>(value));
  }
  float scale = (high - low) / 255.0f;
  if (scale == 0)
    scale = 1; // all of x is 0
  double zero = roundTo(-low / scale, DType::U8);
  call.give(1, DType::F32, {}, std::vector<double>{scale});
  call.give(2, DType::U8, {}, std::vector<double>{zero});
  call.give(0, quantize({values.begin(), values.end()}, x.shape(), store(DType::F32, {}, std::vector<double>{scale}),
                        store(DType::U8, {}, std::vector<double>{zero})));
}

} // namespace tilewright::reference
