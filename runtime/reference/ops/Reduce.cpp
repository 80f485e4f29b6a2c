// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of axes: init, one or two passes of update, finish.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <cmath>
#include <limits>

namespace tilewright::reference {

/// The reduced axes, from attribute or input, and the resulting shapes.
struct Reduction {
  Shape input, kept, result; // `kept` has 1 for each reduced axis
  std::vector<bool> reduced;

  explicit Reduction(Call &call) : input(call.input(0).shape()), kept(input), reduced(input.size()) {
    bool axesAreInput = call.opset() >= (call.op() == "ReduceSum" ? 13 : 18);
    std::vector<int64_t> axes;
    if (!axesAreInput)
      axes = call.integers("axes").value_or(axes);
    else if (call.has(1))
      axes = call.indices(1);
    if (axes.empty() && !(axesAreInput && call.integer("noop_with_empty_axes", 0)))
      reduced.assign(input.size(), true);
    for (int64_t axis : normalizeAxes(axes, static_cast<int64_t>(input.size())))
      reduced[axis] = true;
    bool keep = call.integer("keepdims", 1);
    for (size_t d = 0; d < input.size(); ++d) {
      if (reduced[d])
        kept[d] = 1;
      if (!reduced[d] || keep)
        result.push_back(kept[d]);
    }
  }

  int64_t length() const {
    int64_t count = 1;
    for (size_t d = 0; d < input.size(); ++d)
      count *= reduced[d] ? input[d] : 1;
    return count;
  }

  /// Calls update(accumulator, value) for every element of the input, with the accumulator of its result.
  template <typename T, typename Update> void pass(const Values<T> &values, std::vector<T> &sums, Update update) const {
    walk(input, std::array{stridesOf(input), broadcastStrides(kept, input)},
         [&](const auto &at) { update(sums[at[1]], values[at[0]]); });
  }
};

template <typename T, typename Update> static void reduce(Call &call, T init, Update update) {
  Reduction plan(call);
  checkSize(call.input(0).type(), plan.kept);
  std::vector<T> sums(product(plan.kept), init);
  plan.pass(Values<T>(call.input(0)), sums, update);
  call.give(0, call.input(0).type(), plan.result, sums);
}

/// In double for every type, because `finish` is a function of reals.
template <typename Update, typename Finish> static void reduceReal(Call &call, Update update, Finish finish) {
  Reduction plan(call);
  checkSize(call.input(0).type(), plan.kept);
  std::vector<double> sums(product(plan.kept));
  plan.pass(Values<double>(call.input(0)), sums, update);
  for (double &value : sums)
    value = finish(value, static_cast<double>(plan.length()));
  call.give(0, call.input(0).type(), plan.result, sums);
}

/// Integers are summed as unsigned ones, which wrap.
template <typename Update> static void reduceSum(Call &call, Update update, int init = 0) {
  require(call.input(0).type() != DType::Bool, "the operator does not take bool");
  if (isFloat(call.input(0).type()))
    return reduce<double>(call, init, update);
  reduce<uint64_t>(call, init, update);
}

void reduceSum(Call &call) {
  reduceSum(call, [](auto &sum, auto x) { sum += x; });
}
void reduceProd(Call &call) {
  reduceSum(call, [](auto &sum, auto x) { sum *= x; }, 1);
}
void reduceSumSquare(Call &call) {
  reduceSum(call, [](auto &sum, auto x) { sum += x * x; });
}

void reduceL1(Call &call) {
  reduceSum(call, [](auto &sum, auto x) {
    if constexpr (std::is_same_v<decltype(x), double>)
      sum += std::abs(x);
    else
      sum += static_cast<int64_t>(x) < 0 ? 0 - x : x;
  });
}

void reduceMax(Call &call) {
  dispatch(call.input(0).type(), [&](auto zero) {
    using T = decltype(zero);
    T init{};
    if constexpr (std::is_same_v<T, double>)
      init = -std::numeric_limits<double>::infinity();
    else if constexpr (std::is_same_v<T, int64_t>)
      init = std::numeric_limits<int64_t>::min() >> (64 - 8 * elementBytes(call.input(0).type()));
    reduce<T>(call, init, [](T &best, T x) { best = best != best || best > x ? best : x; }); // NaN propagates
  });
}

void reduceMin(Call &call) {
  DType type = call.input(0).type();
  dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    T init = std::numeric_limits<T>::max();
    if constexpr (std::is_same_v<T, double>)
      init = std::numeric_limits<double>::infinity();
    else
      init = type == DType::Bool ? 1 : init >> (64 - 8 * elementBytes(type));
    reduce<T>(call, init, [](T &best, T x) { best = best != best || best < x ? best : x; });
  });
}

static void accumulate(double &sum, double x) { sum += x; }

void reduceMean(Call &call) {
  reduceReal(call, accumulate, [](double sum, double n) { return sum / n; });
}
void reduceL2(Call &call) {
  reduceReal(call, [](double &sum, double x) { sum += x * x; }, [](double sum, double) { return std::sqrt(sum); });
}
void reduceLogSum(Call &call) {
  reduceReal(call, accumulate, [](double sum, double) { return std::log(sum); });
}

/// log(sum(exp(x - max))) + max: no exponential overflows.
void reduceLogSumExp(Call &call) {
  Reduction plan(call);
  Values<double> values(call.input(0));
  std::vector<double> peaks(product(plan.kept), -std::numeric_limits<double>::infinity());
  plan.pass(values, peaks, [](double &peak, double x) { peak = peak != peak || peak > x ? peak : x; });
  std::vector<double> sums(peaks.size());
  walk(plan.input, std::array{stridesOf(plan.input), broadcastStrides(plan.kept, plan.input)}, [&](const auto &at) {
    double peak = peaks[at[1]];
    sums[at[1]] += values[at[0]] == peak ? 1 : std::exp(values[at[0]] - peak); // avoids infinity - infinity
  });
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = peaks[i] + std::log(sums[i]);
  call.give(0, call.input(0).type(), plan.result, sums);
}

} // namespace tilewright::reference
