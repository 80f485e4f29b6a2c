// SPDX-License-Identifier: Apache-2.0
// Operations of arith and math on tensors: a line for each.
#include "tests/reference/InterpretedValue.h"

#include <bit>
#include <cmath>

using namespace mlir;

namespace tilewright::graph {
namespace {

double rounded(double value, Type type) {
  if (type.isF64())
    return value;
  auto single = static_cast<float>(value);
  if (type.isF32())
    return single;
  APFloat narrow(single);
  bool lost = false;
  narrow.convert(llvm::cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return narrow.convertToFloat();
}

int64_t wrapped(int64_t value, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 1 ? value & 1 : width == 64 ? value : llvm::SignExtend64(static_cast<uint64_t>(value), width);
}

uint64_t zeroExtended(int64_t value, Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}

double maximum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double minimum(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

std::optional<double> unaryReal(Operation *op, double x) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case<arith::NegFOp>([&](auto) { return -x; })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return x; })
      .Case<math::AbsFOp>([&](auto) { return std::fabs(x); })
      .Case<math::AcosOp>([&](auto) { return std::acos(x); })
      .Case<math::AcoshOp>([&](auto) { return std::acosh(x); })
      .Case<math::AsinOp>([&](auto) { return std::asin(x); })
      .Case<math::AsinhOp>([&](auto) { return std::asinh(x); })
      .Case<math::AtanOp>([&](auto) { return std::atan(x); })
      .Case<math::AtanhOp>([&](auto) { return std::atanh(x); })
      .Case<math::CeilOp>([&](auto) { return std::ceil(x); })
      .Case<math::CosOp>([&](auto) { return std::cos(x); })
      .Case<math::CoshOp>([&](auto) { return std::cosh(x); })
      .Case<math::ErfOp>([&](auto) { return std::erf(x); })
      .Case<math::ExpOp>([&](auto) { return std::exp(x); })
      .Case<math::Exp2Op>([&](auto) { return std::exp2(x); })
      .Case<math::ExpM1Op>([&](auto) { return std::expm1(x); })
      .Case<math::FloorOp>([&](auto) { return std::floor(x); })
      .Case<math::LogOp>([&](auto) { return std::log(x); })
      .Case<math::Log1pOp>([&](auto) { return std::log1p(x); })
      .Case<math::RoundEvenOp>([&](auto) { return std::nearbyint(x); })
      .Case<math::RsqrtOp>([&](auto) { return 1.0 / std::sqrt(x); })
      .Case<math::SinOp>([&](auto) { return std::sin(x); })
      .Case<math::SinhOp>([&](auto) { return std::sinh(x); })
      .Case<math::SqrtOp>([&](auto) { return std::sqrt(x); })
      .Case<math::TanhOp>([&](auto) { return std::tanh(x); })
      .Default([](auto) { return std::nullopt; });
}

std::optional<double> binaryReal(Operation *op, double x, double y) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case<arith::AddFOp>([&](auto) { return x + y; })
      .Case<arith::SubFOp>([&](auto) { return x - y; })
      .Case<arith::MulFOp>([&](auto) { return x * y; })
      .Case<arith::DivFOp>([&](auto) { return x / y; })
      .Case<arith::RemFOp>([&](auto) { return std::fmod(x, y); })
      .Case<arith::MaximumFOp>([&](auto) { return maximum(x, y); })
      .Case<arith::MaxNumFOp>([&](auto) { return std::fmax(x, y); })
      .Case<arith::MinNumFOp>([&](auto) { return std::fmin(x, y); })
      .Case<arith::MinimumFOp>([&](auto) { return minimum(x, y); })
      .Case<math::PowFOp>([&](auto) { return std::pow(x, y); })
      .Default([](auto) { return std::nullopt; });
}

/// Two's complement, computed without overflow. Division by zero gives 0; the importer's guards exclude it.
std::optional<int64_t> binaryInteger(Operation *op, int64_t x, int64_t y, Type type) {
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y), zx = zeroExtended(x, type),
       zy = zeroExtended(y, type);
  unsigned width = type.getIntOrFloatBitWidth();
  auto safe = [&](auto divide) {
    return y == 0 || (y == -1 && width == 64) ? int64_t(0) : static_cast<int64_t>(divide());
  };
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return static_cast<int64_t>(ux + uy); })
      .Case<arith::SubIOp>([&](auto) { return static_cast<int64_t>(ux - uy); })
      .Case<arith::MulIOp>([&](auto) { return static_cast<int64_t>(ux * uy); })
      .Case<arith::AndIOp>([&](auto) { return x & y; })
      .Case<arith::OrIOp>([&](auto) { return x | y; })
      .Case<arith::XOrIOp>([&](auto) { return x ^ y; })
      .Case<arith::DivSIOp>([&](auto) { return safe([&] { return x / y; }); })
      .Case<arith::RemSIOp>([&](auto) { return safe([&] { return x % y; }); })
      .Case<arith::DivUIOp>([&](auto) { return zy ? static_cast<int64_t>(zx / zy) : 0; })
      .Case<arith::RemUIOp>([&](auto) { return zy ? static_cast<int64_t>(zx % zy) : 0; })
      .Case<arith::MaxSIOp>([&](auto) { return std::max(x, y); })
      .Case<arith::MinSIOp>([&](auto) { return std::min(x, y); })
      .Case<arith::MaxUIOp>([&](auto) { return static_cast<int64_t>(std::max(zx, zy)); })
      .Case<arith::MinUIOp>([&](auto) { return static_cast<int64_t>(std::min(zx, zy)); })
      .Case<arith::ShLIOp>([&](auto) { return zy < width ? static_cast<int64_t>(ux << zy) : 0; })
      .Case<arith::ShRUIOp>([&](auto) { return zy < width ? static_cast<int64_t>(zx >> zy) : 0; })
      .Case<arith::ShRSIOp>([&](auto) { return x >> std::min<uint64_t>(zy, width - 1); })
      .Default([](auto) { return std::nullopt; });
}

bool compareReal(arith::CmpFPredicate predicate, double x, double y) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case P::OEQ:
    return x == y;
  case P::OGT:
    return x > y;
  case P::OGE:
    return x >= y;
  case P::OLT:
    return x < y;
  case P::OLE:
    return x <= y;
  case P::ONE:
    return !unordered && x != y;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || x == y;
  case P::UGT:
    return unordered || x > y;
  case P::UGE:
    return unordered || x >= y;
  case P::ULT:
    return unordered || x < y;
  case P::ULE:
    return unordered || x <= y;
  case P::UNE:
    return unordered || x != y;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return true;
  case P::AlwaysFalse:
    return false;
  }
  return false;
}

bool compareInteger(arith::CmpIPredicate predicate, int64_t x, int64_t y, Type type) {
  using P = arith::CmpIPredicate;
  uint64_t zx = zeroExtended(x, type), zy = zeroExtended(y, type);
  switch (predicate) {
  case P::eq:
    return x == y;
  case P::ne:
    return x != y;
  case P::slt:
    return x < y;
  case P::sle:
    return x <= y;
  case P::sgt:
    return x > y;
  case P::sge:
    return x >= y;
  case P::ult:
    return zx < zy;
  case P::ule:
    return zx <= zy;
  case P::ugt:
    return zx > zy;
  case P::uge:
    return zx >= zy;
  }
  return false;
}

int64_t toInteger(double value) { // saturates; in the IR the result is undefined
  return std::isnan(value)                 ? 0
         : value >= 9.2233720368547758e18  ? INT64_MAX
         : value <= -9.2233720368547758e18 ? INT64_MIN
                                           : static_cast<int64_t>(value);
}

/// Casts between floats and integers, and between integers of different widths.
bool interpretCast(Operation *op, const InterpretedValue &x, InterpretedValue &result) {
  for (int64_t i = 0; i < result.count(); ++i) {
    if (llvm::isa<arith::SIToFPOp>(op))
      result.setReal(i, static_cast<double>(x.element.isInteger(1) ? -x.integers[i] : x.integers[i]));
    else if (llvm::isa<arith::UIToFPOp>(op))
      result.setReal(i, static_cast<double>(zeroExtended(x.integers[i], x.element)));
    else if (llvm::isa<arith::FPToSIOp>(op))
      result.setInteger(i, toInteger(x.reals[i]));
    else if (llvm::isa<arith::FPToUIOp>(op))
      result.setInteger(i, x.reals[i] >= 9.2233720368547758e18 ? static_cast<int64_t>(static_cast<uint64_t>(x.reals[i]))
                                                               : toInteger(x.reals[i]));
    else if (llvm::isa<arith::ExtUIOp>(op))
      result.setInteger(i, static_cast<int64_t>(zeroExtended(x.integers[i], x.element)));
    else if (llvm::isa<arith::ExtSIOp>(op))
      result.setInteger(i, x.element.isInteger(1) ? -x.integers[i] : x.integers[i]);
    else if (llvm::isa<arith::TruncIOp>(op))
      result.setInteger(i, x.integers[i]);
    else
      return false;
  }
  return true;
}

/// The bits of an element, of a float in its own format.
APInt bitsOf(const InterpretedValue &x, int64_t i) {
  auto real = llvm::dyn_cast<FloatType>(x.element);
  if (!real)
    return APInt(x.element.getIntOrFloatBitWidth(), static_cast<uint64_t>(x.integers[i]), true, true);
  APFloat value(x.reals[i]);
  bool lost = false;
  value.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return value.bitcastToAPInt();
}

void interpretBitcast(const InterpretedValue &x, InterpretedValue &result) {
  for (int64_t i = 0; i < result.count(); ++i) {
    APInt bits = bitsOf(x, i);
    if (auto real = llvm::dyn_cast<FloatType>(result.element)) {
      APFloat value(real.getFloatSemantics(), bits);
      bool lost = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      result.setReal(i, value.convertToDouble());
    } else {
      result.setInteger(i, bits.getSExtValue());
    }
  }
}

} // namespace

InterpretedValue::InterpretedValue(Type element, Shape shape, Rounding rounding)
    : element(element), shape(std::move(shape)), rounding(rounding) {
  isFloat() ? reals.resize(count()) : integers.resize(count());
}

void InterpretedValue::setReal(int64_t i, double value) {
  reals[i] = rounding == Rounding::None ? value : rounded(value, element);
}
void InterpretedValue::setInteger(int64_t i, int64_t value) { integers[i] = wrapped(value, element); }

void InterpretedValue::copy(int64_t i, const InterpretedValue &other, int64_t from) {
  isFloat() ? reals[i] = other.reals[from] : integers[i] = other.integers[from];
}

void InterpretedValue::set(int64_t i, TypedAttr scalar) {
  if (auto real = llvm::dyn_cast<FloatAttr>(scalar))
    setReal(i, real.getValueAsDouble());
  else
    setInteger(i, llvm::cast<IntegerAttr>(scalar).getValue().getSExtValue());
}

bool interpretElementwise(Operation *op, ArrayRef<const InterpretedValue *> operands, InterpretedValue &result) {
  int64_t count = result.count();
  if (llvm::isa<arith::BitcastOp>(op))
    return interpretBitcast(*operands[0], result), true;
  if (llvm::isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::ExtUIOp, arith::ExtSIOp,
                arith::TruncIOp>(op))
    return interpretCast(op, *operands[0], result);
  for (int64_t i = 0; i < count; ++i) {
    if (llvm::isa<arith::SelectOp>(op)) {
      result.copy(i, *operands[operands[0]->integers[operands[0]->count() == 1 ? 0 : i] ? 1 : 2], i);
    } else if (auto compare = llvm::dyn_cast<arith::CmpFOp>(op)) {
      result.setInteger(i, compareReal(compare.getPredicate(), operands[0]->reals[i], operands[1]->reals[i]));
    } else if (auto compare = llvm::dyn_cast<arith::CmpIOp>(op)) {
      result.setInteger(i, compareInteger(compare.getPredicate(), operands[0]->integers[i], operands[1]->integers[i],
                                          operands[0]->element));
    } else if (llvm::isa<math::AbsIOp>(op)) {
      int64_t x = operands[0]->integers[i];
      result.setInteger(i, x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x);
    } else if (llvm::isa<math::FmaOp>(op)) {
      result.setReal(i, operands[0]->reals[i] * operands[1]->reals[i] + operands[2]->reals[i]);
    } else if (result.isFloat()) {
      auto value = operands.size() == 1 ? unaryReal(op, operands[0]->reals[i])
                                        : binaryReal(op, operands[0]->reals[i], operands[1]->reals[i]);
      if (!value)
        return false;
      result.setReal(i, *value);
    } else {
      auto value = operands.size() == 2
                       ? binaryInteger(op, operands[0]->integers[i], operands[1]->integers[i], result.element)
                       : std::nullopt;
      if (!value)
        return false;
      result.setInteger(i, *value);
    }
  }
  return true;
}

} // namespace tilewright::graph
