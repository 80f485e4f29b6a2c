// SPDX-License-Identifier: Apache-2.0
// Affine expressions as arith operations. Divisions are unsigned wherever the dividend is known not to be negative.
#include "backend/gpu/IndexEmitter.h"

#include "frontend/index/Evaluate.h"

using namespace mlir;

namespace tilewright {

std::optional<IndexEmitter::Value> IndexEmitter::leaf(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return Value{constant(number.getValue()), index::Facts::constant(number.getValue())};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Value{dims_[dim.getPosition()], facts_[dim.getPosition()]};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return Value{symbols_[symbol.getPosition()], symbolFacts_[symbol.getPosition()]};
  // Rounding up is written as an expression, so that its constant joins those of the dividend: (s0 + 1) ceildiv 4 is
  // (s0 + 4) floordiv 4.
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr); binary && expr.getKind() == AffineExprKind::CeilDiv)
    return index::evaluate((binary.getLHS() + binary.getRHS() - 1).floorDiv(binary.getRHS()), *this);
  return std::nullopt;
}

IndexEmitter::Value IndexEmitter::add(const Value &a, const Value &b) {
  return {arith().add(a.word, b.word), a.facts + b.facts};
}

IndexEmitter::Value IndexEmitter::multiply(const Value &a, const Value &b) {
  return {arith().multiply(a.word, b.word), a.facts * b.facts};
}

IndexEmitter::Value IndexEmitter::floorDivide(const Value &a, const Value &b) {
  return {arith().floorDivide(a.word, b.word, a.facts.isNonNegative()), index::floorDivide(a.facts, b.facts)};
}

IndexEmitter::Value IndexEmitter::ceilDivide(const Value &, const Value &) {
  llvm_unreachable("leaf() writes a division that rounds up as one that rounds down");
}

IndexEmitter::Value IndexEmitter::modulo(const Value &a, const Value &b) {
  return {arith().modulo(a.word, b.word, a.facts.isNonNegative()), index::modulo(a.facts, b.facts)};
}

mlir::Value IndexEmitter::emit(AffineExpr expr) { return index::evaluate(expr, *this).word; }

} // namespace tilewright
