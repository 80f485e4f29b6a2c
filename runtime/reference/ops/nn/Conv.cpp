// SPDX-License-Identifier: Apache-2.0
// Convolutions of any rank: Conv, ConvTranspose, ConvInteger, QLinearConv, and Col2Im.
//
// A convolution is gathered into columns, a block of output positions at a time, and contracted:
//
//     y[m, p] = sum over (c, tap) of w[m, (c, tap)] * columns[(c, tap), p]
//     columns[(c, tap), p] = x[c, source(tap, p)]
//
// The transpose uses the same table backwards: columns = w^T x, and each is added to the element that the convolution
// would read.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Quantization.h"
#include "runtime/reference/Shapes.h"
#include "runtime/reference/Window.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

/// The number of positions whose columns fill about 1 MiB.
static int64_t blockOf(int64_t depth) {
  return std::clamp<int64_t>((int64_t{1} << 17) / std::max<int64_t>(depth, 1), 16, 1024);
}

/// Batch, channels, groups and the window of a convolution of x by weights [outputs, inputs / group, kernel...].
struct Convolution {
  int64_t batch, inputs, outputs, groups;
  Window window;
  Shape result;

  Convolution(Call &call, const Shape &x, const Shape &weights) {
    require(x.size() >= 3 && weights.size() == x.size(),
            "expected input and weights of equal rank of 3 or more, found shapes {} and {}", x, weights);
    batch = x[0], inputs = x[1], outputs = weights[0], groups = call.integer("group", 1);
    require(groups >= 1 && weights[1] <= inputs && weights[1] == inputs / groups && inputs % groups == 0 &&
                outputs % groups == 0,
            "expected channels that divide into {} groups, found input {} and weights {}", groups, x, weights);
    Shape kernel(weights.begin() + 2, weights.end());
    if (auto named = call.integers("kernel_shape"))
      require(*named == kernel, "expected kernel_shape to be that of the weights, {}, found {}", kernel, *named);
    window = Window(call, Shape(x.begin() + 2, x.end()), kernel);
    result = {batch, outputs};
    result.insert(result.end(), window.output.begin(), window.output.end());
  }

  /// `bias` has one element for each output channel, or none.
  std::vector<double> compute(const double *x, const double *weights, std::span<const double> bias) const {
    int64_t positions = window.outputs(), taps = window.taps(), channels = inputs / groups, rows = outputs / groups;
    int64_t depth = channels * taps, inputSize = product(window.input), block = blockOf(depth);
    std::vector<double> y(product(result)), columns(depth * block);
    if (y.empty())
      return y;
    std::vector<int64_t> table(taps * block);
    for (size_t i = 0; i < y.size() && !bias.empty(); ++i)
      y[i] = bias[static_cast<int64_t>(i) / positions % outputs];
    for (int64_t first = 0; first < positions; first += block) {
      int64_t count = std::min(block, positions - first);
      window.sources(first, count, table.data());
      for (int64_t n = 0; n < batch * groups; ++n) {
        const double *from = x + n * channels * inputSize;
        for (int64_t c = 0; c < channels; ++c, from += inputSize)
          for (int64_t i = 0; i < taps * count; ++i)
            columns[c * taps * count + i] = table[i] < 0 ? 0 : from[table[i]];
        contract(rows, count, depth, weights + n % groups * rows * depth, depth, columns.data(), count,
                 y.data() + n * rows * positions + first, positions);
      }
    }
    return y;
  }
};

static std::vector<double> biasOf(Call &call, int64_t i, int64_t outputs) {
  if (!call.has(i))
    return {};
  require(call.input(i).shape() == Shape{outputs}, "expected a bias of shape [{}], found {}", outputs,
          call.input(i).shape());
  Values<double> values(call.input(i));
  return {values.begin(), values.end()};
}

void conv(Call &call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  require(isFloat(x.type()) && x.type() == weights.type(),
          "expected floating-point input and weights of one type, found {} and {}", name(x.type()),
          name(weights.type()));
  Convolution plan(call, x.shape(), weights.shape());
  checkSize(x.type(), plan.result);
  call.give(0, x.type(), plan.result,
            plan.compute(Values<double>(x).data(), Values<double>(weights).data(), biasOf(call, 2, plan.outputs)));
}

/// A quantization parameter of the weights, one or one for each output channel, in a shape that broadcasts to them.
static Tensor perOutput(Call &call, int64_t i, int64_t outputs, size_t rank) {
  if (!call.has(i))
    return {};
  const Tensor &parameter = call.input(i);
  require(parameter.count() == 1 || parameter.shape() == Shape{outputs},
          "expected one element or {} in input {}, found shape {}", outputs, i, parameter.shape());
  Shape shape(rank, 1);
  shape[0] = parameter.count();
  return parameter.reshaped(shape);
}

void convInteger(Call &call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  Convolution plan(call, x.shape(), weights.shape());
  checkSize(DType::I32, plan.result);
  auto left = dequantize(x, {}, call.has(2) ? call.input(2) : Tensor());
  auto right = dequantize(weights, {}, perOutput(call, 3, plan.outputs, weights.shape().size()));
  call.give(0, DType::I32, plan.result, plan.compute(left.data(), right.data(), {}));
}

/// The bias is in units of the product of both scales, so sums are integers, scaled once.
void qLinearConv(Call &call) {
  const Tensor &x = call.input(0), &weights = call.input(3);
  Convolution plan(call, x.shape(), weights.shape());
  checkSize(call.input(7).type(), plan.result);
  size_t rank = weights.shape().size();
  auto left = dequantize(x, {}, call.input(2));
  auto right = dequantize(weights, {}, perOutput(call, 5, plan.outputs, rank));
  std::vector<double> result = plan.compute(left.data(), right.data(), biasOf(call, 8, plan.outputs));
  Values<double> scales(perOutput(call, 4, plan.outputs, rank));
  double inputScale = call.scalar(1);
  int64_t positions = plan.window.outputs();
  for (size_t i = 0; i < result.size(); ++i)
    result[i] *= inputScale * scales[scales.size() == 1 ? 0 : static_cast<int64_t>(i) / positions % plan.outputs];
  call.give(0, quantize(result, plan.result, call.input(6), call.input(7)));
}

/// A depthwise convolution over [past, x]; y has the length of x, and the end of [past, x] is the next past.
void causalConvWithState(Call &call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  require(x.rank() == 3 && weights.rank() == 3 && weights.shape()[0] == x.shape()[1] && weights.shape()[1] == 1 &&
              weights.shape()[2] >= 1,
          "expected input [N, C, L] and weights [C, 1, k], found {} and {}", x.shape(), weights.shape());
  int64_t batch = x.shape()[0], channels = x.shape()[1], length = x.shape()[2], taps = weights.shape()[2],
          past = taps - 1;
  std::string activation = call.text("activation", "none");
  require(activation == "none" || activation == "silu" || activation == "swish",
          "expected activation to be none, silu or swish, found '{}'", activation);
  Shape state{batch, channels, past};
  require(!call.has(3) || call.input(3).shape() == state, "expected a past state of shape {}", state);
  checkSize(x.type(), x.shape());
  Values<double> values(x), w(weights);
  std::vector<double> bias = biasOf(call, 2, channels), result(values.size()), next, before(product(state));
  if (call.has(3)) {
    Values<double> given(call.input(3));
    before.assign(given.begin(), given.end());
  }
  for (int64_t row = 0; row < batch * channels; ++row) {
    std::vector<double> line(before.begin() + row * past, before.begin() + (row + 1) * past);
    line.insert(line.end(), values.data() + row * length, values.data() + (row + 1) * length);
    for (int64_t i = 0; i < length; ++i) {
      double sum = bias.empty() ? 0 : bias[row % channels];
      for (int64_t k = 0; k < taps; ++k)
        sum += line[i + k] * w[row % channels * taps + k];
      result[row * length + i] = activation == "none" ? sum : sum / (1 + std::exp(-sum));
    }
    next.insert(next.end(), line.end() - past, line.end());
  }
  call.give(0, x.type(), x.shape(), result);
  call.give(1, call.has(3) ? call.input(3).type() : x.type(), state, next);
}

//===- Transposed -------------------------------------------------------------------------------------------------===//

/// The window of the convolution whose transpose this is: its output has the shape of x. Its input is the result, sized
/// as specified.
static Window transposedWindow(Call &call, const Shape &x, const Shape &kernel) {
  size_t rank = kernel.size();
  Window window;
  window.kernel = kernel;
  window.output.assign(x.begin() + 2, x.end());
  window.strides = windowAttribute(call, "strides", rank, 1);
  window.dilations = windowAttribute(call, "dilations", rank, 1);
  Shape pads = windowAttribute(call, "pads", 2 * rank, 0), extra = windowAttribute(call, "output_padding", rank, 0);
  std::string automatic = call.text("auto_pad", "NOTSET");
  bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  auto asked = call.integers("output_shape");
  require(!asked || asked->size() == rank || asked->size() == rank + 2, "expected {} values in output_shape, found {}",
          rank, asked ? asked->size() : 0);
  for (size_t d = 0; d < rank; ++d) {
    require(kernel[d] >= 1 && window.strides[d] >= 1 && window.dilations[d] >= 1 && window.output[d] >= 1 &&
                extra[d] >= 0,
            "expected sizes, strides and dilations of 1 or more, found input {}, kernel {}, strides {}, dilations {}",
            x, kernel, window.strides, window.dilations);
    int64_t begin = pads[d], end = pads[d + rank], full = 0, span = 0;
    require(!__builtin_mul_overflow(window.output[d] - 1, window.strides[d], &full) &&
                !__builtin_mul_overflow(kernel[d] - 1, window.dilations[d], &span) &&
                !__builtin_add_overflow(full, span + 1 + extra[d], &full) && full < int64_t{1} << 40,
            "the output of input {}, strides {} and dilations {} is too large", x, window.strides, window.dilations);
    int64_t size = full - begin - end;
    if (asked || same) {
      size = asked ? (*asked)[asked->size() - rank + d] : window.output[d] * window.strides[d];
      require(0 <= size && size < int64_t{1} << 40, "expected an output_shape of 0 or more, found {} in dimension {}",
              size, d);
      if (same && !asked)
        size = std::min(size, full); // pads are never below 0, as in ONNX Runtime
      int64_t total = std::max<int64_t>(0, full - size);
      begin = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    } else if (automatic == "VALID") {
      begin = end = 0, size = full;
    }
    require(size >= 0, "expected an output of 0 or more, found {} in dimension {}", size, d);
    window.input.push_back(size);
    window.padsBegin.push_back(begin);
    window.padsEnd.push_back(end);
  }
  return window;
}

/// Adds columns[tap, i] to the element of `image` that `tap` of output first + i reads.
static void scatter(const int64_t *table, int64_t entries, const double *columns, double *image) {
  for (int64_t i = 0; i < entries; ++i)
    if (table[i] >= 0)
      image[table[i]] += columns[i];
}

/// Weights are [inputs, outputs / group, kernel...].
void convTranspose(Call &call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  require(isFloat(x.type()) && x.type() == weights.type(),
          "expected floating-point input and weights of one type, found {} and {}", name(x.type()),
          name(weights.type()));
  require(x.rank() >= 3 && weights.rank() == x.rank(),
          "expected input and weights of equal rank of 3 or more, found shapes {} and {}", x.shape(), weights.shape());
  int64_t batch = x.shape()[0], inputs = x.shape()[1], groups = call.integer("group", 1);
  require(weights.shape()[0] == inputs && groups >= 1 && inputs % groups == 0,
          "expected weights for {} input channels in {} groups, found shape {}", inputs, groups, weights.shape());
  Window window = transposedWindow(call, x.shape(), Shape(weights.shape().begin() + 2, weights.shape().end()));
  int64_t perGroup = weights.shape()[1], depth = inputs / groups, taps = window.taps(), positions = window.outputs();
  Shape shape{batch, perGroup * groups};
  shape.insert(shape.end(), window.input.begin(), window.input.end());
  checkSize(x.type(), shape);

  Values<double> values(x), w(weights);
  std::vector<double> bias = biasOf(call, 2, shape[1]), result(product(shape)), turned(w.size());
  int64_t rows = perGroup * taps, imageSize = product(window.input), block = blockOf(rows);
  for (int64_t g = 0; g < groups; ++g) // [group, rows, depth], so that columns = turned * x
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t r = 0; r < rows; ++r)
        turned[(g * rows + r) * depth + k] = w[(g * depth + k) * rows + r];
  for (size_t i = 0; i < result.size() && !bias.empty(); ++i)
    result[i] = bias[static_cast<int64_t>(i) / imageSize % shape[1]];
  std::vector<int64_t> table(taps * block);
  std::vector<double> columns(rows * block);
  for (int64_t first = 0; first < positions; first += block) {
    int64_t count = std::min(block, positions - first);
    window.sources(first, count, table.data());
    for (int64_t n = 0; n < batch * groups; ++n) {
      std::fill(columns.begin(), columns.end(), 0);
      contract(rows, count, depth, turned.data() + n % groups * rows * depth, depth,
               values.data() + n * depth * positions + first, positions, columns.data(), count);
      for (int64_t m = 0; m < perGroup; ++m)
        scatter(table.data(), taps * count, columns.data() + m * taps * count,
                result.data() + (n * perGroup + m) * imageSize);
    }
  }
  call.give(0, x.type(), shape, result);
}

/// Columns [N, C * taps, L] back to images [N, C, image_shape...].
void col2Im(Call &call) {
  const Tensor &x = call.input(0);
  Shape image = call.indices(1), kernel = call.indices(2);
  require(x.rank() == 3, "expected columns of rank 3, found shape {}", x.shape());
  product(image);
  Window window(call, image, kernel);
  int64_t taps = window.taps(), positions = window.outputs(), imageSize = product(image);
  require(x.shape()[1] % taps == 0 && x.shape()[2] == positions, "expected columns [N, C * {}, {}], found {}", taps,
          positions, x.shape());
  int64_t images = x.shape()[0] * (x.shape()[1] / taps);
  Shape shape{x.shape()[0], x.shape()[1] / taps};
  shape.insert(shape.end(), image.begin(), image.end());
  checkSize(x.type(), shape);
  std::vector<int64_t> table(taps * positions);
  window.sources(0, positions, table.data());
  Values<double> columns(x);
  std::vector<double> result(product(shape));
  for (int64_t n = 0; n < images; ++n)
    scatter(table.data(), taps * positions, columns.data() + n * taps * positions, result.data() + n * imageSize);
  call.give(0, x.type(), shape, result);
}

} // namespace tilewright::reference
