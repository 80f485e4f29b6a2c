// SPDX-License-Identifier: Apache-2.0
// An affine expression evaluated in an algebra: one walk gives its value, its canonical form, what is known of it, or
// the code that computes it.
//
//                              int64_t         its value                           graph::evaluate
//                              Polynomial      its canonical form                  graph::canonicalSize, IndexAlgebra
//     (d0 * 4 + d1) mod s0 --> Facts           divisor, range, slope               tilegen/index/Facts.h
//                              mlir::Value     arith operations, on words, tiles   tilegen/index/ArithEmitter.h
//                              llvm::Value *   instructions of the host            backend/host/IndexMath.h
//
// An algebra has a type Value and these members; divisors are positive:
//
//     std::optional<Value> leaf(expr)   of constants, dimensions and symbols, and of any other expression that the
//                                       algebra would rather make by itself: then its operands are not visited
//     Value add(a, b), multiply(a, b)
//     Value floorDivide(a, b)           rounded down
//     Value modulo(a, b)                a - floorDivide(a, b) * b, so from 0 to b - 1
//     Value ceilDivide(a, b)            floorDivide(a + b - 1, b)
//
// The law that makes an algebra right: it commutes with values. If A(e) is what the algebra makes of e, and [A] the set
// of integers (or the one integer) that A stands for, then the value of e is in [A(e)], wherever the values of the
// leaves are in theirs. The tests of each algebra check this on random expressions.
#pragma once

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace tilewright::index {

/// One operation of `algebra`, by its kind.
template <typename Algebra, typename Value>
Value combine(mlir::AffineExprKind kind, const Value &a, const Value &b, Algebra &algebra) {
  switch (kind) {
  case mlir::AffineExprKind::Add:
    return algebra.add(a, b);
  case mlir::AffineExprKind::Mul:
    return algebra.multiply(a, b);
  case mlir::AffineExprKind::FloorDiv:
    return algebra.floorDivide(a, b);
  case mlir::AffineExprKind::CeilDiv:
    return algebra.ceilDivide(a, b);
  default:
    return algebra.modulo(a, b);
  }
}

/// `expr` in `algebra`: left operand, right operand, operation.
template <typename Algebra> Algebra::Value evaluate(mlir::AffineExpr expr, Algebra &algebra) {
  if (std::optional<typename Algebra::Value> leaf = algebra.leaf(expr))
    return *leaf;
  auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  typename Algebra::Value a = evaluate(binary.getLHS(), algebra), b = evaluate(binary.getRHS(), algebra);
  return combine(expr.getKind(), a, b, algebra);
}

/// The leaves of most algebras: constants as `constant` makes them, dimensions and symbols by position.
template <typename Value>
std::optional<Value> leafOf(mlir::AffineExpr expr, llvm::ArrayRef<Value> dims, llvm::ArrayRef<Value> symbols,
                            llvm::function_ref<Value(int64_t)> constant) {
  if (auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return constant(number.getValue());
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  return std::nullopt;
}

} // namespace tilewright::index
