// Affine expressions as arith operations. Divisions are unsigned wherever the dividend is known not to be negative.
#include "backend/gpu/IndexEmitter.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

Value IndexEmitter::divide(AffineBinaryOpExpr expr, Value lhs, Value rhs, bool remainder) {
  Facts facts = factsOf(expr.getLHS(), facts_, symbolFacts_, 1);
  bool unsignedDividend = facts.low && *facts.low >= 0;
  if (unsignedDividend)
    return remainder ? arith::RemUIOp::create(b_, lhs, rhs).getResult()
                     : arith::DivUIOp::create(b_, lhs, rhs).getResult();
  // Rounding towards minus infinity: the remainder takes the divisor's sign, which is positive.
  Value zero = constant(0), rest = arith::RemSIOp::create(b_, lhs, rhs);
  Value below = arith::CmpIOp::create(b_, arith::CmpIPredicate::slt, rest, zero);
  if (remainder)
    return arith::SelectOp::create(b_, below, arith::AddIOp::create(b_, rest, rhs), rest);
  Value quotient = arith::DivSIOp::create(b_, lhs, rhs);
  return arith::SelectOp::create(b_, below, arith::SubIOp::create(b_, quotient, constant(1)), quotient);
}

Value IndexEmitter::emit(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims_[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols_[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emit(binary.getLHS()), rhs = emit(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b_, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b_, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return divide(binary, lhs, rhs, /*remainder=*/false);
  case AffineExprKind::Mod:
    return divide(binary, lhs, rhs, /*remainder=*/true);
  default: { // ceildiv
    AffineExpr up = binary.getLHS() + binary.getRHS() - 1;
    return emit(up.floorDiv(binary.getRHS()));
  }
  }
}
