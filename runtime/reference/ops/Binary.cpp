// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of several tensors, broadcast to one shape: y[i] = f(a[i], b[i], ...).
//
// Integer arithmetic wraps. Integer division by zero and its remainder are 0, because a trap would let a model end the
// process; the smallest integer divided by -1 wraps to itself.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tilewright::reference {

enum class Accepts { Numbers, Integers, Booleans, NumbersAndBooleans };

static bool accepts(Accepts kind, DType type) {
  switch (kind) {
  case Accepts::Numbers:
    return type != DType::Bool;
  case Accepts::Integers:
    return type != DType::Bool && !isFloat(type);
  case Accepts::Booleans:
    return type == DType::Bool;
  case Accepts::NumbersAndBooleans:
    return true;
  }
  return false;
}

/// The right operand in the form of opset 7 and later. Before, it was broadcast only with `broadcast` = 1: its
/// dimensions are then those of the left operand from `axis` on, or the last ones by default.
static Tensor rightOperand(Call &call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (!call.before(7) || call.op() == "PRelu" || a.shape() == b.shape())
    return b;
  require(call.integer("broadcast", 0) == 1, "expected equal shapes because broadcast is 0, found {} and {}", a.shape(),
          b.shape());
  int64_t axis = call.integer("axis", a.rank() - b.rank()), behind = a.rank() - axis - b.rank();
  if (axis < 0)
    axis += a.rank(), behind -= a.rank();
  require(axis >= 0 && behind >= 0, "expected a right operand that fits {} from dimension {} on, found {}", a.shape(),
          axis, b.shape());
  Shape shape = b.shape();
  shape.resize(shape.size() + behind, 1);
  return b.reshaped(shape);
}

/// Operands of one type; the result has `type`, by default the operands'.
template <typename Function>
static void combine(Call &call, Accepts kind, std::optional<DType> type, Function function) {
  const Tensor &a = call.input(0), b = rightOperand(call);
  require(a.type() == b.type(), "expected operands of one type, found {} and {}", name(a.type()), name(b.type()));
  require(accepts(kind, a.type()), "the operator does not take operands of {}", name(a.type()));
  Shape shape = broadcast(a.shape(), b.shape());
  std::array strides{broadcastStrides(a.shape(), shape), broadcastStrides(b.shape(), shape)};
  checkSize(type.value_or(a.type()), shape);
  dispatch(a.type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> left(a), right(b);
    std::vector<decltype(function(zero, zero))> results(product(shape));
    auto *result = results.data();
    walkRows(shape, strides, [&](const auto &offsets, int64_t length, const auto &steps) {
      const T *x = left.data() + offsets[0], *y = right.data() + offsets[1];
      for (int64_t i = 0; i < length; ++i, x += steps[0], y += steps[1])
        *result++ = function(*x, *y);
    });
    call.give(0, type.value_or(a.type()), shape, results);
  });
}

/// Wrapping arithmetic: signed integers pass through unsigned ones.
template <typename T, typename Function> static T wrapping(T a, T b, Function function) {
  if constexpr (std::is_same_v<T, double>)
    return function(a, b);
  else
    return static_cast<T>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

void add(Call &call) {
  combine(call, Accepts::Numbers, {}, [](auto a, auto b) { return wrapping(a, b, std::plus<>()); });
}
void subtract(Call &call) {
  combine(call, Accepts::Numbers, {}, [](auto a, auto b) { return wrapping(a, b, std::minus<>()); });
}
void multiply(Call &call) {
  combine(call, Accepts::Numbers, {}, [](auto a, auto b) { return wrapping(a, b, std::multiplies<>()); });
}

template <typename T> static T quotient(T a, T b) {
  if constexpr (std::is_same_v<T, double>)
    return a / b;
  else if (b == T{0})
    return 0;
  else if constexpr (std::is_same_v<T, int64_t>)
    return b == -1 ? wrapping<T>(0, a, std::minus<>()) : a / b;
  else
    return a / b;
}

void divide(Call &call) {
  combine(call, Accepts::Numbers, {}, [](auto a, auto b) { return quotient(a, b); });
}

/// The remainder with the sign of the divisor, or of the dividend if `truncated` (fmod = 1). For floats as in Python
/// and NumPy: a zero takes the sign of the divisor, and for an infinite divisor of the other sign the result is the
/// divisor.
template <typename T> static T remainder(T a, T b, bool truncated) {
  if constexpr (std::is_same_v<T, double>) {
    double rest = std::fmod(a, b);
    if (truncated || rest != rest)
      return rest;
    if (rest == 0)
      return std::copysign(0.0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    T rest = b == T{0} || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? T{0} : static_cast<T>(a % b);
    return !truncated && rest != 0 && (rest < T{0}) != (b < T{0}) ? static_cast<T>(rest + b) : rest;
  }
}

void modulo(Call &call) {
  int64_t fmod = call.integer("fmod", 0);
  require(fmod == 0 || fmod == 1, "expected fmod to be 0 or 1, found {}", fmod);
  combine(call, Accepts::Numbers, {}, [=](auto a, auto b) { return remainder(a, b, fmod != 0); });
}

void logicalAnd(Call &call) {
  combine(call, Accepts::Booleans, DType::Bool, [](auto a, auto b) -> uint64_t { return a && b; });
}
void logicalOr(Call &call) {
  combine(call, Accepts::Booleans, DType::Bool, [](auto a, auto b) -> uint64_t { return a || b; });
}
void logicalXor(Call &call) {
  combine(call, Accepts::Booleans, DType::Bool, [](auto a, auto b) -> uint64_t { return !a != !b; });
}

void equal(Call &call) {
  combine(call, Accepts::NumbersAndBooleans, DType::Bool, [](auto a, auto b) -> uint64_t { return a == b; });
}
void less(Call &call) {
  combine(call, Accepts::Numbers, DType::Bool, [](auto a, auto b) -> uint64_t { return a < b; });
}
void lessOrEqual(Call &call) {
  combine(call, Accepts::Numbers, DType::Bool, [](auto a, auto b) -> uint64_t { return a <= b; });
}
void greater(Call &call) {
  combine(call, Accepts::Numbers, DType::Bool, [](auto a, auto b) -> uint64_t { return a > b; });
}
void greaterOrEqual(Call &call) {
  combine(call, Accepts::Numbers, DType::Bool, [](auto a, auto b) -> uint64_t { return a >= b; });
}

/// For integers. `combine` refuses floats, but the code must compile for double too.
template <typename Function> static auto onBits(Function function) {
  return [=](auto a, auto b) {
    if constexpr (std::is_same_v<decltype(a), double>)
      return a;
    else
      return static_cast<decltype(a)>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  };
}

void bitwiseAnd(Call &call) { combine(call, Accepts::Integers, {}, onBits(std::bit_and<>())); }
void bitwiseOr(Call &call) { combine(call, Accepts::Integers, {}, onBits(std::bit_or<>())); }
void bitwiseXor(Call &call) { combine(call, Accepts::Integers, {}, onBits(std::bit_xor<>())); }

void bitShift(Call &call) {
  std::string direction = call.text("direction", "");
  require(direction == "LEFT" || direction == "RIGHT", "expected direction to be LEFT or RIGHT, found '{}'", direction);
  bool left = direction == "LEFT";
  uint64_t width = 8 * elementBytes(call.input(0).type());
  combine(call, Accepts::Integers, {}, [=](auto a, auto b) {
    // A shift by the width or more, or by a negative amount, leaves copies of the sign bit.
    uint64_t by = static_cast<uint64_t>(b);
    if constexpr (std::is_same_v<decltype(a), double>)
      return a; // not reached: refused above
    else if (left)
      return by < width ? static_cast<decltype(a)>(static_cast<uint64_t>(a) << by) : 0;
    else
      return static_cast<decltype(a)>(by < width ? a >> by : a < 0 ? -1 : 0);
  });
}

/// The slope broadcasts to x, never the other way. Before opset 7, a vector of slopes is one for each channel.
void prelu(Call &call) {
  const Tensor &slopes = call.input(1);
  if (call.before(7) && slopes.count() > 1 && slopes.rank() == 1 && call.input(0).rank() >= 2) {
    Shape perChannel(call.input(0).rank() - 1, 1);
    perChannel[0] = slopes.count();
    call.replaceInput(1, slopes.reshaped(perChannel));
  }
  broadcastStrides(call.input(1).shape(), call.input(0).shape());
  combine(call, Accepts::Numbers, {},
          [](auto x, auto slope) { return x < decltype(x){} ? wrapping(x, slope, std::multiplies<>()) : x; });
}

/// a * sigmoid(alpha * a) * b, without broadcasting.
void swiGlu(Call &call) {
  require(call.input(0).shape() == call.input(1).shape() && isFloat(call.input(0).type()),
          "expected floats of equal shapes, found {} and {}", call.input(0).shape(), call.input(1).shape());
  double alpha = call.real("alpha", 1);
  combine(call, Accepts::Numbers, {}, [=](auto a, auto b) {
    double gate = static_cast<double>(a);
    return static_cast<decltype(a)>(gate / (1 + std::exp(-alpha * gate)) * static_cast<double>(b));
  });
}

//===- Mixed types ------------------------------------------------------------------------------------------------===//

static uint64_t integerPower(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

/// The result has the base's type. An integer to an integer power is exact modulo 2^width; to a negative power it is
/// truncated.
void power(Call &call) {
  const Tensor &base = call.input(0), exponent = rightOperand(call);
  require(base.type() != DType::Bool && exponent.type() != DType::Bool, "the operator does not take bool");
  Shape shape = broadcast(base.shape(), exponent.shape());
  std::array strides{broadcastStrides(base.shape(), shape), broadcastStrides(exponent.shape(), shape)};
  checkSize(base.type(), shape);
  auto apply = [&](auto zero, auto function) {
    using T = decltype(zero);
    Values<T> x(base), y(exponent);
    std::vector<T> results;
    results.reserve(product(shape));
    walk(shape, strides, [&](const auto &at) { results.push_back(function(x[at[0]], y[at[1]])); });
    call.give(0, base.type(), shape, results);
  };
  if (isFloat(base.type()) || isFloat(exponent.type()))
    return apply(double{}, [](double x, double y) { return std::pow(x, y); });
  apply(int64_t{}, [](int64_t x, int64_t y) {
    if (y < 0) // 1/x^|y| truncates to 0 except for x = 1 and -1
      return x == 1 ? int64_t{1} : x == -1 ? (y % 2 ? int64_t{-1} : int64_t{1}) : int64_t{0};
    return static_cast<int64_t>(integerPower(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
  });
}

//===- Any number of operands -------------------------------------------------------------------------------------===//

template <typename T, typename Function>
static std::vector<T> foldOperands(Call &call, const Shape &shape, Function function) {
  std::vector<T> results(product(shape));
  for (int64_t k = 0; k < call.inputCount(); ++k) {
    Values<T> values(call.input(k));
    int64_t i = 0;
    walk(shape, std::array{broadcastStrides(call.input(k).shape(), shape)}, [&](const auto &at) {
      results[i] = k == 0 ? values[at[0]] : function(results[i], values[at[0]]);
      ++i;
    });
  }
  return results;
}

template <typename Function, typename Finish> static void combineAll(Call &call, Function function, Finish finish) {
  DType type = call.input(0).type();
  Shape shape = call.input(0).shape();
  for (int64_t k = 0; k < call.inputCount(); ++k) {
    require(call.input(k).type() == type, "expected operands of one type, found {} and {}", name(type),
            name(call.input(k).type()));
    shape = broadcast(shape, call.input(k).shape());
  }
  require(type != DType::Bool, "the operator does not take operands of bool");
  checkSize(type, shape);
  dispatch(type, [&](auto zero) {
    auto results = foldOperands<decltype(zero)>(call, shape, function);
    for (auto &result : results)
      result = finish(result);
    call.give(0, type, shape, results);
  });
}

void sum(Call &call) {
  combineAll(call, [](auto a, auto b) { return wrapping(a, b, std::plus<>()); }, std::identity());
}

void mean(Call &call) {
  require(isFloat(call.input(0).type()), "expected floating-point operands, found {}", name(call.input(0).type()));
  double count = static_cast<double>(call.inputCount());
  combineAll(
      call, [](auto a, auto b) { return wrapping(a, b, std::plus<>()); },
      [=](auto total) { return static_cast<decltype(total)>(static_cast<double>(total) / count); });
}

void maximum(Call &call) {
  combineAll(call, [](auto a, auto b) { return a != a || a > b ? a : b; }, std::identity()); // NaN propagates
}

void minimum(Call &call) {
  combineAll(call, [](auto a, auto b) { return a != a || a < b ? a : b; }, std::identity());
}

} // namespace tilewright::reference
