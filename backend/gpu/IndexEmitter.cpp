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

IndexEmitter::Value IndexEmitter::ceilDivide(const Value &a, const Value &b) {
  Value minusOne{constant(-1), index::Facts::constant(-1)};
  return floorDivide(add(a, add(b, minusOne)), b);
}

IndexEmitter::Value IndexEmitter::modulo(const Value &a, const Value &b) {
  return {arith().modulo(a.word, b.word, a.facts.isNonNegative()), index::modulo(a.facts, b.facts)};
}

mlir::Value IndexEmitter::emit(AffineExpr expr) { return index::evaluate(expr, *this).word; }

} // namespace tilewright
