// SPDX-License-Identifier: Apache-2.0
// Whether a polynomial of sizes can be negative.
//
//   s0 - 3, s0 >= 3        every symbol is written as its least value + t with t >= 0:   (3 + t0) - 3  =  t0
//   s0 - s0 floordiv 2     a negative quotient is bounded by the one that rounds nothing:   2 s0 - s0  =  s0
//   (s0 + 1) floordiv 2 - s0 floordiv 2     the larger quotient takes the smaller along
//
// What is left is not negative if no coefficient is and no atom is.
#include "frontend/index/Polynomial.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tilewright::index {

using LeastOfSymbol = llvm::function_ref<int64_t(AffineSymbolExpr)>;

static constexpr int64_t mostScale = 1 << 20; // of a divisor that everything else is multiplied with
static constexpr int mostQuotients = 8;

/// x and c of a term that is a multiple of x floordiv c for a positive constant c.
static std::optional<std::pair<AffineExpr, int64_t>> asQuotient(const Term &term) {
  auto binary = dyn_cast_if_present<AffineBinaryOpExpr>(term.soleAtom());
  auto by = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (!by || binary.getKind() != AffineExprKind::FloorDiv || by.getValue() <= 0)
    return std::nullopt;
  return std::pair(binary.getLHS(), by.getValue());
}

/// x floordiv c - y floordiv c with x >= y is at least 0, and taken out as often as `sum` has it.
static void cancelQuotients(Polynomial &sum, LeastOfSymbol least) {
  for (const Term &negative : Polynomial(sum)) {
    auto less = negative.coefficient < 0 ? asQuotient(negative) : std::nullopt;
    if (!less)
      continue;
    for (const Term &positive : Polynomial(sum)) {
      auto more = positive.coefficient >= -negative.coefficient ? asQuotient(positive) : std::nullopt;
      if (!more || more->second != less->second ||
          !isNonNegative(Polynomial::spelledBy(more->first) - Polynomial::spelledBy(less->first), least))
        continue;
      sum.add({negative.coefficient, positive.atoms});
      sum.add({-negative.coefficient, negative.atoms});
      break;
    }
  }
}

/// c * sum for the first negative multiple of a quotient x floordiv c, which becomes one of x. False: there is none.
static bool boundQuotient(Polynomial &sum) {
  for (const Term &term : sum) {
    auto quotient = term.coefficient < 0 ? asQuotient(term) : std::nullopt;
    if (!quotient || quotient->second > mostScale)
      continue;
    Polynomial bounded;
    bounded.addScaled(sum - Polynomial(term), {quotient->second, {}});
    bounded.addScaled(Polynomial::spelledBy(quotient->first), {term.coefficient, {}});
    sum = std::move(bounded);
    return true;
  }
  return false;
}

static bool isNonNegativeAtom(AffineExpr atom, LeastOfSymbol least) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(atom))
    return least(symbol) >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
  return binary &&
         (binary.getKind() == AffineExprKind::Mod || (isNonNegative(Polynomial::spelledBy(binary.getLHS()), least) &&
                                                      isNonNegative(Polynomial::spelledBy(binary.getRHS()), least)));
}

bool isNonNegative(Polynomial sum, LeastOfSymbol least) {
  cancelQuotients(sum, least);
  for (int step = 0; step < mostQuotients && boundQuotient(sum); ++step) {
  }
  Polynomial above; // in symbols that count from their least values
  for (const Term &term : sum) {
    Polynomial product = term.coefficient;
    for (AffineExpr atom : term.atoms) {
      if (!isNonNegativeAtom(atom, least))
        return false;
      Polynomial shifted = Polynomial::atom(atom);
      if (auto symbol = dyn_cast<AffineSymbolExpr>(atom))
        shifted += least(symbol);
      product = product * shifted;
    }
    above += product;
  }
  return llvm::all_of(above, [](const Term &term) { return term.coefficient >= 0; });
}

} // namespace tilewright::index
