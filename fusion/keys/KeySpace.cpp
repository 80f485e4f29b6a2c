// SPDX-License-Identifier: Apache-2.0
// Inequalities solved for the key.
#include "fusion/keys/KeySpace.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;
using index::Polynomial;

void KeyInterval::intersect(const KeyInterval &other) {
  for (auto [mine, theirs] : {std::pair(&from, &other.from), std::pair(&below, &other.below)})
    for (AffineExpr expr : *theirs)
      if (!llvm::is_contained(*mine, expr))
        mine->push_back(expr);
}

/// Every dimension takes its first or last coordinate, whichever makes the sum smaller.
bool KeySpace::isNonNegative(AffineExpr expr) const {
  Polynomial least;
  for (const index::Term &term : Polynomial::spelledBy(expr)) {
    Polynomial product(term.coefficient);
    for (AffineExpr atom : term.atoms) {
      auto dim = dyn_cast<AffineDimExpr>(atom);
      bool isAlone = term.atoms.size() == 1; // a quotient may be negative, so a product with it has no known bound
      if (!dim && !isa<AffineSymbolExpr>(atom) && !(isAlone && atom.isSymbolicOrConstant()))
        return false;
      Polynomial last = dim ? Polynomial::spelledBy(sizes[dim.getPosition()] - 1) : Polynomial::atom(atom);
      product = dim && term.coefficient > 0 ? Polynomial() : product * last;
    }
    least += product;
  }
  return index::isNonNegative(least, [&](AffineSymbolExpr symbol) { // where a size is 0 there are no points
    return llvm::is_contained(sizes, symbol) ? 1 : 0;
  });
}

KeyInterval KeySpace::whereNonNegative(AffineExpr expr) const {
  if (isNonNegative(expr))
    return {};
  Polynomial sum = Polynomial::spelledBy(expr), rest = sum;
  int64_t slope = 0;
  for (const index::Term &term : sum) {
    if (llvm::none_of(term.atoms, [&](AffineExpr atom) { return atom.isFunctionOfDim(key); }))
      continue;
    if (term.soleAtom() != keyExpr() || std::abs(term.coefficient) != 1)
      return {};
    slope = term.coefficient;
    rest -= Polynomial(term);
  }
  MLIRContext *context = expr.getContext();
  if (slope < 0)
    return {{}, {toExpr(context, rest + Polynomial(1))}};
  if (slope > 0)
    return {{toExpr(context, Polynomial() - rest)}, {}};
  return {}; // a condition on the row
}

/// The complement of the keys for which expr < 0. They have a bound on one side only, and beyond it expr >= 0 is sure.
std::optional<KeyInterval> KeySpace::surelyNonNegative(AffineExpr expr) const {
  if (isNonNegative(expr))
    return KeyInterval();
  KeyInterval others = whereNonNegative(-expr - 1);
  if (!others.from.empty())
    return KeyInterval{{}, {others.from.front()}};
  if (!others.below.empty())
    return KeyInterval{{others.below.front()}, {}};
  return std::nullopt;
}

std::optional<KeyInterval> fusion::intersection(std::optional<KeyInterval> a, const std::optional<KeyInterval> &b) {
  if (!a || !b)
    return std::nullopt;
  a->intersect(*b);
  return a;
}

std::optional<Exprs> fusion::throughAccess(Operation *op, ArrayRef<AffineExpr> at) {
  auto access = dyn_cast_or_null<graph::AccessOpInterface>(op);
  if (!access || access.getFill() || !access.getIndexOperands().empty())
    return std::nullopt;
  Exprs data;
  for (AffineExpr expr : access.getAccessMap().getResults())
    data.push_back(expr.replaceDims(at));
  return data;
}
