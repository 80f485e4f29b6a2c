// SPDX-License-Identifier: Apache-2.0
// Sizes of tensors as expressions in the module's symbols, and the types that carry them.
//
//   tensor<8x128xf32>                                            sizes (8, 128)
//   tensor<?x128xf32, affine_map<()[s0] -> (s0, 128)>>           sizes (s0, 128)
//
// Every expression is kept in one canonical form (a polynomial, frontend/index/Polynomial.h), so that equal sizes are
// the same AffineExpr and equal tensors have the same type. By a constant, ceildiv is floordiv, multiples of the
// divisor leave the quotient, and quotients of quotients are one:
//
//   (h - 1) floordiv 2 + 1,  h ceildiv 2      both (h + 1) floordiv 2
//   ((h floordiv 2) + 1) floordiv 2           (h + 2) floordiv 4
//
// A remainder by a constant is written with a quotient too. So a size that is filled up to a multiple of 8 is
// recognized as one:
//
//   (h + -h mod 8) floordiv 8                 h - (h * 7) floordiv 8
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tilewright::graph {

/// The sizes of `type`, one expression a dimension.
llvm::SmallVector<mlir::AffineExpr> getSizes(mlir::RankedTensorType type);
/// The same of a ranked tensor's type.
inline llvm::SmallVector<mlir::AffineExpr> getSizes(mlir::Value value) {
  return getSizes(llvm::cast<mlir::RankedTensorType>(value.getType()));
}

/// The tensor type with these sizes: its encoding is canonical, and absent where every size is a constant.
mlir::RankedTensorType makeTensorType(mlir::MLIRContext *context, llvm::ArrayRef<mlir::AffineExpr> sizes,
                                      mlir::Type elementType);

/// Same sizes, other elements.
mlir::RankedTensorType withElementType(mlir::RankedTensorType type, mlir::Type elementType);

/// How many symbols the sizes of `type` mention (the highest index plus one).
unsigned getNumSymbols(mlir::RankedTensorType type);

/// The canonical form of an expression in symbols.
mlir::AffineExpr canonicalSize(mlir::AffineExpr size);

/// The canonical product of `sizes`; 1 for none.
mlir::AffineExpr productOf(mlir::MLIRContext *context, llvm::ArrayRef<mlir::AffineExpr> sizes);

/// numerator / denominator where that is exact as a polynomial, otherwise null.
mlir::AffineExpr divideExactly(mlir::AffineExpr numerator, mlir::AffineExpr denominator);

/// True if the expression is at least 0 whatever sizes of at least `least` the symbols stand for. False if that is not
/// proved.
bool isNonNegative(mlir::AffineExpr expr, int64_t least = 0);

/// The value where all symbols are 0.
int64_t atZero(mlir::AffineExpr expr);

/// True if the expression is nowhere smaller than where all symbols are 0. False if that is not proved.
bool isLeastAtZero(mlir::AffineExpr expr);

/// The atoms of a canonical expression that are quotients or remainders (frontend/index/Polynomial.h), not symbols.
llvm::SmallVector<mlir::AffineExpr> divisionsOf(mlir::AffineExpr expr);

/// The value of a constant expression; nullopt if it is none.
std::optional<int64_t> constantSize(mlir::AffineExpr size);

/// The value of `expr`, a size or a coordinate, where dimensions and symbols have these values. A quotient or remainder
/// by 0, or by a negative number, is 0.
int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols);

/// "s0" for symbol 0 and so on, or by name where `symbols` has them: for diagnostics.
std::string printSize(mlir::AffineExpr size, llvm::ArrayRef<std::string> symbols = {});

} // namespace tilewright::graph
