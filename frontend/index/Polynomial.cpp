// SPDX-License-Identifier: Apache-2.0
// Order, sums and products of the ring of index expressions, and its way from and to affine expressions.
#include "frontend/index/Polynomial.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright::index {

//===- Order ------------------------------------------------------------------------------------------------------===//

/// Dimensions before symbols before divisions; the same in every process, so not by address.
static int compareAtoms(AffineExpr a, AffineExpr b) {
  if (a == b)
    return 0;
  auto rank = [](AffineExpr e) {
    return e.getKind() == AffineExprKind::DimId ? 0 : e.getKind() == AffineExprKind::SymbolId ? 1 : 2;
  };
  if (int difference = rank(a) - rank(b))
    return difference;
  if (auto dim = dyn_cast<AffineDimExpr>(a))
    return static_cast<int>(dim.getPosition()) - static_cast<int>(cast<AffineDimExpr>(b).getPosition());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(a))
    return static_cast<int>(symbol.getPosition()) - static_cast<int>(cast<AffineSymbolExpr>(b).getPosition());
  if (int difference = static_cast<int>(a.getKind()) - static_cast<int>(b.getKind()))
    return difference;
  if (auto constant = dyn_cast<AffineConstantExpr>(a)) {
    int64_t x = constant.getValue(), y = cast<AffineConstantExpr>(b).getValue();
    return x < y ? -1 : x > y;
  }
  auto x = cast<AffineBinaryOpExpr>(a), y = cast<AffineBinaryOpExpr>(b);
  if (int difference = compareAtoms(x.getLHS(), y.getLHS()))
    return difference;
  return compareAtoms(x.getRHS(), y.getRHS());
}

static bool isBefore(AffineExpr a, AffineExpr b) { return compareAtoms(a, b) < 0; }

/// Graded: products of more atoms first, so that a leading term never divides a later one.
static int compareProducts(ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (int difference = compareAtoms(x, y))
      return difference;
  return 0;
}

//===- Ring -------------------------------------------------------------------------------------------------------===//

static int64_t wrappingSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
static int64_t wrappingProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Term operator*(const Term &a, const Term &b) {
  Term product{wrappingProduct(a.coefficient, b.coefficient), {}};
  product.atoms.reserve(a.atoms.size() + b.atoms.size());
  std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), std::back_inserter(product.atoms),
             isBefore);
  return product;
}

std::optional<SmallVector<AffineExpr, 2>> removeAtoms(ArrayRef<AffineExpr> product, ArrayRef<AffineExpr> divisor) {
  SmallVector<AffineExpr, 2> rest(product);
  for (AffineExpr atom : divisor) {
    auto *at = llvm::find(rest, atom);
    if (at == rest.end())
      return std::nullopt;
    rest.erase(at);
  }
  return rest;
}

void Polynomial::add(Term term) {
  if (term.coefficient == 0)
    return;
  auto *at =
      llvm::lower_bound(list, term, [](const Term &a, const Term &b) { return compareProducts(a.atoms, b.atoms) < 0; });
  if (at == list.end() || at->atoms != term.atoms) {
    list.insert(at, std::move(term));
    return;
  }
  at->coefficient = wrappingSum(at->coefficient, term.coefficient);
  if (at->coefficient == 0)
    list.erase(at);
}

std::optional<int64_t> Polynomial::constant() const {
  if (list.empty())
    return 0;
  return list.size() == 1 && list[0].isConstant() ? std::optional(list[0].coefficient) : std::nullopt;
}

Polynomial &Polynomial::addScaled(const Polynomial &other, const Term &factor) {
  for (const Term &term : other)
    add(term * factor);
  return *this;
}

Polynomial operator+(Polynomial a, const Polynomial &b) { return std::move(a += b); }
Polynomial operator-(Polynomial a, const Polynomial &b) { return std::move(a -= b); }

Polynomial operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  for (const Term &term : a)
    product.addScaled(b, term);
  return product;
}

/// Division by leading terms: where the quotient exists, its leading term is the quotient of the leading terms.
std::optional<Polynomial> divideExactly(Polynomial dividend, const Polynomial &divisor) {
  if (divisor.isZero())
    return std::nullopt;
  Polynomial quotient;
  int64_t by = divisor[0].coefficient;
  while (!dividend.isZero()) {
    int64_t coefficient = dividend[0].coefficient;
    auto atoms = removeAtoms(dividend[0].atoms, divisor[0].atoms);
    if (!atoms || (by != -1 && coefficient % by != 0))
      return std::nullopt;
    Term factor{by == -1 ? wrappingProduct(coefficient, -1) : coefficient / by, std::move(*atoms)};
    dividend.addScaled(divisor, Term{-1, {}} * factor);
    quotient.add(std::move(factor));
  }
  return quotient;
}

//===- Expressions ------------------------------------------------------------------------------------------------===//

Polynomial Polynomial::spelledBy(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return spelledBy(binary.getLHS()) + spelledBy(binary.getRHS());
  if (binary && expr.getKind() == AffineExprKind::Mul)
    return spelledBy(binary.getLHS()) * spelledBy(binary.getRHS());
  return atom(expr);
}

AffineExpr toExpr(MLIRContext *context, const Polynomial &polynomial) {
  AffineExpr expr = getAffineConstantExpr(0, context);
  for (const Term &term : polynomial) {
    // Dimensions and what is made of them to the left: the right side of a product must be free of dimensions.
    AffineExpr product, factor;
    for (AffineExpr atom : term.atoms) {
      AffineExpr &side = atom.isSymbolicOrConstant() ? factor : product;
      side = side ? side * atom : atom;
    }
    product = product ? (factor ? product * factor : product) : factor;
    product = product ? product * term.coefficient : getAffineConstantExpr(term.coefficient, context);
    expr = expr + product;
  }
  return expr;
}

Polynomial makeDivision(MLIRContext *context, AffineExprKind kind, const Polynomial &dividend,
                        const Polynomial &divisor) {
  return Polynomial::spelledBy(getAffineBinaryOpExpr(kind, toExpr(context, dividend), toExpr(context, divisor)));
}

} // namespace tilewright::index
