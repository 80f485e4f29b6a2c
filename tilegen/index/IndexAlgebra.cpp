// SPDX-License-Identifier: Apache-2.0
// Exact arithmetic on index expressions; IndexAlgebra.h draws what it is for.
#include "tilegen/index/IndexAlgebra.h"

#include "frontend/index/Evaluate.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright::tilegen {

using index::Polynomial, index::removeAtoms, index::Term;

// The position of the symbol that stands for the first quotient that is at least 1: above those of all sizes.
static constexpr unsigned firstName = 1 << 30;

//===- Operations -------------------------------------------------------------------------------------------------===//

Polynomial IndexAlgebra::toPolynomial(AffineExpr expr) {
  if (auto known = polynomials.find(expr); known != polynomials.end())
    return known->second;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  Polynomial result =
      binary ? index::combine(expr.getKind(), toPolynomial(binary.getLHS()), toPolynomial(binary.getRHS()), *this)
             : leafOf(expr);
  polynomials[expr] = result;
  return result;
}

/// A dimension of size 1 has the coordinate 0.
Polynomial IndexAlgebra::leafOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() < sizes.size())
    if (AffineExpr size = sizes[dim.getPosition()]; size && size == getAffineConstantExpr(1, context))
      return 0;
  return Polynomial::atom(expr);
}

Polynomial IndexAlgebra::add(const Polynomial &a, const Polynomial &b) { return recombine(a + b); }
Polynomial IndexAlgebra::multiply(const Polynomial &a, const Polynomial &b) { return recombine(a * b); }
Polynomial IndexAlgebra::floorDivide(const Polynomial &a, const Polynomial &b) { return divide(a, b).quotient; }
Polynomial IndexAlgebra::ceilDivide(const Polynomial &a, const Polynomial &b) { return divide(a + b - 1, b).quotient; }
Polynomial IndexAlgebra::modulo(const Polynomial &a, const Polynomial &b) { return divide(a, b).rest; }

IndexAlgebra::Division IndexAlgebra::opaque(const Polynomial &dividend, const Polynomial &divisor) const {
  return {makeDivision(context, AffineExprKind::FloorDiv, dividend, divisor),
          makeDivision(context, AffineExprKind::Mod, dividend, divisor)};
}

AffineMap IndexAlgebra::simplify(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(simplify(expr));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
}

//===- Division ---------------------------------------------------------------------------------------------------===//

/// Polynomial division by the leading term; coefficients divide with a remainder that is not negative.
IndexAlgebra::Division IndexAlgebra::divide(const Polynomial &dividend, const Polynomial &divisor) {
  Division result;
  if (divisor.isZero())
    return opaque(dividend, divisor);
  const Term &lead = divisor[0];
  Polynomial rest = dividend;
  for (size_t i = 0; i < rest.size();) {
    std::optional<SmallVector<AffineExpr, 2>> atoms = removeAtoms(rest[i].atoms, lead.atoms);
    int64_t coefficient = atoms ? llvm::divideFloorSigned(rest[i].coefficient, lead.coefficient) : 0;
    if (coefficient == 0) {
      ++i;
      continue;
    }
    Term factor{coefficient, *atoms};
    result.quotient.add(factor);
    rest.addScaled(divisor, {-coefficient, factor.atoms});
    i = 0;
  }
  Division last = divideRest(recombine(rest), divisor);
  result.quotient = recombine(result.quotient + last.quotient);
  result.rest = std::move(last.rest);
  return result;
}

/// Division of a dividend from which `divide` has taken all multiples of the divisor that it could.
IndexAlgebra::Division IndexAlgebra::divideRest(const Polynomial &rest, const Polynomial &divisor) {
  if (isWithin(rest, divisor))
    return {{}, rest};
  if (Polynomial next = rest + divisor; isWithin(next, divisor)) // -divisor <= rest < 0
    return {-1, next};
  if (std::optional<Division> byFactor = divideByFactor(rest, divisor))
    return *byFactor;
  if (rest.size() == 1 && rest[0].coefficient == 1 && rest[0].atoms.size() == 1)
    if (auto inner = dyn_cast<AffineBinaryOpExpr>(rest[0].atoms[0])) {
      Polynomial lhs = toPolynomial(inner.getLHS()), by = toPolynomial(inner.getRHS());
      if (inner.getKind() == AffineExprKind::FloorDiv) // (x / a) / b = x / (a b)
        return {divide(lhs, by * divisor).quotient, makeDivision(context, AffineExprKind::Mod, rest, divisor)};
      if (inner.getKind() == AffineExprKind::Mod)
        if (Division ratio = divide(by, divisor); ratio.rest.isZero()) { // (x mod (b c)) / b = (x / b) mod c
          Division whole = divide(lhs, divisor);
          return {divide(whole.quotient, ratio.quotient).rest, whole.rest};
        }
    }
  return opaque(rest, divisor);
}

static Term greatestCommonFactor(const Term &term, const Polynomial &divisor) {
  Term factor{std::abs(term.coefficient), term.atoms};
  for (const Term &other : divisor) {
    factor.coefficient = std::gcd(factor.coefficient, other.coefficient);
    SmallVector<AffineExpr, 2> common, left(other.atoms);
    for (AffineExpr atom : factor.atoms)
      if (auto *at = llvm::find(left, atom); at != left.end()) {
        common.push_back(atom);
        left.erase(at);
      }
    factor.atoms = common;
  }
  return factor;
}

/// (g x + r) / (g b) = x / b and (g x + r) mod (g b) = g (x mod b) + r where 0 <= r < g.
std::optional<IndexAlgebra::Division> IndexAlgebra::divideByFactor(const Polynomial &rest, const Polynomial &divisor) {
  for (const Term &candidate : rest) {
    Term factor = greatestCommonFactor(candidate, divisor);
    if (factor.coefficient == 1 && factor.atoms.empty())
      continue;
    Polynomial multiples, small;
    for (const Term &term : rest) {
      bool divisible = term.coefficient % factor.coefficient == 0 && removeAtoms(term.atoms, factor.atoms);
      (divisible ? multiples : small).add(term);
    }
    if (!isWithin(small, factor))
      continue;
    auto shrink = [&](const Polynomial &sum) {
      Polynomial shrunk;
      for (const Term &term : sum)
        shrunk.add({term.coefficient / factor.coefficient, *removeAtoms(term.atoms, factor.atoms)});
      return shrunk;
    };
    Division division = divide(shrink(multiples), shrink(divisor));
    division.rest = recombine(small.addScaled(division.rest, factor));
    return division;
  }
  return std::nullopt;
}

//===- Putting quotient and rest together -------------------------------------------------------------------------===//

/// Whether `sum` contains all of `part`, coefficient by coefficient.
static bool contains(const Polynomial &sum, const Polynomial &part) {
  return llvm::all_of(part, [&](const Term &term) {
    return llvm::any_of(
        sum, [&](const Term &other) { return other.coefficient == term.coefficient && other.atoms == term.atoms; });
  });
}

/// c (x mod b) + c b (x / b) = c x, and c (x mod b) + c b ((x / b) mod e) = c (x mod (b e)).
bool IndexAlgebra::recombineOnce(Polynomial &sum) {
  for (const Term &term : sum)
    for (auto [position, atom] : llvm::enumerate(term.atoms)) {
      if (atom.getKind() != AffineExprKind::Mod)
        continue;
      auto mod = cast<AffineBinaryOpExpr>(atom);
      Polynomial whole = toPolynomial(mod.getLHS()), by = toPolynomial(mod.getRHS());
      Term factor = term;
      factor.atoms.erase(factor.atoms.begin() + position);
      Polynomial scaledBy = by * factor, quotient = divide(whole, by).quotient;
      Polynomial upper = scaledBy * quotient;
      Polynomial without = sum - term;
      if (!upper.isZero() && contains(without, upper)) {
        sum = (without - upper).addScaled(whole, factor);
        return true;
      }
      for (const Term &other : without)
        for (AffineExpr second : other.atoms) {
          if (second.getKind() != AffineExprKind::Mod)
            continue;
          auto outer = cast<AffineBinaryOpExpr>(second);
          Polynomial product = scaledBy * Polynomial::atom(second);
          if (product != Polynomial(other) || toPolynomial(outer.getLHS()) != quotient)
            continue;
          Polynomial joined = divide(whole, by * toPolynomial(outer.getRHS())).rest;
          sum = (without - other).addScaled(joined, factor);
          return true;
        }
    }
  return false;
}

Polynomial IndexAlgebra::recombine(Polynomial sum) {
  while (recombineOnce(sum)) {
  }
  return sum;
}

//===- Bounds -----------------------------------------------------------------------------------------------------===//

static bool isSizeOnly(const Polynomial &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    return llvm::all_of(term.atoms, [](AffineExpr atom) { return atom.isSymbolicOrConstant(); });
  });
}

static bool isFactor(AffineExpr atom, const Polynomial &size) {
  return llvm::all_of(size, [&](const Term &term) { return llvm::is_contained(term.atoms, atom); });
}

IndexAlgebra::IndexAlgebra(MLIRContext *context, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> mayBeZero)
    : context(context), sizes(sizes.begin(), sizes.end()) {
  SmallVector<Polynomial> known;
  for (AffineExpr size : sizes)
    if (size && !isa<AffineConstantExpr>(size))
      known.push_back(toPolynomial(size));
  for (int64_t position : mayBeZero) {
    AffineExpr symbol = getAffineSymbolExpr(position, context);
    if (llvm::none_of(known, [&](const Polynomial &size) { return isFactor(symbol, size); }))
      least[position] = 0;
  }
  for (const Polynomial &size : known) // s - c
    if (size.size() == 2 && size[0].coefficient == 1 && size[0].atoms.size() == 1 && size[1].atoms.empty() &&
        size[1].coefficient < 0)
      if (auto symbol = dyn_cast<AffineSymbolExpr>(size[0].atoms[0])) {
        int64_t &value = least.try_emplace(symbol.getPosition(), 1).first->second;
        value = std::max(value, 1 - size[1].coefficient);
      }
  for (const Polynomial &size : known)
    if (size.size() > 0)
      for (AffineExpr atom : size[0].atoms)
        if (!isa<AffineSymbolExpr>(atom) && atom.isSymbolicOrConstant() && isFactor(atom, size))
          named.try_emplace(atom, getAffineSymbolExpr(firstName + named.size(), context));
  polynomials.clear(); // what was simplified without these facts
}

/// Inclusive bounds, as polynomials of symbols alone; nullopt if there are none. Terms with the same atom that is no
/// symbol are one factor times that atom, so that d0 * s0 - d0 is proved not to be negative. A factor whose sign is not
/// known is taken term by term.
std::optional<IndexAlgebra::Range> IndexAlgebra::range(const Polynomial &sum) {
  Range total;
  SmallVector<std::pair<AffineExpr, Polynomial>> varying;
  for (const Term &term : sum) {
    Term factor{term.coefficient, {}};
    AffineExpr atom;
    for (AffineExpr each : term.atoms) {
      if (each.isSymbolicOrConstant())
        factor.atoms.push_back(each);
      else if (atom)
        return std::nullopt;
      else
        atom = each;
    }
    auto *known = llvm::find_if(varying, [&](const auto &pair) { return pair.first == atom; });
    if (known == varying.end())
      known = varying.insert(known, {atom, {}});
    known->second.add(factor);
  }
  for (const auto &[atom, factor] : varying) {
    std::optional<Range> values = atom ? rangeOfAtom(atom) : Range{1, 1};
    if (!values)
      return std::nullopt;
    auto addPart = [&](const Polynomial &part) {
      bool up = !atom || isSizeNonNegative(part);
      if (!up && !isSizeNonNegative(Polynomial() - part))
        return false;
      total.low += part * (up ? values->low : values->high);
      total.high += part * (up ? values->high : values->low);
      return true;
    };
    if (!addPart(factor) && !llvm::all_of(factor, [&](const Term &term) { return addPart(term); }))
      return std::nullopt;
  }
  return total;
}

std::optional<IndexAlgebra::Range> IndexAlgebra::rangeOfAtom(AffineExpr atom) {
  if (auto dim = dyn_cast<AffineDimExpr>(atom)) {
    unsigned position = dim.getPosition();
    if (position >= sizes.size() || !sizes[position])
      return std::nullopt;
    return Range{{}, toPolynomial(sizes[position]) - 1};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
  if (!binary)
    return std::nullopt;
  Polynomial by = toPolynomial(binary.getRHS());
  if (binary.getKind() == AffineExprKind::Mod)
    return Range{{}, by - 1};
  std::optional<Range> whole = range(toPolynomial(binary.getLHS()));
  if (binary.getKind() != AffineExprKind::FloorDiv || !whole || !isSizeOnly(by))
    return std::nullopt;
  return Range{divide(whole->low, by).quotient, divide(whole->high, by).quotient};
}

bool IndexAlgebra::isSizeNonNegative(const Polynomial &sum) const {
  auto leastOf = [&](AffineSymbolExpr symbol) {
    auto known = least.find(symbol.getPosition());
    return known == least.end() ? 1 : known->second;
  };
  if (index::isNonNegative(sum, leastOf))
    return true;
  Polynomial renamed; // with a symbol for each quotient that is at least 1
  for (const Term &term : sum) {
    Polynomial product = term.coefficient;
    for (AffineExpr atom : term.atoms)
      product = product * Polynomial::atom(named.lookup_or(atom, atom));
    renamed += product;
  }
  return renamed != sum && index::isNonNegative(renamed, leastOf);
}

bool IndexAlgebra::isWithin(const Polynomial &sum, const Polynomial &size) {
  std::optional<Range> bounds = range(sum);
  return bounds && isSizeOnly(size) && isSizeNonNegative(bounds->low) && isSizeNonNegative(size - 1 - bounds->high);
}

bool IndexAlgebra::isNonNegative(AffineExpr expr) {
  std::optional<Range> bounds = range(toPolynomial(expr));
  return bounds && isSizeNonNegative(bounds->low);
}

bool IndexAlgebra::isInside(AffineExpr expr, AffineExpr size) {
  return isWithin(toPolynomial(expr), toPolynomial(size));
}

bool IndexAlgebra::divides(AffineExpr divisor, AffineExpr expr) {
  return divide(toPolynomial(expr), toPolynomial(divisor)).rest.isZero();
}

AffineExpr IndexAlgebra::divideExactly(AffineExpr expr, AffineExpr divisor) {
  return toExpr(divide(toPolynomial(expr), toPolynomial(divisor)).quotient);
}

bool IndexAlgebra::isEqual(AffineExpr a, AffineExpr b) { return toPolynomial(a) == toPolynomial(b); }

//===- Questions --------------------------------------------------------------------------------------------------===//

unsigned countDivisions(AffineExpr expr) {
  unsigned count = 0;
  expr.walk([&](AffineExpr e) {
    AffineExprKind kind = e.getKind();
    bool division = kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod || kind == AffineExprKind::CeilDiv;
    count += division && !e.isSymbolicOrConstant();
  });
  return count;
}

bool dependsOn(AffineExpr expr, unsigned dim) { return expr.isFunctionOfDim(dim); }

} // namespace tilewright::tilegen
