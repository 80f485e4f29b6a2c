// SPDX-License-Identifier: Apache-2.0
// The ring of index expressions: polynomials with integer coefficients over atoms.
//
// An atom is a dimension, a symbol, or a quotient or remainder that nothing simplifies. A polynomial is a sum of terms,
// each a coefficient times a product of atoms, all in one order:
//
//     (s1 * 2 + s0) * s0     =     1 . s0 s0   +   2 . s0 s1
//                                  '--------- terms --------'     more atoms first, then by the atoms: dimensions,
//                                      '---' atoms                symbols, divisions (graded lexicographic)
//
// It is a commutative ring with one: a + b = b + a, a (b + c) = a b + a c, a - a = 0, and so on. Coefficients wrap at
// 64 bits, so these laws hold without exception; sizes that overflow are refused where types are made. Two polynomials
// are equal if and only if their terms are, and toExpr spells equal polynomials as the same AffineExpr.
//
// The ring knows no division but the exact one. What the quotient of two polynomials is depends on what the atoms stand
// for: graph::canonicalSize divides sizes of which nothing is known, tilegen::IndexAlgebra coordinates that lie within
// sizes.
#pragma once

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace tilewright::index {

/// One coefficient times a product of atoms, which are ordered.
struct Term {
  int64_t coefficient = 0;
  llvm::SmallVector<mlir::AffineExpr, 2> atoms;

  bool isConstant() const { return atoms.empty(); }
  /// The only atom of a term that is an atom times a coefficient, otherwise null.
  mlir::AffineExpr soleAtom() const { return atoms.size() == 1 ? atoms[0] : mlir::AffineExpr(); }
  friend bool operator==(const Term &a, const Term &b) { return a.coefficient == b.coefficient && a.atoms == b.atoms; }
};

Term operator*(const Term &a, const Term &b);

/// The product without the atoms of `divisor`, or nothing if one of them is missing.
std::optional<llvm::SmallVector<mlir::AffineExpr, 2>> removeAtoms(llvm::ArrayRef<mlir::AffineExpr> product,
                                                                  llvm::ArrayRef<mlir::AffineExpr> divisor);

class Polynomial {
public:
  Polynomial() = default; // 0
  Polynomial(int64_t constant) { add({constant, {}}); }
  Polynomial(Term term) { add(std::move(term)); }
  static Polynomial atom(mlir::AffineExpr atom) { return Term{1, {atom}}; }
  /// The polynomial that an expression spells, with its quotients and remainders as they are.
  static Polynomial spelledBy(mlir::AffineExpr expr);

  /// Terms with different products and no zero coefficients, in order; none: 0.
  llvm::ArrayRef<Term> terms() const { return list; }
  const Term *begin() const { return list.begin(); }
  const Term *end() const { return list.end(); }
  const Term &operator[](size_t i) const { return list[i]; }
  size_t size() const { return list.size(); }
  bool isZero() const { return list.empty(); }
  /// The value of a polynomial without atoms.
  std::optional<int64_t> constant() const;

  void add(Term term);
  Polynomial &operator+=(const Polynomial &other) { return addScaled(other, {1, {}}); }
  Polynomial &operator-=(const Polynomial &other) { return addScaled(other, {-1, {}}); }
  /// Adds other * factor.
  Polynomial &addScaled(const Polynomial &other, const Term &factor);

  friend bool operator==(const Polynomial &a, const Polynomial &b) { return a.list == b.list; }

private:
  llvm::SmallVector<Term, 4> list;
};

Polynomial operator+(Polynomial a, const Polynomial &b);
Polynomial operator-(Polynomial a, const Polynomial &b);
Polynomial operator*(const Polynomial &a, const Polynomial &b);

/// dividend / divisor where that is a polynomial.
std::optional<Polynomial> divideExactly(Polynomial dividend, const Polynomial &divisor);

/// The expression that spells the polynomial, terms and atoms in order.
mlir::AffineExpr toExpr(mlir::MLIRContext *context, const Polynomial &polynomial);

/// What toExpr spells of a quotient or remainder of two polynomials. Affine expressions fold a few by themselves.
Polynomial makeDivision(mlir::MLIRContext *context, mlir::AffineExprKind kind, const Polynomial &dividend,
                        const Polynomial &divisor);

/// True if a polynomial of symbols, and of quotients and remainders of them, is at least 0 wherever each symbol is at
/// least `least` of it. False if that is not proved.
bool isNonNegative(Polynomial polynomial, llvm::function_ref<int64_t(mlir::AffineSymbolExpr)> least);

} // namespace tilewright::index
