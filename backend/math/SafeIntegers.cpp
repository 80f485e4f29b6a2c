// SPDX-License-Identifier: Apache-2.0
// Divisions and casts that are defined for every operand.
#include "backend/math/SafeIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

using Build = ImplicitLocOpBuilder;

static Value integer(Build &b, Type type, int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}
static Value compare(Build &b, arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, predicate, x, y);
}
static Value select(Build &b, Value condition, Value x, Value y) { return arith::SelectOp::create(b, condition, x, y); }

static Value divideUnsigned(Build &b, Value x, Value y, bool remainder) {
  Value zero = integer(b, x.getType(), 0), isZero = compare(b, arith::CmpIPredicate::eq, y, zero);
  Value divisor = select(b, isZero, integer(b, x.getType(), 1), y);
  Value result =
      remainder ? arith::RemUIOp::create(b, x, divisor).getResult() : arith::DivUIOp::create(b, x, divisor).getResult();
  return select(b, isZero, zero, result);
}

enum class Rounding { Zero, Floor, Ceil };

/// A divisor of 0 or -1 is replaced by 1. For the first the result is then replaced by 0, for the second by the negated
/// dividend.
static Value divideSigned(Build &b, Value x, Value y, Rounding rounding) {
  Type type = x.getType();
  Value zero = integer(b, type, 0), isZero = compare(b, arith::CmpIPredicate::eq, y, zero);
  Value isMinusOne = compare(b, arith::CmpIPredicate::eq, y, integer(b, type, -1));
  Value divisor = select(b, arith::OrIOp::create(b, isZero, isMinusOne), integer(b, type, 1), y);
  Value quotient = arith::DivSIOp::create(b, x, divisor);
  if (rounding != Rounding::Zero) {
    Value rest = arith::SubIOp::create(b, x, arith::MulIOp::create(b, quotient, divisor));
    Value inexact = compare(b, arith::CmpIPredicate::ne, rest, zero);
    Value differ = compare(b, arith::CmpIPredicate::slt, arith::XOrIOp::create(b, rest, divisor), zero);
    if (rounding == Rounding::Ceil)
      differ = compare(b, arith::CmpIPredicate::sge, arith::XOrIOp::create(b, rest, divisor), zero);
    Value step = arith::ExtUIOp::create(b, type, arith::AndIOp::create(b, inexact, differ));
    quotient = rounding == Rounding::Floor ? arith::SubIOp::create(b, quotient, step).getResult()
                                           : arith::AddIOp::create(b, quotient, step).getResult();
  }
  quotient = select(b, isMinusOne, arith::SubIOp::create(b, zero, x), quotient);
  return select(b, isZero, zero, quotient);
}

static Value remainderSigned(Build &b, Value x, Value y) {
  Type type = x.getType();
  Value zero = integer(b, type, 0), isZero = compare(b, arith::CmpIPredicate::eq, y, zero);
  Value isMinusOne = compare(b, arith::CmpIPredicate::eq, y, integer(b, type, -1));
  Value divisor = select(b, arith::OrIOp::create(b, isZero, isMinusOne), integer(b, type, 1), y);
  return arith::RemSIOp::create(b, x, divisor); // by 1: 0
}

/// x is compared with powers of two (or with -1, for unsigned types), which are exact as floats. The conversion's
/// result is undefined for x beyond them, and is not selected there.
static Value castSaturating(Build &b, Value x, IntegerType type, bool isSigned) {
  auto number = [&](double value) -> Value { return arith::ConstantOp::create(b, b.getFloatAttr(x.getType(), value)); };
  unsigned bits = type.getWidth();
  llvm::APInt low = isSigned ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0),
              high = isSigned ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  auto limit = [&](const llvm::APInt &value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value converted =
      isSigned ? arith::FPToSIOp::create(b, type, x).getResult() : arith::FPToUIOp::create(b, type, x).getResult();
  Value above =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, number(std::ldexp(1.0, isSigned ? bits - 1 : bits)));
  Value below =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, x, number(isSigned ? -std::ldexp(1.0, bits - 1) : -1.0));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  converted = select(b, above, limit(high), converted);
  converted = select(b, below, limit(low), converted);
  return select(b, isNan, limit(llvm::APInt(bits, 0)), converted);
}

Value tilewright::emitSafeInteger(Build &b, Operation *op, ValueRange operands, Type result) {
  StringRef name = op->getName().getStringRef();
  bool isBool = result.isInteger(1);
  if (name == "arith.divsi" && !isBool)
    return divideSigned(b, operands[0], operands[1], Rounding::Zero);
  if (name == "arith.floordivsi" && !isBool)
    return divideSigned(b, operands[0], operands[1], Rounding::Floor);
  if (name == "arith.ceildivsi" && !isBool)
    return divideSigned(b, operands[0], operands[1], Rounding::Ceil);
  if (name == "arith.remsi" && !isBool)
    return remainderSigned(b, operands[0], operands[1]);
  if (name == "arith.divui" || name == "arith.remui")
    return divideUnsigned(b, operands[0], operands[1], name == "arith.remui");
  bool halfSource =
      !operands.empty() && operands[0].getType().getIntOrFloatBitWidth() == 16; // halves cannot represent all limits
  if ((name == "arith.fptosi" || name == "arith.fptoui") && !isBool && !halfSource)
    return castSaturating(b, operands[0], cast<IntegerType>(result), name == "arith.fptosi");
  return {};
}
