// SPDX-License-Identifier: Apache-2.0
// com.microsoft's LSTM with 8-bit weights, bit-exact with ONNX Runtime: each step quantizes its operands, where the
// last bit of a float decides between two integers.
//
//     gates = quantized(x) W + quantized(h) R + b, each integer product times its scales, each sum and product rounded
//     to float32
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#pragma STDC FP_CONTRACT OFF

namespace tilewright::reference {

//===- Activations ------------------------------------------------------------------------------------------------===//

/// Horner's rule, highest power first, rounding at each step.
static float polynomial(float x, std::initializer_list<float> coefficients) {
  float sum = *coefficients.begin();
  for (const float *next = coefficients.begin() + 1; next != coefficients.end(); ++next)
    sum = std::fma(sum, x, *next);
  return sum;
}

static float sigmoid(float x) {
  x = std::clamp(x, -18.0f, 18.0f);
  float square = x * x;
  float p = polynomial(square, {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                                8.51377133304701e-03f, 2.48287947061529e-01f}),
        q = polynomial(square, {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                                1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f});
  return std::clamp(x * p / q + 0.5f, 0.0f, 1.0f);
}

static float hyperbolicTangent(float x) {
  x = std::clamp(x, -9.0f, 9.0f);
  float square = x * x;
  float p = polynomial(square,
                       {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                        1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f}),
        q = polynomial(square,
                       {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f});
  return x * p / q;
}

using Vector = std::vector<float>;

/// Applies the activation of that name. Those that are operators too have the operators' default attributes.
static void activate(const std::string &name, Vector &x) {
  std::string known;
  std::ranges::transform(name, std::back_inserter(known), [](unsigned char c) { return std::tolower(c); });
  if (known == "sigmoid" || known == "tanh") {
    std::ranges::transform(x, x.begin(), known == "tanh" ? hyperbolicTangent : sigmoid);
    return;
  }
  constexpr std::string_view operators[] = {"Elu",      "HardSigmoid", "LeakyRelu",      "Relu",
                                            "Softplus", "Softsign",    "ThresholdedRelu"};
  auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto *row =
      std::ranges::find_if(operators, [&](std::string_view each) { return std::ranges::equal(each, known, same); });
  if (row == std::end(operators))
    unsupported(fmt::format("the activation {} is not supported", name));
  Tensor tensor = Tensor::allocate(DType::F32, {static_cast<int64_t>(x.size())});
  std::ranges::copy(x, tensor.data<float>());
  tensor = composed(*row, {tensor});
  std::copy_n(tensor.data<float>(), x.size(), x.begin());
}

//===- Products of bytes ------------------------------------------------------------------------------------------===//

/// Weights [K, columns] of one direction, minus their zero points.
struct ByteWeights {
  int64_t depth, columns;
  std::vector<int32_t> numbers;
  Vector scales; // one, or one for each column
};

static ByteWeights weightsOf(Call &call, int64_t input, int64_t scale, int64_t direction) {
  const Shape &shape = call.input(input).shape();
  ByteWeights result{shape[1], shape[2], {}, {}};
  Values<int64_t> bytes(call.input(input)), zeros(call.input(scale + 1));
  Values<double> scales(call.input(scale));
  int64_t each = scales.size() / shape[0], zeroEach = zeros.size() / shape[0];
  require((each == 1 || each == shape[2]) && (zeroEach == 1 || zeroEach == shape[2]),
          "expected a scale and a zero point, or {}, for each direction", shape[2]);
  for (int64_t i = 0; i < shape[1] * shape[2]; ++i)
    result.numbers.push_back(static_cast<int32_t>(bytes[direction * shape[1] * shape[2] + i] -
                                                  zeros[direction * zeroEach + (zeroEach == 1 ? 0 : i % shape[2])]));
  for (int64_t i = 0; i < each; ++i)
    result.scales.push_back(static_cast<float>(scales[direction * each + i]));
  return result;
}

/// x [rows, K], quantized by the range of all its rows, times the weights.
static Vector product(const float *x, int64_t rows, const ByteWeights &w) {
  int64_t count = rows * w.depth;
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i)
    low = std::min(low, x[i]), high = std::max(high, x[i]);
  float scale = low == high ? 1 : (high - low) / 255,
        zero = std::nearbyint(std::max(0.0f, std::min(255.0f, 0 - low / scale)));
  Vector result(rows * w.columns);
  std::vector<int32_t> sums(w.columns);
  for (int64_t row = 0; row < rows; ++row) {
    std::ranges::fill(sums, 0);
    for (int64_t k = 0; k < w.depth; ++k) {
      auto byte =
          static_cast<int32_t>(std::nearbyint(std::max(-zero, std::min(255 - zero, x[row * w.depth + k] / scale))));
      const int32_t *from = w.numbers.data() + k * w.columns;
      for (int64_t j = 0; j < w.columns; ++j)
        sums[j] += byte * from[j];
    }
    for (int64_t j = 0; j < w.columns; ++j)
      result[row * w.columns + j] = static_cast<float>(sums[j]) * (scale * w.scales[w.scales.size() == 1 ? 0 : j]);
  }
  return result;
}

//===- The recurrence ---------------------------------------------------------------------------------------------===//

static Vector floatsOf(Call &call, int64_t input, int64_t direction, int64_t count) {
  if (!call.has(input))
    return Vector(count);
  Tensor tensor = convert(call.input(input), DType::F32);
  require((direction + 1) * count <= tensor.count(),
          "expected {} elements for each direction in input {}, found shape {}", count, input, tensor.shape());
  return {tensor.data<float>() + direction * count, tensor.data<float>() + (direction + 1) * count};
}

/// The parameters of one direction besides its weights. Gates are in the order input, output, forget, cell.
struct Cell {
  int64_t hidden;
  Vector bias, peepholes;
  std::vector<std::string> activations;
  float clip;
  bool coupled;

  /// Updates h and c of one sequence.
  void step(const float *gates, float *h, float *c) const {
    auto gate = [&](int64_t which, int64_t peephole, size_t activation) {
      Vector x(gates + which * hidden, gates + (which + 1) * hidden);
      for (int64_t i = 0; i < hidden; ++i) {
        if (peephole >= 0)
          x[i] += peepholes[peephole * hidden + i] * c[i];
        x[i] = std::clamp(x[i] + bias[which * hidden + i], -clip, clip);
      }
      activate(activations[activation], x);
      return x;
    };
    Vector open = gate(0, 0, 0), keep = coupled ? open : gate(2, 2, 0), fresh = gate(3, -1, 1), shown(hidden);
    for (int64_t i = 0; i < hidden; ++i) {
      c[i] = c[i] * (coupled ? 1 - open[i] : keep[i]) + open[i] * fresh[i];
      shown[i] = c[i];
    }
    activate(activations[2], shown);
    Vector show = gate(1, 1, 0);
    for (int64_t i = 0; i < hidden; ++i)
      h[i] = show[i] * shown[i];
  }
};

static Cell cellOf(Call &call, int64_t direction, int64_t hidden) {
  std::vector<std::string> names = call.texts("activations").value_or(std::vector<std::string>{});
  if (names.empty())
    names = {"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"};
  require(static_cast<int64_t>(names.size()) >= 3 * (direction + 1),
          "expected 3 activations for each direction, found {}", names.size());
  Vector both = floatsOf(call, 3, direction, 8 * hidden), bias(4 * hidden);
  for (int64_t i = 0; i < 4 * hidden; ++i)
    bias[i] = both[i] + both[4 * hidden + i];
  return {hidden,
          bias,
          floatsOf(call, 7, direction, 3 * hidden),
          {names.begin() + 3 * direction, names.begin() + 3 * direction + 3},
          call.hasAttribute("clip") ? static_cast<float>(call.real("clip", 0)) : HUGE_VALF,
          call.integer("input_forget", 0) != 0};
}

/// X [T, B, I], W [D, I, 4H], R [D, H, 4H] of bytes, B, lengths, initial h and c, P, then scale and zero point of W and
/// of R. The input is quantized once for all steps, the state before each step.
void dynamicQuantizeLstm(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() == 3 && call.input(1).rank() == 3 && call.input(2).rank() == 3,
          "expected input and weights of rank 3, found {}, {} and {}", x.shape(), call.input(1).shape(),
          call.input(2).shape());
  std::string direction = call.text("direction", "forward");
  int64_t steps = x.shape()[0], batch = x.shape()[1], hidden = call.input(2).shape()[1],
          directions = direction == "bidirectional" ? 2 : 1;
  require(call.input(1).shape() == Shape{directions, x.shape()[2], 4 * hidden} &&
              call.input(2).shape() == Shape{directions, hidden, 4 * hidden},
          "expected weights of {} directions and 4 gates for inputs of {}, found {} and {}", directions, x.shape(),
          call.input(1).shape(), call.input(2).shape());
  require(steps > 0, "expected a step or more, found input {}", x.shape());
  if (call.has(4))
    for (int64_t length : call.indices(4))
      if (length != steps)
        unsupported("sequences of different lengths are not supported");
  if (call.hasAttribute("activation_alpha") || call.hasAttribute("activation_beta"))
    unsupported("activations with parameters are not supported");
  Tensor floats = convert(x, DType::F32), y = allocate(DType::F32, {steps, directions, batch, hidden}),
         lastHidden = allocate(DType::F32, {directions, batch, hidden}),
         lastCell = allocate(DType::F32, {directions, batch, hidden});
  for (int64_t d = 0; d < directions; ++d) {
    ByteWeights w = weightsOf(call, 1, 8, d), r = weightsOf(call, 2, 10, d);
    Cell cell = cellOf(call, d, hidden);
    Vector h = floatsOf(call, 5, d, batch * hidden), c = floatsOf(call, 6, d, batch * hidden);
    Vector inputs = product(floats.data<float>(), steps * batch, w);
    bool backwards = direction == "reverse" || d == 1;
    for (int64_t i = 0; i < steps; ++i) {
      int64_t t = backwards ? steps - 1 - i : i;
      Vector gates = product(h.data(), batch, r);
      for (int64_t k = 0; k < batch * w.columns; ++k)
        gates[k] = inputs[t * batch * w.columns + k] + gates[k];
      for (int64_t n = 0; n < batch; ++n)
        cell.step(gates.data() + n * w.columns, h.data() + n * hidden, c.data() + n * hidden);
      std::ranges::copy(h, y.data<float>() + (t * directions + d) * batch * hidden);
    }
    std::ranges::copy(h, lastHidden.data<float>() + d * batch * hidden);
    std::ranges::copy(c, lastCell.data<float>() + d * batch * hidden);
  }
  const Tensor *results[] = {&y, &lastHidden, &lastCell};
  for (int64_t i = 0; i < 3; ++i)
    if (call.wants(i))
      call.give(i, *results[i]);
}

} // namespace tilewright::reference
