// SPDX-License-Identifier: Apache-2.0
// Affine expressions as arithmetic on words: the algebra (frontend/index/Evaluate.h) of values with what is known of
// them.
#pragma once

#include "tilegen/index/ArithEmitter.h"
#include "tilegen/index/Facts.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

class IndexEmitter {
public:
  /// `facts` say of each dimension what is known of it where the result matters; they choose between signed and
  /// unsigned division.
  IndexEmitter(mlir::ImplicitLocOpBuilder &b, mlir::IntegerType type, llvm::ArrayRef<mlir::Value> dims,
               llvm::ArrayRef<mlir::Value> symbols, llvm::ArrayRef<index::Facts> facts,
               llvm::ArrayRef<index::Facts> symbolFacts)
      : b_(b), type_(type), dims_(dims), symbols_(symbols), facts_(facts), symbolFacts_(symbolFacts) {}

  mlir::Value emit(mlir::AffineExpr expr);
  mlir::Value constant(int64_t value) { return arith().constant(type_, value); }

  struct Value {
    mlir::Value word;
    index::Facts facts;
  };
  std::optional<Value> leaf(mlir::AffineExpr expr);
  Value add(const Value &a, const Value &b);
  Value multiply(const Value &a, const Value &b);
  Value floorDivide(const Value &a, const Value &b);
  Value ceilDivide(const Value &a, const Value &b);
  Value modulo(const Value &a, const Value &b);

private:
  index::ArithEmitter arith() { return {b_, b_.getLoc(), index::ArithEmitter::Divisions::Words}; }

  mlir::ImplicitLocOpBuilder &b_;
  mlir::IntegerType type_;
  llvm::ArrayRef<mlir::Value> dims_, symbols_;
  llvm::ArrayRef<index::Facts> facts_, symbolFacts_;
};

} // namespace tilewright
