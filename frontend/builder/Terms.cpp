// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on terms: arithmetic, comparisons, conversions, functions.
#include "frontend/builder/NodeBuilder.h"

#include <cmath>

using namespace mlir;

namespace tilewright {
namespace {

template <typename FloatOp, typename IntOp> Term arithmetic(Term a, Term b) {
  return a.isFloat() ? a.builder->apply<FloatOp>(a, b) : a.builder->apply<IntOp>(a, b);
}

} // namespace

Term operator+(Term a, Term b) { return arithmetic<arith::AddFOp, arith::AddIOp>(a, b); }
Term operator-(Term a, Term b) { return arithmetic<arith::SubFOp, arith::SubIOp>(a, b); }
Term operator*(Term a, Term b) { return arithmetic<arith::MulFOp, arith::MulIOp>(a, b); }
Term operator/(Term a, Term b) {
  if (!a.isFloat())
    malformed("expected floats, got {}", a.builder->print(a));
  return a.builder->apply<arith::DivFOp>(a, b);
}
Term operator+(Term a, double b) { return a + a.builder->like(a, b); }
Term operator-(Term a, double b) { return a - a.builder->like(a, b); }
Term operator*(Term a, double b) { return a * a.builder->like(a, b); }
Term operator/(Term a, double b) { return a / a.builder->like(a, b); }
Term operator+(double a, Term b) { return b.builder->like(b, a) + b; }
Term operator-(double a, Term b) { return b.builder->like(b, a) - b; }
Term operator*(double a, Term b) { return b.builder->like(b, a) * b; }
Term operator/(double a, Term b) { return b.builder->like(b, a) / b; }
Term operator-(Term a) { return a.isFloat() ? a.builder->apply<arith::NegFOp>(a) : 0.0 - a; }

/// Converts floats to integers: toward zero, saturated, 0 for NaN, as in the reference. Values out of range are
/// replaced before the conversion, for which they are undefined.
static Term toInteger(NodeBuilder &b, Term x, DType to) {
  int bits = static_cast<int>(elementBytes(to)) * 8;
  bool isSigned = findDType(to)->isSigned;
  double low = isSigned ? -std::ldexp(1.0, bits - 1) : 0,
         limit = std::ldexp(1.0, isSigned ? bits - 1 : bits); // exact in every float type that x has
  Type element = elementType(b.state.context, to),
       through = isSigned || bits == 64 ? element : b.state.builder.getIntegerType(2 * bits);
  auto is = [&](arith::CmpFPredicate predicate, double bound) {
    return b.compare(predicate, arith::CmpIPredicate::eq, x, b.like(x, bound));
  };
  Term tooLow = is(arith::CmpFPredicate::OLT, low), tooHigh = is(arith::CmpFPredicate::OGE, limit),
       number = is(arith::CmpFPredicate::ORD, 0);
  Term inside = b.select(b.apply<arith::OrIOp>(tooLow, tooHigh), b.like(x, 0), b.select(number, x, b.like(x, 0)));
  RankedTensorType type = graph::withElementType(x.type(), through);
  Term whole = isSigned || bits < 64
                   ? b.term(arith::FPToSIOp::create(b.state.builder, b.state.location, type, inside.value))
                   : b.term(arith::FPToUIOp::create(b.state.builder, b.state.location, type, inside.value));
  if (through != element)
    whole = b.term(
        arith::TruncIOp::create(b.state.builder, b.state.location, graph::withElementType(type, element), whole.value));
  uint64_t most = ~uint64_t(0) >> (64 - bits + isSigned);
  Term least = b.splatInteger(x.sizes(), element, isSigned ? static_cast<int64_t>(~most) : 0);
  return b.select(tooHigh, b.splatInteger(x.sizes(), element, static_cast<int64_t>(most)),
                  b.select(tooLow, least, whole));
}

std::string NodeBuilder::print(Term x) const {
  std::string text;
  llvm::raw_string_ostream(text) << x.element();
  return text + " " + state.print(x.sizes());
}

std::pair<Term, Term> NodeBuilder::together(Term a, Term b) {
  if (a.type() == b.type())
    return {a, b};
  if (a.element() != b.element())
    malformed("expected operands of one element type, got {} and {}", print(a), print(b));
  Sizes sizes = broadcastSizes({a.sizes(), b.sizes()});
  return {broadcast(a, sizes), broadcast(b, sizes)};
}

Term NodeBuilder::compare(arith::CmpFPredicate f, arith::CmpIPredicate i, Term a, Term b) {
  std::tie(a, b) = together(a, b);
  if (a.isFloat())
    return term(arith::CmpFOp::create(state.builder, state.location, f, a.value, b.value));
  return term(arith::CmpIOp::create(state.builder, state.location, i, a.value, b.value));
}

Term NodeBuilder::select(Term condition, Term yes, Term no) {
  if (!condition.element().isInteger(1) || yes.element() != no.element())
    malformed("expected a boolean condition and operands of one element type, got {}, {} and {}", print(condition),
              print(yes), print(no));
  Sizes sizes = broadcastSizes({condition.sizes(), yes.sizes(), no.sizes()});
  condition = broadcast(condition, sizes), yes = broadcast(yes, sizes), no = broadcast(no, sizes);
  return term(arith::SelectOp::create(state.builder, state.location, condition.value, yes.value, no.value));
}

Term NodeBuilder::maximum(Term a, Term b, bool isSigned) {
  if (a.isFloat())
    return apply<arith::MaximumFOp>(a, b); // propagates NaN
  return isSigned ? apply<arith::MaxSIOp>(a, b) : apply<arith::MaxUIOp>(a, b);
}

Term NodeBuilder::minimum(Term a, Term b, bool isSigned) {
  if (a.isFloat())
    return apply<arith::MinimumFOp>(a, b);
  return isSigned ? apply<arith::MinSIOp>(a, b) : apply<arith::MinUIOp>(a, b);
}

Term NodeBuilder::divideIntegers(Term a, Term b, bool isSigned) {
  std::tie(a, b) = together(a, b);
  auto equals = [&](double value) {
    return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, b, like(b, value));
  };
  Term isZero = equals(0);
  if (!isSigned)
    return select(isZero, like(a, 0), apply<arith::DivUIOp>(a, select(isZero, like(b, 1), b)));
  Term isMinusOne = equals(-1);
  Term safe = select(apply<arith::OrIOp>(isZero, isMinusOne), like(b, 1), b);
  return select(isZero, like(a, 0), select(isMinusOne, -a, apply<arith::DivSIOp>(a, safe)));
}

Term NodeBuilder::widen(Term x) {
  if (!x.element().isF16() && !x.element().isBF16())
    return x;
  return term(arith::ExtFOp::create(state.builder, state.location,
                                    graph::withElementType(x.type(), state.builder.getF32Type()), x.value));
}

Term NodeBuilder::convert(Term x, DType from, DType to) {
  Type element = elementType(state.context, to);
  RankedTensorType type = graph::withElementType(x.type(), element);
  auto make = [&]<typename Op>(Op *, RankedTensorType result, Term operand) {
    return term(Op::create(state.builder, state.location, result, operand.value));
  };
#define CONVERT(OP, RESULT, OPERAND) make(static_cast<arith::OP *>(nullptr), RESULT, OPERAND)
  if (from == to)
    return x;
  bool fromFloat = tilewright::isFloat(from), toFloat = tilewright::isFloat(to);
  unsigned width = element.getIntOrFloatBitWidth(), fromWidth = x.element().getIntOrFloatBitWidth();
  if (to == DType::Bool)
    return compare(arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, x, like(x, 0));
  if (fromFloat && toFloat) {
    x = fromWidth == width ? widen(x) : x; // between f16 and bf16 by way of f32
    fromWidth = x.element().getIntOrFloatBitWidth();
    return fromWidth < width ? CONVERT(ExtFOp, type, x) : CONVERT(TruncFOp, type, x);
  }
  if (fromFloat)
    return toInteger(*this, widen(x), to);
  bool isSigned = findDType(from)->isSigned;
  if (toFloat) {
    RankedTensorType real = isHalf(to) ? graph::withElementType(type, state.builder.getF32Type()) : type;
    x = isSigned ? CONVERT(SIToFPOp, real, x) : CONVERT(UIToFPOp, real, x);
    return isHalf(to) ? CONVERT(TruncFOp, type, x) : x;
  }
  if (fromWidth == width)
    return x;
  if (fromWidth > width)
    return CONVERT(TruncIOp, type, x);
  return isSigned ? CONVERT(ExtSIOp, type, x) : CONVERT(ExtUIOp, type, x);
#undef CONVERT
}

Term NodeBuilder::exp(Term x) { return apply<math::ExpOp>(x); }
Term NodeBuilder::log(Term x) { return apply<math::LogOp>(x); }
Term NodeBuilder::sqrt(Term x) { return apply<math::SqrtOp>(x); }
Term NodeBuilder::tanh(Term x) { return apply<math::TanhOp>(x); }
Term NodeBuilder::erf(Term x) { return apply<math::ErfOp>(x); }
Term NodeBuilder::abs(Term x) { return x.isFloat() ? apply<math::AbsFOp>(x) : apply<math::AbsIOp>(x); }
Term NodeBuilder::sigmoid(Term x) { return 1.0 / (1.0 + exp(-x)); }

} // namespace tilewright
