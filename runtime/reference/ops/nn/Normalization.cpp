// SPDX-License-Identifier: Apache-2.0
// Normalizations: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, over different sets of elements.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <cmath>

namespace tilewright::reference {

struct Moments {
  double mean, variance;
};

static Moments moments(std::span<const double> values) {
  double sum = 0, squares = 0, count = static_cast<double>(values.size());
  for (double x : values)
    sum += x;
  double mean = sum / count;
  for (double x : values)
    squares += (x - mean) * (x - mean);
  return {mean, squares / count};
}

static Values<double> perChannel(Call &call, int64_t i, int64_t channels) {
  require(call.input(i).shape() == Shape{channels}, "expected input {} of shape [{}], found {}", i, channels,
          call.input(i).shape());
  return Values<double>(call.input(i));
}

/// x as batch x channels x inner.
struct Channels {
  int64_t batch = 1, channels = 1, inner = 1;
  explicit Channels(const Tensor &x) {
    require(x.rank() >= 1 && isFloat(x.type()), "expected floats of rank 1 or more, found {} of shape {}",
            name(x.type()), x.shape());
    if (x.rank() == 1) { // BatchNormalization of a vector: one channel
      batch = x.shape()[0];
      return;
    }
    batch = x.shape()[0], channels = x.shape()[1], inner = product(std::span(x.shape()).subspan(2));
  }
};

static void batchNormalizationTraining(Call &call, const Channels &view, double epsilon);

void batchNormalization(Call &call) {
  const Tensor &x = call.input(0);
  Channels view(x);
  double epsilon = call.real("epsilon", 1e-5);
  if (call.opset() >= 14 && call.integer("training_mode", 0))
    return batchNormalizationTraining(call, view, epsilon);
  if (call.opset() < 9 && call.integer("spatial", 1) == 0) { // each element of a sample has its own statistics
    view.channels *= view.inner;
    view.inner = 1;
  }
  auto parameter = [&](int64_t i) {
    require(call.input(i).count() == view.channels, "expected {} elements in input {}, found shape {}", view.channels,
            i, call.input(i).shape());
    return Values<double>(call.input(i));
  };
  Values<double> values(x), scale = parameter(1), bias = parameter(2), mean = parameter(3), variance = parameter(4);
  std::vector<double> result(values.size());
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t c = i / view.inner % view.channels;
    result[i] = (values[i] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c];
  }
  call.give(0, x.type(), x.shape(), result);
}

/// Normalizes by the batch's statistics and updates the running ones.
static void batchNormalizationTraining(Call &call, const Channels &view, double epsilon) {
  const Tensor &x = call.input(0);
  double momentum = call.real("momentum", 0.9);
  Values<double> values(x), scale = perChannel(call, 1, view.channels), bias = perChannel(call, 2, view.channels),
                            mean = perChannel(call, 3, view.channels), variance = perChannel(call, 4, view.channels);
  std::vector<double> result(values.size()), channel(view.batch * view.inner), means(view.channels),
      variances(view.channels);
  for (int64_t c = 0; c < view.channels; ++c) {
    auto at = [&](int64_t n, int64_t i) { return (n * view.channels + c) * view.inner + i; };
    for (int64_t n = 0; n < view.batch; ++n)
      for (int64_t i = 0; i < view.inner; ++i)
        channel[n * view.inner + i] = values[at(n, i)];
    Moments own = moments(channel);
    for (int64_t n = 0; n < view.batch; ++n)
      for (int64_t i = 0; i < view.inner; ++i)
        result[at(n, i)] = (values[at(n, i)] - own.mean) / std::sqrt(own.variance + epsilon) * scale[c] + bias[c];
    means[c] = mean[c] * momentum + own.mean * (1 - momentum);
    variances[c] = variance[c] * momentum + own.variance * (1 - momentum);
  }
  call.give(0, x.type(), x.shape(), result);
  call.give(1, call.input(3).type(), {view.channels}, means);
  call.give(2, call.input(4).type(), {view.channels}, variances);
}

void instanceNormalization(Call &call) {
  const Tensor &x = call.input(0);
  Channels view(x);
  double epsilon = call.real("epsilon", 1e-5);
  Values<double> values(x), scale = perChannel(call, 1, view.channels), bias = perChannel(call, 2, view.channels);
  std::vector<double> result(values.size());
  for (int64_t n = 0; n < view.batch * view.channels; ++n) {
    Moments own = moments({values.data() + n * view.inner, static_cast<size_t>(view.inner)});
    for (int64_t i = n * view.inner; i < (n + 1) * view.inner; ++i)
      result[i] = (values[i] - own.mean) / std::sqrt(own.variance + epsilon) * scale[n % view.channels] +
                  bias[n % view.channels];
  }
  call.give(0, x.type(), x.shape(), result);
}

/// Scale and bias are per group in opset 18, per channel since 21.
void groupNormalization(Call &call) {
  const Tensor &x = call.input(0);
  Channels view(x);
  int64_t groups = call.integer("num_groups", 0);
  require(groups >= 1 && view.channels % groups == 0, "expected channels that divide into {} groups, found shape {}",
          groups, x.shape());
  int64_t perGroup = view.channels / groups, size = perGroup * view.inner;
  bool byGroup = call.opset() < 21;
  double epsilon = call.real("epsilon", 1e-5);
  int64_t parameters = byGroup ? groups : view.channels;
  Values<double> values(x), scale = perChannel(call, 1, parameters), bias = perChannel(call, 2, parameters);
  std::vector<double> result(values.size());
  for (int64_t n = 0; n < view.batch * groups; ++n) {
    Moments own = moments({values.data() + n * size, static_cast<size_t>(size)});
    for (int64_t i = n * size; i < (n + 1) * size; ++i) {
      int64_t c = i / view.inner % view.channels, p = byGroup ? c / perGroup : c;
      result[i] = (values[i] - own.mean) / std::sqrt(own.variance + epsilon) * scale[p] + bias[p];
    }
  }
  call.give(0, x.type(), x.shape(), result);
}

//===- Over trailing dimensions -----------------------------------------------------------------------------------===//

/// The elements of a scale or bias broadcast to x.
static std::vector<double> broadcastTo(const Tensor &parameter, const Shape &shape) {
  std::vector<double> result;
  result.reserve(product(shape));
  Values<double> values(parameter);
  walk(shape, std::array{broadcastStrides(parameter.shape(), shape)},
       [&](const auto &at) { result.push_back(values[at[0]]); });
  return result;
}

/// LayerNormalization, or RMSNormalization (no mean, no bias) if `centred` is false. Optional outputs: the mean and 1 /
/// deviation.
static void normalizeTrailing(Call &call, bool centred) {
  const Tensor &x = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", -1), x.rank());
  double epsilon = call.real("epsilon", 1e-5);
  int64_t rows = product(std::span(x.shape()).first(axis)), size = product(std::span(x.shape()).subspan(axis));
  Values<double> values(x);
  std::vector<double> scale = broadcastTo(call.input(1), x.shape()), bias, result(values.size()), means, inverses;
  if (centred && call.has(2))
    bias = broadcastTo(call.input(2), x.shape());
  for (int64_t row = 0; row < rows; ++row) {
    std::span<const double> own(values.data() + row * size, static_cast<size_t>(size));
    Moments of = moments(own);
    if (!centred)
      of = {0, of.variance + of.mean * of.mean}; // the mean square
    double inverse = 1 / std::sqrt(of.variance + epsilon);
    for (int64_t i = row * size; i < (row + 1) * size; ++i)
      result[i] = (values[i] - of.mean) * inverse * scale[i] + (bias.empty() ? 0 : bias[i]);
    means.push_back(of.mean);
    inverses.push_back(inverse);
  }
  call.give(0, call.input(1).type(), x.shape(), result);
  if (!centred)
    return;
  Shape statistics(x.shape().begin(), x.shape().begin() + axis);
  statistics.resize(x.shape().size(), 1);
  DType type = static_cast<DType>(call.integer("stash_type", static_cast<int64_t>(DType::F32)));
  if (call.wants(1))
    call.give(1, type, statistics, means);
  if (call.wants(2))
    call.give(2, type, statistics, inverses);
}

void layerNormalization(Call &call) { normalizeTrailing(call, true); }
void rmsNormalization(Call &call) { normalizeTrailing(call, false); }

/// com.microsoft: LayerNormalization of x + skip (+ bias); SkipSimplifiedLayerNormalization is its RMS form. Output 3
/// is the sum.
void skipLayerNormalization(Call &call) {
  const Tensor &x = call.input(0);
  bool simplified = call.op() == "SkipSimplifiedLayerNormalization";
  require(x.rank() >= 1, "expected rank 1 or more, found a scalar");
  int64_t size = x.shape().back();
  Values<double> gamma = perChannel(call, 2, size);
  auto optional = [&](int64_t i) {
    return i > 0 && call.has(i) ? std::optional(perChannel(call, i, size)) : std::nullopt;
  };
  auto beta = optional(simplified ? -1 : 3), bias = optional(simplified ? 3 : 4);
  double epsilon = call.real("epsilon", 1e-12);
  std::vector<double> sums = broadcastTo(call.input(1), x.shape()), result(sums.size());
  Values<double> values(x);
  for (int64_t first = 0; first < values.size(); first += size) {
    for (int64_t i = 0; i < size; ++i)
      sums[first + i] += values[first + i] + (bias ? (*bias)[i] : 0);
    Moments own = moments({sums.data() + first, static_cast<size_t>(size)});
    if (simplified)
      own = {0, own.variance + own.mean * own.mean};
    for (int64_t i = 0; i < size; ++i)
      result[first + i] =
          (sums[first + i] - own.mean) / std::sqrt(own.variance + epsilon) * gamma[i] + (beta ? (*beta)[i] : 0);
  }
  call.give(0, x.type(), x.shape(), result);
  if (call.wants(3))
    call.give(3, x.type(), x.shape(), sums);
}

//===- Others -----------------------------------------------------------------------------------------------------===//

/// Divides by (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta.
void lrn(Call &call) {
  const Tensor &x = call.input(0);
  Channels view(x);
  int64_t size = call.integer("size", 0);
  require(size >= 1, "expected a size of 1 or more, found {}", size);
  double alpha = call.real("alpha", 1e-4), beta = call.real("beta", 0.75), bias = call.real("bias", 1);
  Values<double> values(x);
  std::vector<double> result(values.size());
  size = std::min(size, 2 * view.channels + 1); // a wider window covers no more channels
  double share = alpha / static_cast<double>(call.integer("size", 0));
  for (int64_t n = 0; n < view.batch; ++n)
    for (int64_t c = 0; c < view.channels; ++c)
      for (int64_t i = 0; i < view.inner; ++i) {
        double squares = 0;
        int64_t last = std::min(view.channels - 1, c + size / 2);
        for (int64_t k = std::max<int64_t>(0, c - (size - 1) / 2); k <= last; ++k) {
          double value = values[(n * view.channels + k) * view.inner + i];
          squares += value * value;
        }
        int64_t at = (n * view.channels + c) * view.inner + i;
        result[at] = values[at] / std::pow(bias + share * squares, beta);
      }
  call.give(0, x.type(), x.shape(), result);
}

/// Divides by the norm along an axis; a norm of 0 gives zeros.
void lpNormalization(Call &call) {
  const Tensor &x = call.input(0);
  AxisView view(x.shape(), normalizeAxis(call.integer("axis", -1), x.rank()));
  int64_t p = call.integer("p", 2);
  require(p == 1 || p == 2, "expected p to be 1 or 2, found {}", p);
  Values<double> values(x);
  std::vector<double> result(values.size());
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.inner; ++i) {
      auto at = [&](int64_t k) { return (o * view.size + k) * view.inner + i; };
      double norm = 0;
      for (int64_t k = 0; k < view.size; ++k)
        norm += p == 1 ? std::abs(values[at(k)]) : values[at(k)] * values[at(k)];
      norm = p == 1 ? norm : std::sqrt(norm);
      for (int64_t k = 0; k < view.size; ++k)
        result[at(k)] = norm == 0 ? 0 : values[at(k)] / norm;
    }
  call.give(0, x.type(), x.shape(), result);
}

/// (x - mean) / deviation over the axes, which keep their dimensions.
void meanVarianceNormalization(Call &call) {
  const Tensor &x = call.input(0);
  Shape kept = x.shape();
  double count = 1;
  for (int64_t axis : normalizeAxes(call.integers("axes").value_or(Shape{0, 2, 3}), x.rank())) {
    count *= static_cast<double>(kept[axis]);
    kept[axis] = 1;
  }
  Values<double> values(x);
  std::vector<double> means(product(kept)), squares(means.size()), result(values.size());
  auto each = [&](auto visit) { // visit(i, group)
    walk(x.shape(), std::array{stridesOf(x.shape()), broadcastStrides(kept, x.shape())},
         [&](const auto &at) { visit(at[0], at[1]); });
  };
  each([&](int64_t i, int64_t group) { means[group] += values[i] / count; });
  each([&](int64_t i, int64_t group) {
    squares[group] += (values[i] - means[group]) * (values[i] - means[group]) / count;
  });
  each([&](int64_t i, int64_t group) { result[i] = (values[i] - means[group]) / (std::sqrt(squares[group]) + 1e-9); });
  call.give(0, x.type(), x.shape(), result);
}

} // namespace tilewright::reference
