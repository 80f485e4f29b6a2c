// Exact arithmetic on index expressions: canonical sums of products, division with remainder, and bounds that hold for
// all sizes.
//
// An expression over dimensions d<i> and symbols s<i> is a sum of terms, each a coefficient times a product of atoms.
// An atom is a dimension, a symbol, or a floordiv or mod that nothing simplifies. With the facts 0 <= d<i> < size<i>
// and s<i> >= 1 (or 0),
//
//     ((d0 * 12 + d1) floordiv 12) * 12 + (d0 * 12 + d1) mod 12   becomes   d0 * 12 + d1   (0 <= d1 < 12)
//     (d0 * s1 + d1) floordiv s1                                  becomes   d0             (0 <= d1 < s1)
//     (e floordiv s1) * s1 + e mod s1                             becomes   e
//
// so that a reshape that undoes another leaves no trace. This is what keeps loads contiguous.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

#include <optional>

namespace tilewright::tilegen {

/// One coefficient times a product of atoms, which are ordered.
struct Term {
  int64_t coefficient = 0;
  llvm::SmallVector<mlir::AffineExpr, 2> atoms;
};

/// A sum of terms with different products and no zero coefficients, ordered: equal sums are equal vectors.
using Sum = llvm::SmallVector<Term, 4>;

/// Simplifies under 0 <= d<i> < sizes[i] and s<i> >= 1, or s<i> >= 0 for symbols of `mayBeZero`. A null size says
/// nothing about its dimension. There is nothing to know where a size is not positive: a symbol that is a factor of one
/// is at least 1, and of s0 - 2 at least 3.
class IndexAlgebra {
public:
  IndexAlgebra(mlir::MLIRContext *context, llvm::ArrayRef<mlir::AffineExpr> sizes,
               llvm::ArrayRef<int64_t> mayBeZero = {});

  mlir::AffineExpr simplify(mlir::AffineExpr expr) { return toExpr(toSum(expr)); }
  mlir::AffineMap simplify(mlir::AffineMap map);

  /// Whether 0 <= expr < size wherever the facts hold. False if unproved.
  bool isInside(mlir::AffineExpr expr, mlir::AffineExpr size);

  /// Whether expr >= 0 wherever the facts hold. False if unproved.
  bool isNonNegative(mlir::AffineExpr expr);

  /// quotient * divisor + rest = expr, with 0 <= rest < divisor.
  bool divides(mlir::AffineExpr divisor, mlir::AffineExpr expr);
  mlir::AffineExpr divideExactly(mlir::AffineExpr expr, mlir::AffineExpr divisor);

  /// Whether the two are equal as polynomials.
  bool isEqual(mlir::AffineExpr a, mlir::AffineExpr b);

  Sum toSum(mlir::AffineExpr expr);
  mlir::AffineExpr toExpr(const Sum &sum) const;
  mlir::MLIRContext *getContext() const { return context; }
  llvm::ArrayRef<mlir::AffineExpr> getSizes() const { return sizes; }

private:
  struct Division {
    Sum quotient, rest;
  };
  struct Range {
    Sum low, high;
  };

  Sum computeSum(mlir::AffineExpr expr);
  Division divide(const Sum &dividend, const Sum &divisor);
  Division divideRest(const Sum &rest, const Sum &divisor);
  std::optional<Division> divideByFactor(const Sum &rest, const Sum &divisor);
  Sum makeAtom(mlir::AffineExprKind kind, const Sum &lhs, const Sum &rhs) const;
  Sum recombine(Sum sum);
  bool recombineOnce(Sum &sum);
  std::optional<Range> range(const Sum &sum);
  std::optional<Range> rangeOfAtom(mlir::AffineExpr atom);
  bool isSizeNonNegative(Sum sum);
  bool isWithin(const Sum &sum, const Sum &size);

  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::AffineExpr> sizes;
  llvm::DenseMap<unsigned, int64_t> least; // of symbols, where it is not 1
  llvm::DenseMap<mlir::AffineExpr, Sum> sums;
};

/// How many floordivs and mods of dimensions an expression has: what a load pays for its coordinates.
unsigned countDivisions(mlir::AffineExpr expr);

/// Whether the expression mentions dimension `dim`.
bool dependsOn(mlir::AffineExpr expr, unsigned dim);

} // namespace tilewright::tilegen
