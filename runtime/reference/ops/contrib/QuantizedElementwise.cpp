// SPDX-License-Identifier: Apache-2.0
// com.microsoft QLinear*: dequantize, a standard operator on floats, quantize.
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Quantization.h"

namespace tilewright::reference {

/// Dequantizes input `value`, whose scale and zero point are the two inputs behind it.
static Tensor real(Call &call, int64_t value) {
  const Tensor &x = call.input(value);
  return store(DType::F64, x.shape(),
               dequantize(x, call.input(value + 1), call.has(value + 2) ? call.input(value + 2) : Tensor()));
}

/// Output 0 is y, quantized with input `scale` and the zero point behind it, in the type of input `like`.
static void giveQuantized(Call &call, const Tensor &y, int64_t scale, int64_t like) {
  Values<double> values(y);
  Tensor zero = call.has(scale + 1) ? call.input(scale + 1) : allocate(call.input(like).type(), {});
  call.give(0, quantize({values.begin(), values.end()}, y.shape(), call.input(scale), zero));
}

void qLinearBinary(Call &call) {
  giveQuantized(call, composed(call.op() == "QLinearAdd" ? "Add" : "Mul", {real(call, 0), real(call, 3)}), 6, 0);
}

void qLinearUnary(Call &call) {
  bool leaky = call.op() == "QLinearLeakyRelu";
  giveQuantized(call, composed(leaky ? "LeakyRelu" : "Sigmoid", {real(call, 0)}, selected(call, {"alpha"})), 3, 0);
}

void qLinearSoftmax(Call &call) {
  giveQuantized(
      call, composed("Softmax", {real(call, 0)}, selected(call, {"axis"}), call.integer("opset", 13) < 13 ? 11 : 13), 3,
      0);
}

void qLinearWhere(Call &call) {
  giveQuantized(call, composed("Where", {convert(call.input(0), DType::Bool), real(call, 1), real(call, 4)}), 7, 1);
}

/// Inputs: scale and zero point of the result, then value, scale and zero point of each part.
void qLinearConcat(Call &call) {
  std::vector<Tensor> parts;
  require(call.inputCount() >= 5 && call.inputCount() % 3 == 2, "expected two inputs and three for each part, found {}",
          call.inputCount());
  for (int64_t i = 2; i < call.inputCount(); i += 3)
    parts.push_back(real(call, i));
  giveQuantized(call, composed("Concat", parts, selected(call, {"axis"})), 0, 2);
}

/// AveragePool and GlobalAveragePool, optionally with channels last.
void qLinearPool(Call &call) {
  bool last = call.integer("channels_last", 0);
  Tensor x = last ? channelsFirst(real(call, 0)) : real(call, 0);
  Attributes attributes =
      selected(call, {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"});
  Tensor y = composed(call.op().substr(std::string_view("QLinear").size()), {x}, attributes, 19);
  giveQuantized(call, last ? channelsLast(y) : y, 3, 0);
}

void qLinearReduceMean(Call &call) {
  giveQuantized(call, composed("ReduceMean", {real(call, 0)}, selected(call, {"axes", "keepdims"}), 13), 3, 0);
}

/// QLinearConv, optionally with channels last.
void contribQLinearConv(Call &call) {
  bool last = call.integer("channels_last", 0);
  std::vector<Tensor> inputs;
  for (int64_t i = 0; i < call.inputCount(); ++i)
    inputs.push_back(i == 0 && last ? channelsFirst(call.input(0)) : call.has(i) ? call.input(i) : Tensor());
  Tensor y = composed("QLinearConv", inputs,
                      selected(call, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  call.give(0, last ? channelsLast(y) : y);
}

} // namespace tilewright::reference
