// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: each is a formula on terms.
#include "frontend/ops/Handlers.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {
namespace {

bool isSigned(NodeBuilder &b, size_t i = 0) { return findDType(b.type(i))->isSigned; }

Term isNaN(NodeBuilder &b, Term x) { return b.compare(F::UNO, I::ne, x, x); }
Term greater(NodeBuilder &b, Term x, double value) { return b.compare(F::OGT, I::sgt, x, b.like(x, value)); }
Term less(NodeBuilder &b, Term x, double value) { return b.compare(F::OLT, I::slt, x, b.like(x, value)); }

/// log(1 + exp(x)) without overflow.
Term softplusOf(NodeBuilder &b, Term x) { return b.maximum(x, 0) + b.apply<math::Log1pOp>(b.exp(-b.abs(x))); }

template <typename Combine> void variadic(NodeBuilder &b, Combine combine) {
  Term result = b.in(0);
  for (size_t i = 1; i < b.node.inputs.size(); ++i)
    result = combine(result, b.in(i));
  b.out(result);
}

void comparison(NodeBuilder &b, F f, I whenSigned, I whenUnsigned) {
  bool asSigned = isSigned(b) && b.type(0) != DType::Bool;
  b.out(b.compare(f, asSigned ? whenSigned : whenUnsigned, b.in(0), b.in(1)), DType::Bool);
}

/// Computes integer exponents up to 4 by products and half-integers by square roots, which is more exact and much
/// cheaper than exp(y log x).
std::optional<Term> simplePower(NodeBuilder &b, Term x, double y) {
  if (y == 1)
    return x;
  if (y == 2)
    return x * x;
  if (y == 3)
    return x * x * x;
  if (y == 4)
    return (x * x) * (x * x);
  if (y == 0.5)
    return b.sqrt(x);
  if (y == -1)
    return 1.0 / x;
  if (y == -0.5)
    return 1.0 / b.sqrt(x);
  if (y == 0)
    return b.like(x, 1);
  return std::nullopt;
}

Term tanhGelu(NodeBuilder &b, Term x) {
  return 0.5 * x * (1.0 + b.tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))));
}
Term erfGelu(NodeBuilder &b, Term x) { return 0.5 * x * (1.0 + b.erf(x * 0.7071067811865476)); }

} // namespace

//===- Arithmetic -------------------------------------------------------------------------------------------------===//

void add(NodeBuilder &b) { b.out(b.in(0) + b.in(1)); }
void sub(NodeBuilder &b) { b.out(b.in(0) - b.in(1)); }
void mul(NodeBuilder &b) { b.out(b.in(0) * b.in(1)); }
void div(NodeBuilder &b) {
  b.out(isFloat(b.type(0)) ? b.in(0) / b.in(1) : b.divideIntegers(b.in(0), b.in(1), isSigned(b)));
}
void neg(NodeBuilder &b) { b.out(-b.in(0)); }
void abs(NodeBuilder &b) { isSigned(b) ? b.out(b.abs(b.in(0))) : b.forward(0); }
void reciprocal(NodeBuilder &b) { b.out(1.0 / b.in(0)); }
void sum(NodeBuilder &b) {
  variadic(b, [](Term x, Term y) { return x + y; });
}
void max(NodeBuilder &b) {
  variadic(b, [&](Term x, Term y) { return b.maximum(x, y, isSigned(b)); });
}
void min(NodeBuilder &b) {
  variadic(b, [&](Term x, Term y) { return b.minimum(x, y, isSigned(b)); });
}

void mean(NodeBuilder &b) {
  Term total = b.in(0);
  for (size_t i = 1; i < b.node.inputs.size(); ++i)
    total = total + b.in(i);
  b.out(total * (1.0 / static_cast<double>(b.node.inputs.size())));
}

void mod(NodeBuilder &b) {
  Term x = b.in(0), y = b.in(1);
  Term remainder = isFloat(b.type(0)) ? b.apply<arith::RemFOp>(x, y) : x - b.divideIntegers(x, y, isSigned(b)) * y;
  if (b.integer("fmod", 0) == 0 && isSigned(b)) { // the result has the sign of the divisor
    Term differ = b.apply<arith::AndIOp>(
        b.compare(F::ONE, I::ne, remainder, b.like(remainder, 0)),
        b.apply<arith::XOrIOp>(less(b, remainder, 0), less(b, b.together(y, remainder).first, 0)));
    remainder = b.select(differ, remainder + y, remainder);
  }
  if (isFloat(b.type(0)))
    return b.out(remainder);
  Term isZero =
      b.compare(F::OEQ, I::eq, y, b.like(y, 0)); // the remainder of a division by zero is 0, as the quotient is
  b.out(b.select(isZero, b.like(remainder, 0), remainder));
}

namespace {

/// An integer to a known integer power is computed by repeated squaring, which wraps as in the reference. Other powers
/// are computed in f64. As their error is a few units in the last place, a result within 2^-40 of an integer is taken
/// to be that integer, for types of up to 32 bits.
Term integerPower(NodeBuilder &b, Term x, std::optional<double> exponent) {
  if (exponent && b.rank(1) <= b.rank(0) && *exponent >= 0 && *exponent == std::floor(*exponent) &&
      *exponent < 0x1p31) {
    Term square = x, result = b.like(x, 1);
    for (auto rest = static_cast<uint64_t>(*exponent); rest; rest >>= 1) {
      if (rest & 1)
        result = result * square;
      if (rest > 1)
        square = square * square;
    }
    return result;
  }
  if (elementBytes(b.type(0)) > 4)
    decline("powers of 64-bit integers with an exponent that is not known are not compiled");
  Term power = b.apply<math::PowFOp>(b.convert(x, b.type(0), DType::F64), b.convert(b.raw(1), b.type(1), DType::F64));
  Term whole = b.apply<math::RoundEvenOp>(power);
  Term close = b.compare(F::OLE, I::sle, b.abs(power - whole), b.abs(whole) * 0x1p-40);
  return b.convert(b.select(close, whole, power), DType::F64, b.type(0));
}

} // namespace

void pow(NodeBuilder &b) {
  Term x = b.in(0);
  std::optional<double> exponent = b.scalarConstant(1);
  if (exponent && b.rank(1) <= b.rank(0))
    if (isFloat(b.type(0)) || (*exponent >= 0 && *exponent <= 4 && *exponent == std::floor(*exponent)))
      if (std::optional<Term> power = simplePower(b, x, *exponent))
        return b.out(*power);
  if (!isFloat(b.type(0)))
    return b.out(integerPower(b, x, exponent));
  DType exponentType = b.type(1);
  Term y = isFloat(exponentType) && exponentType == b.type(0)
               ? b.in(1)
               : b.convert(b.raw(1), exponentType, isHalf(b.type(0)) ? DType::F32 : b.type(0));
  b.out(b.apply<math::PowFOp>(x, y));
}

//===- Comparisons and logic --------------------------------------------------------------------------------------===//

void equal(NodeBuilder &b) { comparison(b, F::OEQ, I::eq, I::eq); }
void lessThan(NodeBuilder &b) { comparison(b, F::OLT, I::slt, I::ult); }
void lessOrEqual(NodeBuilder &b) { comparison(b, F::OLE, I::sle, I::ule); }
void greaterThan(NodeBuilder &b) { comparison(b, F::OGT, I::sgt, I::ugt); }
void greaterOrEqual(NodeBuilder &b) { comparison(b, F::OGE, I::sge, I::uge); }
void bitAnd(NodeBuilder &b) { b.out(b.apply<arith::AndIOp>(b.raw(0), b.raw(1))); }
void bitOr(NodeBuilder &b) { b.out(b.apply<arith::OrIOp>(b.raw(0), b.raw(1))); }
void bitXor(NodeBuilder &b) { b.out(b.apply<arith::XOrIOp>(b.raw(0), b.raw(1))); }

void bitNot(NodeBuilder &b) {
  Term x = b.raw(0);
  b.out(b.apply<arith::XOrIOp>(x, b.splatInteger(x.sizes(), x.element(), -1)));
}

void bitShift(NodeBuilder &b) {
  auto [x, y] = b.together(b.raw(0), b.raw(1));
  std::string direction = b.text("direction", "");
  b.expect(direction == "LEFT" || direction == "RIGHT",
           fmt::format("expected direction to be LEFT or RIGHT, got '{}'", direction));
  b.expect(!isFloat(b.type(0)) && b.type(0) != DType::Bool, fmt::format("expected integers, got {}", name(b.type(0))));
  int width = static_cast<int>(x.element().getIntOrFloatBitWidth());
  // Machine shifts by the width or more (or by negative amounts) are undefined. Here they give 0, or the sign.
  Term tooFar = b.compare(F::OGE, I::uge, y, b.like(y, width)), last = b.like(y, width - 1);
  if (direction == "RIGHT" && isSigned(b))
    return b.out(b.apply<arith::ShRSIOp>(x, b.select(tooFar, last, y)));
  Term by = b.select(tooFar, b.like(y, 0), y);
  Term shifted = direction == "LEFT" ? b.apply<arith::ShLIOp>(x, by) : b.apply<arith::ShRUIOp>(x, by);
  b.out(b.select(tooFar, b.like(shifted, 0), shifted));
}

void isNaN(NodeBuilder &b) { b.out(isNaN(b, b.in(0)), DType::Bool); }

void isInf(NodeBuilder &b) {
  Term x = b.in(0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Term up = b.compare(F::OEQ, I::eq, x, b.like(x, infinity)), down = b.compare(F::OEQ, I::eq, x, b.like(x, -infinity));
  bool positive = b.integer("detect_positive", 1), negative = b.integer("detect_negative", 1);
  if (positive && negative)
    return b.out(b.apply<arith::OrIOp>(up, down), DType::Bool);
  b.out(positive ? up : negative ? down : b.splatInteger(x.sizes(), b.state.builder.getI1Type(), 0), DType::Bool);
}

void where(NodeBuilder &b) { b.out(b.select(b.raw(0), b.raw(1), b.raw(2)), b.type(1)); }

//===- Functions --------------------------------------------------------------------------------------------------===//

void exp(NodeBuilder &b) { b.out(b.exp(b.in(0))); }
void log(NodeBuilder &b) { b.out(b.log(b.in(0))); }
void sqrt(NodeBuilder &b) { b.out(b.sqrt(b.in(0))); }
void sin(NodeBuilder &b) { b.out(b.apply<math::SinOp>(b.in(0))); }
void cos(NodeBuilder &b) { b.out(b.apply<math::CosOp>(b.in(0))); }
void tan(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(b.apply<math::SinOp>(x) / b.apply<math::CosOp>(x));
}
void asin(NodeBuilder &b) { b.out(b.apply<math::AsinOp>(b.in(0))); }
void acos(NodeBuilder &b) { b.out(b.apply<math::AcosOp>(b.in(0))); }
void atan(NodeBuilder &b) { b.out(b.apply<math::AtanOp>(b.in(0))); }
void sinh(NodeBuilder &b) { b.out(b.apply<math::SinhOp>(b.in(0))); }
void cosh(NodeBuilder &b) { b.out(b.apply<math::CoshOp>(b.in(0))); }
void asinh(NodeBuilder &b) { b.out(b.apply<math::AsinhOp>(b.in(0))); }
void acosh(NodeBuilder &b) { b.out(b.apply<math::AcoshOp>(b.in(0))); }
void atanh(NodeBuilder &b) { b.out(b.apply<math::AtanhOp>(b.in(0))); }
void erf(NodeBuilder &b) { b.out(b.erf(b.in(0))); }
void tanh(NodeBuilder &b) { b.out(b.tanh(b.in(0))); }
void floor(NodeBuilder &b) { b.out(b.apply<math::FloorOp>(b.in(0))); }
void ceil(NodeBuilder &b) { b.out(b.apply<math::CeilOp>(b.in(0))); }
void round(NodeBuilder &b) { b.out(b.apply<math::RoundEvenOp>(b.in(0))); }

void sign(NodeBuilder &b) {
  Term x = b.in(0);
  if (!isSigned(b))
    return b.out(b.select(b.compare(F::ONE, I::ne, x, b.like(x, 0)), b.like(x, 1), b.like(x, 0)));
  b.out(b.select(greater(b, x, 0), b.like(x, 1),
                 b.select(less(b, x, 0), b.like(x, -1), x))); // zeros and NaN are unchanged
}

//===- Activations ------------------------------------------------------------------------------------------------===//

void relu(NodeBuilder &b) { b.out(b.relu(b.in(0))); }
void sigmoid(NodeBuilder &b) { b.out(b.sigmoid(b.in(0))); }
void softplus(NodeBuilder &b) { b.out(softplusOf(b, b.in(0))); }
void softsign(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(x / (1.0 + b.abs(x)));
}
void hardSwish(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(x * b.minimum(b.maximum(x * (1.0 / 6) + 0.5, 0), 1));
}
void mish(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(x * b.tanh(softplusOf(b, x)));
}
void swish(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(x * b.sigmoid(x * b.real("alpha", 1)));
}
void quickGelu(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(x * b.sigmoid(x * b.real("alpha", 1.702)));
}
void swiGlu(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(x * b.sigmoid(x * b.real("alpha", 1)) * b.in(1));
}
void gelu(NodeBuilder &b) {
  b.out(b.text("approximate", "none") == "tanh" ? tanhGelu(b, b.in(0)) : erfGelu(b, b.in(0)));
}
void biasGelu(NodeBuilder &b) { b.out(erfGelu(b, b.in(0) + b.in(1))); }
void fastGelu(NodeBuilder &b) { b.out(tanhGelu(b, b.has(1) ? b.in(0) + b.in(1) : b.in(0))); }

void hardSigmoid(NodeBuilder &b) {
  b.out(b.minimum(b.maximum(b.in(0) * b.real("alpha", 0.2) + b.real("beta", 0.5), 0), 1));
}

void leakyRelu(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(b.select(less(b, x, 0), x * b.real("alpha", 0.01), x));
}
void prelu(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(b.select(less(b, x, 0), x * b.in(1), x));
}
void thresholdedRelu(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(b.select(greater(b, x, b.real("alpha", 1)), x, b.like(x, 0)));
}

void elu(NodeBuilder &b) {
  Term x = b.in(0);
  b.out(b.select(less(b, x, 0), b.apply<math::ExpM1Op>(x) * b.real("alpha", 1), x));
}

void selu(NodeBuilder &b) {
  Term x = b.in(0);
  double alpha = b.real("alpha", 1.67326319217681884765625), gamma = b.real("gamma", 1.05070102214813232421875);
  b.out(b.select(greater(b, x, 0), x * gamma, b.apply<math::ExpM1Op>(x) * (alpha * gamma)));
}

void celu(NodeBuilder &b) {
  Term x = b.in(0);
  double alpha = b.real("alpha", 1);
  b.out(b.maximum(x, 0) + b.minimum(b.apply<math::ExpM1Op>(x * (1 / alpha)) * alpha, 0));
}

void shrink(NodeBuilder &b) {
  Term x = b.in(0);
  double bias = b.real("bias", 0), lambda = b.real("lambd", 0.5);
  b.out(b.select(less(b, x, -lambda), x + bias, b.select(greater(b, x, lambda), x - bias, b.like(x, 0))));
}

void clipAttributes(NodeBuilder &b) {
  Term x = b.in(0);
  if (b.hasAttribute("min"))
    x = b.maximum(x, b.real("min", 0));
  if (b.hasAttribute("max"))
    x = b.minimum(x, b.real("max", 0));
  b.out(x);
}

void clipInputs(NodeBuilder &b) {
  Term x = b.in(0);
  if (b.has(1))
    x = b.maximum(x, b.in(1), isSigned(b));
  if (b.has(2))
    x = b.minimum(x, b.in(2), isSigned(b));
  b.out(x);
}

//===- Types ------------------------------------------------------------------------------------------------------===//

void identity(NodeBuilder &b) { b.forward(0); }

/// In inference the data is unchanged, and the mask, if anything reads it, is all true.
void dropout(NodeBuilder &b) {
  if (b.has(2) && b.scalarConstant(2).value_or(1) != 0 && b.scalarConstant(1).value_or(1) != 0)
    decline("training mode is not compiled");
  b.forward(0);
  DType mask = b.node.opset >= 10 ? DType::Bool : b.type(0);
  if (b.wants(1)) // before opset 12 the mask has no meaning outside of training; ONNX Runtime fills it with zeros
    b.out(b.splat(b.sizes(0), elementType(b.state.context, mask), b.node.opset >= 12), mask, 1);
}

} // namespace tilewright::ops
