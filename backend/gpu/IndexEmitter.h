// Evaluates affine expressions with arith operations on i32 or i64.
#pragma once

#include "tilegen/place/AccessFacts.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

class IndexEmitter {
public:
  /// `facts` say of each dimension what is known of it where the result matters; they choose between signed and
  /// unsigned division.
  IndexEmitter(mlir::ImplicitLocOpBuilder &b, mlir::IntegerType type, llvm::ArrayRef<mlir::Value> dims,
               llvm::ArrayRef<mlir::Value> symbols, llvm::ArrayRef<tile::Facts> facts,
               llvm::ArrayRef<tile::Facts> symbolFacts)
      : b_(b), type_(type), dims_(dims), symbols_(symbols), facts_(facts), symbolFacts_(symbolFacts) {}

  mlir::Value emit(mlir::AffineExpr expr);
  mlir::Value constant(int64_t value) { return mlir::arith::ConstantOp::create(b_, b_.getIntegerAttr(type_, value)); }

private:
  mlir::Value divide(mlir::AffineBinaryOpExpr expr, mlir::Value lhs, mlir::Value rhs, bool remainder);

  mlir::ImplicitLocOpBuilder &b_;
  mlir::IntegerType type_;
  llvm::ArrayRef<mlir::Value> dims_, symbols_;
  llvm::ArrayRef<tile::Facts> facts_, symbolFacts_;
};

} // namespace tilewright
