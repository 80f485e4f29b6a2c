// Operators that draw random numbers: RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial.
//
// The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Its key is the bits of the
// attribute `seed`, its counter the index of the element, so that a result depends on nothing but the node. Import gives nodes
// without a seed one of their own, by their place in the model.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace tilewright::reference {

namespace {

class Philox {
public:
  explicit Philox(Call &call) : key_(std::bit_cast<uint32_t>(static_cast<float>(call.real("seed", 0)))) {}

  /// Two numbers of (0, 1), each with 53 bits, for the element `index`.
  std::pair<double, double> pair(uint64_t index) const {
    std::array<uint32_t, 4> words = block(index);
    auto unit = [](uint32_t high, uint32_t low) { // in the middle of its 2^-53th, so never 0 or 1
      return (static_cast<double>((uint64_t{high} << 32 | low) >> 11) + 0.5) * 0x1p-53;
    };
    return {unit(words[0], words[1]), unit(words[2], words[3])};
  }
  double uniform(uint64_t index) const { return pair(index).first; }
  /// By Box and Muller.
  double normal(uint64_t index) const {
    auto [a, b] = pair(index);
    return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
  }

private:
  std::array<uint32_t, 4> block(uint64_t index) const {
    std::array<uint32_t, 4> x{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0};
    uint32_t low = key_, high = 0;
    for (int round = 0; round < 10; ++round) {
      uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ low, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ x[3] ^ high,
           static_cast<uint32_t>(a)};
      low += 0x9E3779B9, high += 0xBB67AE85;
    }
    return x;
  }

  uint32_t key_;
};

template <typename Draw> void give(Call &call, DType type, const Shape &shape, Draw draw) {
  checkSize(type, shape);
  std::vector<double> values(product(shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = draw(i);
  call.give(0, type, shape, values);
}

void expectFloat(DType type) { require(isFloat(type), "expected a floating-point dtype, found {}", name(type)); }

} // namespace

static void drawUniform(Call &call, DType type, const Shape &shape) {
  expectFloat(type);
  Philox random(call);
  double low = call.real("low", 0), high = call.real("high", 1);
  give(call, type, shape, [&](size_t i) { return low + (high - low) * random.uniform(i); });
}

static void drawNormal(Call &call, DType type, const Shape &shape) {
  expectFloat(type);
  Philox random(call);
  double mean = call.real("mean", 0), scale = call.real("scale", 1);
  give(call, type, shape, [&](size_t i) { return mean + scale * random.normal(i); });
}

static DType typeOr(Call &call, DType otherwise) { return static_cast<DType>(call.integer("dtype", static_cast<int64_t>(otherwise))); }

static Shape shapeAttribute(Call &call) {
  auto shape = call.integers("shape");
  require(shape.has_value(), "expected the attribute 'shape'");
  return *shape;
}

void randomUniform(Call &call) { drawUniform(call, typeOr(call, DType::F32), shapeAttribute(call)); }
void randomNormal(Call &call) { drawNormal(call, typeOr(call, DType::F32), shapeAttribute(call)); }
void randomUniformLike(Call &call) { drawUniform(call, typeOr(call, call.input(0).type()), call.input(0).shape()); }
void randomNormalLike(Call &call) { drawNormal(call, typeOr(call, call.input(0).type()), call.input(0).shape()); }

/// 1 with the probability that the input says for each element.
void bernoulli(Call &call) {
  const Tensor &x = call.input(0);
  expectFloat(x.type());
  Philox random(call);
  Values<double> chances(x);
  give(call, typeOr(call, x.type()), x.shape(), [&](size_t i) { return random.uniform(i) < chances[static_cast<int64_t>(i)] ? 1.0 : 0.0; });
}

/// [batch, classes] of log-probabilities, up to a constant, to [batch, sample_size] of classes, by the inverse of their distribution.
void multinomial(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() == 2 && isFloat(x.type()) && x.shape()[1] > 0, "expected floats [batch, classes], found {} of shape {}", name(x.type()),
          x.shape());
  int64_t batch = x.shape()[0], classes = x.shape()[1], samples = call.integer("sample_size", 1);
  DType type = typeOr(call, DType::I32);
  require(type == DType::I32 || type == DType::I64, "expected dtype to be int32 or int64, found {}", name(type));
  checkSize(type, {batch, samples});
  Philox random(call);
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
      double at = random.uniform(static_cast<uint64_t>(b * samples + s)) * sum;
      auto found = std::upper_bound(upTo.begin(), upTo.end(), at);
      result.push_back(std::min<int64_t>(found - upTo.begin(), classes - 1));
    }
  }
  call.give(0, type, {batch, samples}, result);
}

} // namespace tilewright::reference
