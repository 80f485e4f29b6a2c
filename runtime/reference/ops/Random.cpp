// SPDX-License-Identifier: Apache-2.0
// Operators that draw random numbers: RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial, Dropout in
// training.
//
// The generator is MT19937, seeded and converted to doubles as in NumPy's RandomState, because ONNX's tests are
// generated with it: equal seeds draw the same numbers as onnx.reference, where that is specified. Elements are drawn
// in row-major order, so that a result depends on the node only. Import gives nodes without a seed one by their
// position in the model.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace tilewright::reference {

namespace {

class Generator {
public:
  /// A fractional seed is replaced by its bits.
  explicit Generator(double seed)
      : twister_(seed >= 0 && seed < 0x1p32 && seed == std::floor(seed)
                     ? static_cast<uint32_t>(seed)
                     : std::bit_cast<uint32_t>(static_cast<float>(seed))) {}

  /// Uniform in [0, 1) with 53 random bits.
  double uniform() {
    auto high = static_cast<double>(twister_() >> 5), low = static_cast<double>(twister_() >> 6);
    return (high * 0x1p26 + low) * 0x1p-53;
  }
  /// Normally distributed, by the method of Box and Muller.
  double normal() {
    double size = std::sqrt(-2 * std::log(1 - uniform()));
    return size * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  std::mt19937 twister_;
};

template <typename Draw> void give(Call &call, DType type, const Shape &shape, Draw draw) {
  checkSize(type, shape);
  std::vector<double> values(product(shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = draw(static_cast<int64_t>(i));
  call.give(0, type, shape, values);
}

void expectFloat(DType type) { require(isFloat(type), "expected a floating-point dtype, found {}", name(type)); }

} // namespace

static void drawUniform(Call &call, DType type, const Shape &shape) {
  expectFloat(type);
  Generator random(call.real("seed", 0));
  double low = call.real("low", 0), high = call.real("high", 1);
  give(call, type, shape, [&](int64_t) { return low + (high - low) * random.uniform(); });
}

static void drawNormal(Call &call, DType type, const Shape &shape) {
  expectFloat(type);
  Generator random(call.real("seed", 0));
  double mean = call.real("mean", 0), scale = call.real("scale", 1);
  give(call, type, shape, [&](int64_t) { return mean + scale * random.normal(); });
}

static DType typeOr(Call &call, DType otherwise) {
  return static_cast<DType>(call.integer("dtype", static_cast<int64_t>(otherwise)));
}

static Shape shapeAttribute(Call &call) {
  auto shape = call.integers("shape");
  require(shape.has_value(), "expected the attribute 'shape'");
  return *shape;
}

void randomUniform(Call &call) { drawUniform(call, typeOr(call, DType::F32), shapeAttribute(call)); }
void randomNormal(Call &call) { drawNormal(call, typeOr(call, DType::F32), shapeAttribute(call)); }
void randomUniformLike(Call &call) { drawUniform(call, typeOr(call, call.input(0).type()), call.input(0).shape()); }
void randomNormalLike(Call &call) { drawNormal(call, typeOr(call, call.input(0).type()), call.input(0).shape()); }

/// 1 with the probability that the input gives for each element, else 0.
void bernoulli(Call &call) {
  const Tensor &x = call.input(0);
  expectFloat(x.type());
  Generator random(call.real("seed", 0));
  Values<double> chances(x);
  give(call, typeOr(call, x.type()), x.shape(), [&](int64_t i) { return random.uniform() < chances[i] ? 1.0 : 0.0; });
}

/// Samples [batch, sample_size] classes from [batch, classes] unnormalized log-probabilities, by inverting the
/// cumulative distribution.
void multinomial(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() == 2 && isFloat(x.type()) && x.shape()[1] > 0,
          "expected floats [batch, classes], found {} of shape {}", name(x.type()), x.shape());
  int64_t batch = x.shape()[0], classes = x.shape()[1], samples = call.integer("sample_size", 1);
  DType type = typeOr(call, DType::I32);
  require(type == DType::I32 || type == DType::I64, "expected dtype to be int32 or int64, found {}", name(type));
  checkSize(type, {batch, samples});
  Generator random(call.real("seed", 0));
  Values<double> logits(x);
  std::vector<int64_t> result;
  std::vector<double> upTo(classes);
  for (int64_t b = 0; b < batch; ++b) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      most = std::max(most, logits[b * classes + c]);
    for (int64_t c = 0; c < classes; ++c)
      upTo[c] = sum += std::exp(logits[b * classes + c] - most);
    for (int64_t s = 0; s < samples; ++s) {
      double at = random.uniform() * sum;
      auto found = std::upper_bound(upTo.begin(), upTo.end(), at);
      result.push_back(std::min<int64_t>(found - upTo.begin(), classes - 1));
    }
  }
  call.give(0, type, {batch, samples}, result);
}

/// In inference, the identity with a mask of ones. In training, drops elements with probability `ratio` and scales the
/// others by 1 / (1 - ratio).
void dropout(Call &call) {
  const Tensor &x = call.input(0);
  bool training = !call.before(12) && call.has(2) && call.scalar(2) != 0;
  double ratio = !call.before(12) && call.has(1) ? call.scalar(1) : 0.5;
  require(!training || (ratio >= 0 && ratio < 1), "expected a ratio from 0 to 1, found {}", ratio);
  std::vector<int64_t> kept(x.count(), call.opset() >= 12); // zeros before, as in ONNX Runtime
  if (!training || ratio == 0) {
    call.give(0, x);
  } else {
    Generator random(static_cast<double>(call.integer("seed", 0)));
    Values<double> values(x);
    std::vector<double> result(values.size());
    for (int64_t i = 0; i < values.size(); ++i) {
      kept[i] = random.uniform() >= ratio;
      result[i] = kept[i] ? values[i] / (1 - ratio) : 0;
    }
    call.give(0, x.type(), x.shape(), result);
  }
  if (call.wants(1))
    call.give(1, call.opset() >= 10 ? DType::Bool : x.type(), x.shape(), kept);
}

} // namespace tilewright::reference
