// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of one tensor: y[i] = f(x[i]).
//
// Functions of floats only are rows of a table; those that also take integers, or have attributes, are lambdas in their
// kernels.
#include "runtime/reference/Kernels.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tilewright::reference {

//===- Functions of floats ----------------------------------------------------------------------------------------===//

static double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
static double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
static double geluExact(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
static double geluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

struct FloatFunction {
  std::string_view op;
  double (*function)(double);
};

static constexpr FloatFunction floatFunctions[] = {
    {"Acos", [](double x) { return std::acos(x); }},
    {"Acosh", [](double x) { return std::acosh(x); }},
    {"Asin", [](double x) { return std::asin(x); }},
    {"Asinh", [](double x) { return std::asinh(x); }},
    {"Atan", [](double x) { return std::atan(x); }},
    {"Atanh", [](double x) { return std::atanh(x); }},
    {"Ceil", [](double x) { return std::ceil(x); }},
    {"Cos", [](double x) { return std::cos(x); }},
    {"Cosh", [](double x) { return std::cosh(x); }},
    {"Erf", [](double x) { return std::erf(x); }},
    {"Exp", [](double x) { return std::exp(x); }},
    {"Floor", [](double x) { return std::floor(x); }},
    {"HardSwish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {"Log", [](double x) { return std::log(x); }},
    {"Mish", [](double x) { return x * std::tanh(softplus(x)); }},
    {"Reciprocal", [](double x) { return 1 / x; }},
    {"Round", [](double x) { return std::nearbyint(x); }}, // to nearest even, the default rounding mode
    {"Sigmoid", sigmoid},
    {"Sin", [](double x) { return std::sin(x); }},
    {"Sinh", [](double x) { return std::sinh(x); }},
    {"Softplus", softplus},
    {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
    {"Sqrt", [](double x) { return std::sqrt(x); }},
    {"Tan", [](double x) { return std::tan(x); }},
    {"Tanh", [](double x) { return std::tanh(x); }},
};

//===- Maps -------------------------------------------------------------------------------------------------------===//

/// Output of type `type`, with f applied in the arithmetic type of the input.
template <typename Function> static void map(Call &call, DType type, Function function) {
  const Tensor &x = call.input(0);
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(x);
    std::vector<decltype(function(zero))> results(values.size());
    for (int64_t i = 0; i < values.size(); ++i)
      results[i] = function(values[i]);
    call.give(0, type, x.shape(), results);
  });
}

template <typename Function> static void mapFloats(Call &call, Function function) {
  const Tensor &x = call.input(0);
  require(isFloat(x.type()), "expected a floating-point input, found {}", name(x.type()));
  Values<double> values(x);
  std::vector<double> results(values.size());
  for (int64_t i = 0; i < values.size(); ++i)
    results[i] = function(values[i]);
  call.give(0, x.type(), x.shape(), results);
}

void unaryFloat(Call &call) {
  for (const FloatFunction &row : floatFunctions)
    if (row.op == call.op())
      return mapFloats(call, row.function);
  throw Failure{Status(Code::Internal, "no such function of floats")};
}

//===- Also for integers ------------------------------------------------------------------------------------------===//

static void expectNumbers(Call &call) { require(call.input(0).type() != DType::Bool, "expected numbers, found bool"); }

static int64_t negated(int64_t x) {
  return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
} // wraps at the smallest one

void absolute(Call &call) {
  expectNumbers(call);
  map(call, call.input(0).type(), [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_same_v<T, double>)
      return std::abs(x);
    else if constexpr (std::is_same_v<T, int64_t>)
      return x < 0 ? negated(x) : x;
    else
      return x;
  });
}

void negate(Call &call) {
  require(isSigned(call.input(0).type()), "expected a signed type, found {}", name(call.input(0).type()));
  map(call, call.input(0).type(), [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_same_v<T, double>)
      return -x;
    else
      return static_cast<T>(0 - static_cast<uint64_t>(x));
  });
}

void sign(Call &call) {
  expectNumbers(call);
  map(call, call.input(0).type(), [](auto x) {
    using T = decltype(x);
    return x != x ? x : static_cast<T>((x > T{}) - (x < T{}));
  });
}

void relu(Call &call) {
  expectNumbers(call);
  map(call, call.input(0).type(), [](auto x) { return x < decltype(x){} ? decltype(x){} : x; }); // NaN propagates
}

void logicalNot(Call &call) {
  require(call.input(0).type() == DType::Bool, "expected bool, found {}", name(call.input(0).type()));
  map(call, DType::Bool, [](auto x) -> uint64_t { return x == decltype(x){}; });
}

void bitwiseNot(Call &call) {
  require(!isFloat(call.input(0).type()), "expected integers, found {}", name(call.input(0).type()));
  map(call, call.input(0).type(), [](auto x) {
    if constexpr (std::is_same_v<decltype(x), double>)
      return x;
    else
      return static_cast<decltype(x)>(~x);
  });
}

void isNaN(Call &call) {
  map(call, DType::Bool, [](auto x) -> uint64_t { return x != x; });
}

void isInf(Call &call) {
  bool positive = call.integer("detect_positive", 1), negative = call.integer("detect_negative", 1);
  map(call, DType::Bool, [=](auto x) -> uint64_t {
    double value = static_cast<double>(x);
    return std::isinf(value) && (value > 0 ? positive : negative);
  });
}

void shrink(Call &call) {
  expectNumbers(call);
  double lambda = call.real("lambd", 0.5), bias = call.real("bias", 0);
  map(call, call.input(0).type(), [=](auto x) {
    double value = static_cast<double>(x);
    return value < -lambda ? value + bias : value > lambda ? value - bias : value != value ? value : 0.0;
  });
}

/// Limits are attributes before opset 11, optional scalar inputs since. If min > max the result is max.
void clip(Call &call) {
  expectNumbers(call);
  dispatch(call.input(0).type(), [&](auto zero) {
    using T = decltype(zero);
    std::optional<T> low, high;
    if (call.opset() < 11) {
      if (call.hasAttribute("min"))
        low = static_cast<T>(call.real("min", 0));
      if (call.hasAttribute("max"))
        high = static_cast<T>(call.real("max", 0));
    }
    auto limit = [&](int64_t i) {
      require(call.input(i).count() == 1 && call.input(i).type() == call.input(0).type(),
              "expected a scalar limit of {}, found {} of shape {}", name(call.input(0).type()),
              name(call.input(i).type()), call.input(i).shape());
      return Values<T>(call.input(i))[0];
    };
    if (call.opset() >= 11 && call.has(1))
      low = limit(1);
    if (call.opset() >= 11 && call.has(2))
      high = limit(2);
    map(call, call.input(0).type(), [=](auto element) {
      T x = static_cast<T>(element);
      if (low && x < *low)
        x = *low;
      return high && x > *high ? *high : x;
    });
  });
}

//===- With attributes --------------------------------------------------------------------------------------------===//

void leakyRelu(Call &call) {
  double alpha = call.real("alpha", 0.01);
  mapFloats(call, [=](double x) { return x < 0 ? alpha * x : x; });
}

void elu(Call &call) {
  double alpha = call.real("alpha", 1);
  mapFloats(call, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

void selu(Call &call) {
  double alpha = call.real("alpha", 1.67326319217681884765625), gamma = call.real("gamma", 1.05070102214813232421875);
  mapFloats(call, [=](double x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); });
}

void celu(Call &call) {
  double alpha = call.real("alpha", 1);
  require(alpha != 0, "expected an alpha other than 0");
  mapFloats(call, [=](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}

void thresholdedRelu(Call &call) {
  double alpha = call.real("alpha", 1);
  mapFloats(call, [=](double x) { return x <= alpha ? 0 : x; });
}

void hardSigmoid(Call &call) {
  double alpha = call.real("alpha", 0.2), beta = call.real("beta", 0.5);
  mapFloats(call, [=](double x) { return x != x ? x : std::clamp(alpha * x + beta, 0.0, 1.0); });
}

void swish(Call &call) {
  double alpha = call.real("alpha", 1);
  mapFloats(call, [=](double x) { return x * sigmoid(alpha * x); });
}

void gelu(Call &call) {
  std::string approximate = call.text("approximate", "none");
  require(approximate == "none" || approximate == "tanh", "expected approximate to be none or tanh, found '{}'",
          approximate);
  mapFloats(call, approximate == "tanh" ? geluTanh : geluExact);
}

void quickGelu(Call &call) {
  double alpha = call.real("alpha", 1.702);
  mapFloats(call, [=](double x) { return x * sigmoid(alpha * x); });
}

/// com.microsoft: Gelu(x + bias), with the tanh form for FastGelu, whose bias is optional.
void biasGelu(Call &call) {
  auto function = call.op() == "FastGelu" ? geluTanh : geluExact;
  if (!call.has(1))
    return mapFloats(call, function);
  const Tensor &x = call.input(0), &bias = call.input(1);
  require(bias.rank() == 1 && x.rank() > 0 && bias.shape()[0] == x.shape().back(),
          "expected a bias of the last dimension of {}, found {}", x.shape(), bias.shape());
  Values<double> values(x), biases(bias);
  std::vector<double> results(values.size());
  for (int64_t i = 0; i < values.size(); ++i)
    results[i] = function(values[i] + biases[i % biases.size()]);
  call.give(0, x.type(), x.shape(), results);
}

} // namespace tilewright::reference
