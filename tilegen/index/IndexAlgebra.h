// SPDX-License-Identifier: Apache-2.0
// Coordinates as polynomials (frontend/index/Polynomial.h), with what the ring does not have: division with remainder,
// under bounds that hold for all sizes.
//
// With the facts 0 <= d<i> < size<i> and s<i> >= 1 (or 0),
//
//     ((d0 * 12 + d1) floordiv 12) * 12 + (d0 * 12 + d1) mod 12   becomes   d0 * 12 + d1   (0 <= d1 < 12)
//     (d0 * s1 + d1) floordiv s1                                  becomes   d0             (0 <= d1 < s1)
//     (e floordiv s1) * s1 + e mod s1                             becomes   e
//
// so that a reshape that undoes another leaves no trace. This is what keeps loads contiguous.
#pragma once

#include "frontend/index/Polynomial.h"

#include "mlir/IR/AffineMap.h"

#include <optional>

namespace tilewright::tilegen {

/// Simplifies under 0 <= d<i> < sizes[i] and s<i> >= 1, or s<i> >= 0 for symbols of `mayBeZero`. A null size says
/// nothing about its dimension. Where a size is not positive there are no points, and nothing has to hold. So a symbol
/// or a quotient that is a factor of a size counts as at least 1, and a size s0 - 2 makes s0 at least 3.
class IndexAlgebra {
public:
  IndexAlgebra(mlir::MLIRContext *context, llvm::ArrayRef<mlir::AffineExpr> sizes,
               llvm::ArrayRef<int64_t> mayBeZero = {});

  mlir::AffineExpr simplify(mlir::AffineExpr expr) { return toExpr(toPolynomial(expr)); }
  mlir::AffineMap simplify(mlir::AffineMap map);

  /// Whether 0 <= expr < size wherever the facts hold. False if unproved.
  bool isInside(mlir::AffineExpr expr, mlir::AffineExpr size);

  /// Whether expr >= 0 wherever the facts hold. False if unproved.
  bool isNonNegative(mlir::AffineExpr expr);

  /// Whether `expr` is a multiple of `divisor`. False if unproved.
  bool divides(mlir::AffineExpr divisor, mlir::AffineExpr expr);
  /// The quotient, where `divides` holds.
  mlir::AffineExpr divideExactly(mlir::AffineExpr expr, mlir::AffineExpr divisor);

  /// Whether the two are equal as polynomials.
  bool isEqual(mlir::AffineExpr a, mlir::AffineExpr b);

  index::Polynomial toPolynomial(mlir::AffineExpr expr);
  mlir::AffineExpr toExpr(const index::Polynomial &polynomial) const { return index::toExpr(context, polynomial); }
  mlir::MLIRContext *getContext() const { return context; }
  llvm::ArrayRef<mlir::AffineExpr> getSizes() const { return sizes; }

  // The operations of the algebra (frontend/index/Evaluate.h).
  using Polynomial = index::Polynomial;
  Polynomial add(const Polynomial &a, const Polynomial &b);
  Polynomial multiply(const Polynomial &a, const Polynomial &b);
  Polynomial floorDivide(const Polynomial &a, const Polynomial &b);
  Polynomial ceilDivide(const Polynomial &a, const Polynomial &b);
  Polynomial modulo(const Polynomial &a, const Polynomial &b);

private:
  /// quotient * divisor + rest = dividend, with 0 <= rest < divisor.
  struct Division {
    Polynomial quotient, rest;
  };
  struct Range {
    Polynomial low, high;
  };

  Polynomial leafOf(mlir::AffineExpr expr);
  Division opaque(const Polynomial &dividend, const Polynomial &divisor) const;
  Division divide(const Polynomial &dividend, const Polynomial &divisor);
  Division divideRest(const Polynomial &rest, const Polynomial &divisor);
  std::optional<Division> divideByFactor(const Polynomial &rest, const Polynomial &divisor);
  Polynomial recombine(Polynomial sum);
  bool recombineOnce(Polynomial &sum);
  std::optional<Range> range(const Polynomial &sum);
  std::optional<Range> rangeOfAtom(mlir::AffineExpr atom);
  bool isSizeNonNegative(const Polynomial &sum) const;
  bool isWithin(const Polynomial &sum, const Polynomial &size);

  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::AffineExpr> sizes;
  llvm::DenseMap<unsigned, int64_t> least;                  // of symbols, where it is not 1
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> named; // quotients that are at least 1, as symbols
  llvm::DenseMap<mlir::AffineExpr, index::Polynomial> polynomials;
};

/// How many floordivs and mods of dimensions an expression has: what a load pays for its coordinates.
unsigned countDivisions(mlir::AffineExpr expr);

/// Whether the expression mentions dimension `dim`.
bool dependsOn(mlir::AffineExpr expr, unsigned dim);

} // namespace tilewright::tilegen
