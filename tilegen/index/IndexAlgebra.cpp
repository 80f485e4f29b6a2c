// Exact arithmetic on index expressions; IndexAlgebra.h draws what it is for.
#include "tilegen/index/IndexAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright::tilegen {

//===- Order and ring ---------------------------------------------------------------------------------------------===//

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

/// Graded: products of more atoms first, so that a leading term never divides a later one.
static int compareProducts(ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (int difference = compareAtoms(x, y))
      return difference;
  return 0;
}

static void addTerm(Sum &sum, const Term &term) {
  if (term.coefficient == 0)
    return;
  auto *at =
      llvm::lower_bound(sum, term, [](const Term &a, const Term &b) { return compareProducts(a.atoms, b.atoms) < 0; });
  if (at == sum.end() || compareProducts(at->atoms, term.atoms) != 0) {
    sum.insert(at, term);
    return;
  }
  at->coefficient += term.coefficient;
  if (at->coefficient == 0)
    sum.erase(at);
}

static Term multiply(const Term &a, const Term &b) {
  Term product{a.coefficient * b.coefficient, a.atoms};
  product.atoms.append(b.atoms.begin(), b.atoms.end());
  llvm::sort(product.atoms, [](AffineExpr x, AffineExpr y) { return compareAtoms(x, y) < 0; });
  return product;
}

static Sum constantSum(int64_t value) {
  Sum sum;
  addTerm(sum, {value, {}});
  return sum;
}

static Sum atomSum(AffineExpr atom) { return {Term{1, {atom}}}; }

static Sum addScaled(Sum a, const Sum &b, const Term &factor) {
  for (const Term &term : b)
    addTerm(a, multiply(term, factor));
  return a;
}

static Sum add(const Sum &a, const Sum &b) { return addScaled(a, b, {1, {}}); }
static Sum subtract(const Sum &a, const Sum &b) { return addScaled(a, b, {-1, {}}); }

static Sum multiply(const Sum &a, const Sum &b) {
  Sum product;
  for (const Term &term : a)
    product = addScaled(std::move(product), b, term);
  return product;
}

static bool isEqualSum(const Sum &a, const Sum &b) { return subtract(a, b).empty(); }

/// The product without `divisor`'s atoms, or nothing if one of them is missing.
static std::optional<SmallVector<AffineExpr, 2>> removeAtoms(ArrayRef<AffineExpr> product,
                                                             ArrayRef<AffineExpr> divisor) {
  SmallVector<AffineExpr, 2> rest(product);
  for (AffineExpr atom : divisor) {
    auto *at = llvm::find(rest, atom);
    if (at == rest.end())
      return std::nullopt;
    rest.erase(at);
  }
  return rest;
}

//===- Expressions to sums and back -------------------------------------------------------------------------------===//

Sum IndexAlgebra::toSum(AffineExpr expr) {
  if (auto known = sums.find(expr); known != sums.end())
    return known->second;
  Sum sum = computeSum(expr);
  sums[expr] = sum;
  return sum;
}

Sum IndexAlgebra::computeSum(AffineExpr expr) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return constantSum(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::SymbolId:
    return atomSum(expr);
  case AffineExprKind::DimId: {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim < sizes.size() && sizes[dim] && sizes[dim] == getAffineConstantExpr(1, context))
      return {};
    return atomSum(expr);
  }
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Sum lhs = toSum(binary.getLHS()), rhs = toSum(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return recombine(add(lhs, rhs));
  case AffineExprKind::Mul:
    return recombine(multiply(lhs, rhs));
  case AffineExprKind::FloorDiv:
    return divide(lhs, rhs).quotient;
  case AffineExprKind::Mod:
    return divide(lhs, rhs).rest;
  default: // a ceildiv b = (a + b - 1) floordiv b
    return divide(add(add(lhs, rhs), constantSum(-1)), rhs).quotient;
  }
}

AffineExpr IndexAlgebra::toExpr(const Sum &sum) const {
  AffineExpr expr = getAffineConstantExpr(0, context);
  for (const Term &term : sum) {
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

/// The sum that an expression spells, with its divisions as they are.
static Sum flatten(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constantSum(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return add(flatten(binary.getLHS()), flatten(binary.getRHS()));
  if (binary && expr.getKind() == AffineExprKind::Mul)
    return multiply(flatten(binary.getLHS()), flatten(binary.getRHS()));
  return atomSum(expr);
}

Sum IndexAlgebra::makeAtom(AffineExprKind kind, const Sum &lhs, const Sum &rhs) const {
  AffineExpr expr = getAffineBinaryOpExpr(kind, toExpr(lhs), toExpr(rhs));
  return flatten(expr);
}

AffineMap IndexAlgebra::simplify(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(simplify(expr));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
}

//===- Division ---------------------------------------------------------------------------------------------------===//

/// Polynomial division by the leading term; coefficients divide with a remainder that is not negative.
IndexAlgebra::Division IndexAlgebra::divide(const Sum &dividend, const Sum &divisor) {
  Division result;
  if (divisor.empty())
    return {makeAtom(AffineExprKind::FloorDiv, dividend, divisor), makeAtom(AffineExprKind::Mod, dividend, divisor)};
  const Term &lead = divisor[0];
  Sum rest = dividend;
  for (size_t i = 0; i < rest.size();) {
    std::optional<SmallVector<AffineExpr, 2>> atoms = removeAtoms(rest[i].atoms, lead.atoms);
    int64_t coefficient = atoms ? llvm::divideFloorSigned(rest[i].coefficient, lead.coefficient) : 0;
    if (coefficient == 0) {
      ++i;
      continue;
    }
    Term factor{coefficient, *atoms};
    addTerm(result.quotient, factor);
    factor.coefficient = -coefficient;
    rest = addScaled(std::move(rest), divisor, factor);
    i = 0;
  }
  Division last = divideRest(recombine(rest), divisor);
  result.quotient = recombine(add(result.quotient, last.quotient));
  result.rest = std::move(last.rest);
  return result;
}

/// Division of what has no multiple of the divisor left in it.
IndexAlgebra::Division IndexAlgebra::divideRest(const Sum &rest, const Sum &divisor) {
  if (isWithin(rest, divisor))
    return {{}, rest};
  if (Sum next = add(rest, divisor); isWithin(next, divisor)) // -divisor <= rest < 0
    return {constantSum(-1), next};
  if (std::optional<Division> byFactor = divideByFactor(rest, divisor))
    return *byFactor;
  if (rest.size() == 1 && rest[0].coefficient == 1 && rest[0].atoms.size() == 1)
    if (auto inner = dyn_cast<AffineBinaryOpExpr>(rest[0].atoms[0])) {
      Sum lhs = toSum(inner.getLHS()), by = toSum(inner.getRHS());
      if (inner.getKind() == AffineExprKind::FloorDiv) // (x / a) / b = x / (a b)
        return {divide(lhs, multiply(by, divisor)).quotient, makeAtom(AffineExprKind::Mod, rest, divisor)};
      if (inner.getKind() == AffineExprKind::Mod)
        if (Division ratio = divide(by, divisor); ratio.rest.empty()) { // (x mod (b c)) / b = (x / b) mod c
          Division whole = divide(lhs, divisor);
          return {divide(whole.quotient, ratio.quotient).rest, whole.rest};
        }
    }
  return {makeAtom(AffineExprKind::FloorDiv, rest, divisor), makeAtom(AffineExprKind::Mod, rest, divisor)};
}

static Term greatestCommonFactor(const Term &term, const Sum &divisor) {
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
std::optional<IndexAlgebra::Division> IndexAlgebra::divideByFactor(const Sum &rest, const Sum &divisor) {
  for (const Term &candidate : rest) {
    Term factor = greatestCommonFactor(candidate, divisor);
    if (factor.coefficient == 1 && factor.atoms.empty())
      continue;
    Sum factorSum{factor}, multiples, small;
    for (const Term &term : rest) {
      bool divisible = term.coefficient % factor.coefficient == 0 && removeAtoms(term.atoms, factor.atoms);
      addTerm(divisible ? multiples : small, term);
    }
    if (!isWithin(small, factorSum))
      continue;
    auto shrink = [&](const Sum &sum) {
      Sum shrunk;
      for (const Term &term : sum)
        addTerm(shrunk, {term.coefficient / factor.coefficient, *removeAtoms(term.atoms, factor.atoms)});
      return shrunk;
    };
    Division division = divide(shrink(multiples), shrink(divisor));
    division.rest = recombine(addScaled(small, division.rest, factor));
    return division;
  }
  return std::nullopt;
}

//===- Putting quotient and rest together -------------------------------------------------------------------------===//

/// Whether `sum` contains all of `part`, coefficient by coefficient.
static bool contains(const Sum &sum, const Sum &part) {
  return llvm::all_of(part, [&](const Term &term) {
    return llvm::any_of(
        sum, [&](const Term &other) { return other.coefficient == term.coefficient && other.atoms == term.atoms; });
  });
}

/// c (x mod b) + c b (x / b) = c x, and c (x mod b) + c b ((x / b) mod e) = c (x mod (b e)).
bool IndexAlgebra::recombineOnce(Sum &sum) {
  for (const Term &term : sum)
    for (auto [position, atom] : llvm::enumerate(term.atoms)) {
      if (atom.getKind() != AffineExprKind::Mod)
        continue;
      auto mod = cast<AffineBinaryOpExpr>(atom);
      Sum whole = toSum(mod.getLHS()), by = toSum(mod.getRHS());
      Term factor = term;
      factor.atoms.erase(factor.atoms.begin() + position);
      Sum scaledBy = addScaled({}, by, factor), quotient = divide(whole, by).quotient;
      Sum upper = multiply(scaledBy, quotient);
      Sum without = subtract(sum, {term});
      if (!upper.empty() && contains(without, upper)) {
        sum = addScaled(subtract(without, upper), whole, factor);
        return true;
      }
      for (const Term &other : without)
        for (AffineExpr second : other.atoms) {
          if (second.getKind() != AffineExprKind::Mod)
            continue;
          auto outer = cast<AffineBinaryOpExpr>(second);
          Sum product = multiply(scaledBy, atomSum(second));
          if (!isEqualSum(product, {other}) || !isEqualSum(toSum(outer.getLHS()), quotient))
            continue;
          Sum joined = divide(whole, multiply(by, toSum(outer.getRHS()))).rest;
          sum = addScaled(subtract(without, {other}), joined, factor);
          return true;
        }
    }
  return false;
}

Sum IndexAlgebra::recombine(Sum sum) {
  while (recombineOnce(sum)) {
  }
  return sum;
}

//===- Bounds -----------------------------------------------------------------------------------------------------===//

static bool isSizeOnly(const Sum &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    return llvm::all_of(term.atoms, [](AffineExpr atom) { return atom.isSymbolicOrConstant(); });
  });
}

IndexAlgebra::IndexAlgebra(MLIRContext *context, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> mayBeZero)
    : context(context), sizes(sizes.begin(), sizes.end()) {
  SmallVector<Sum> sums;
  for (AffineExpr size : sizes)
    if (size && !isa<AffineConstantExpr>(size))
      sums.push_back(toSum(size));
  for (int64_t position : mayBeZero) {
    AffineExpr symbol = getAffineSymbolExpr(position, context);
    auto isFactor = [&](const Sum &size) {
      return llvm::all_of(size, [&](const Term &term) { return llvm::is_contained(term.atoms, symbol); });
    };
    if (!llvm::any_of(sums, isFactor))
      least[position] = 0;
  }
  for (const Sum &size : sums) // s - c
    if (size.size() == 2 && size[0].coefficient == 1 && size[0].atoms.size() == 1 && size[1].atoms.empty() &&
        size[1].coefficient < 0)
      if (auto symbol = dyn_cast<AffineSymbolExpr>(size[0].atoms[0])) {
        int64_t &value = least.try_emplace(symbol.getPosition(), 1).first->second;
        value = std::max(value, 1 - size[1].coefficient);
      }
  this->sums.clear(); // what was simplified without these facts
}

/// Inclusive bounds as sums of symbols alone. What multiplies the same atom is one factor, so that d0 * s0 - d0 is
/// never negative; a factor whose sign is not known is taken term by term.
std::optional<IndexAlgebra::Range> IndexAlgebra::range(const Sum &sum) {
  Range total;
  SmallVector<std::pair<AffineExpr, Sum>> varying;
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
    addTerm(known->second, factor);
  }
  for (const auto &[atom, factor] : varying) {
    std::optional<Range> values = atom ? rangeOfAtom(atom) : Range{constantSum(1), constantSum(1)};
    if (!values)
      return std::nullopt;
    auto addPart = [&](const Sum &part) {
      bool up = !atom || isSizeNonNegative(part);
      if (!up && !isSizeNonNegative(subtract({}, part)))
        return false;
      total.low = add(total.low, multiply(part, up ? values->low : values->high));
      total.high = add(total.high, multiply(part, up ? values->high : values->low));
      return true;
    };
    if (!addPart(factor) && !llvm::all_of(factor, [&](const Term &term) { return addPart({term}); }))
      return std::nullopt;
  }
  return total;
}

std::optional<IndexAlgebra::Range> IndexAlgebra::rangeOfAtom(AffineExpr atom) {
  if (auto dim = dyn_cast<AffineDimExpr>(atom)) {
    unsigned position = dim.getPosition();
    if (position >= sizes.size() || !sizes[position])
      return std::nullopt;
    return Range{{}, add(toSum(sizes[position]), constantSum(-1))};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
  if (!binary)
    return std::nullopt;
  Sum by = toSum(binary.getRHS());
  if (binary.getKind() == AffineExprKind::Mod)
    return Range{{}, add(by, constantSum(-1))};
  std::optional<Range> whole = range(toSum(binary.getLHS()));
  if (binary.getKind() != AffineExprKind::FloorDiv || !whole || !isSizeOnly(by))
    return std::nullopt;
  return Range{divide(whole->low, by).quotient, divide(whole->high, by).quotient};
}

/// A sum of symbols is not negative for all symbols >= 1: every symbol is written 1 + t, or its least value + t, and
/// then every coefficient must be >= 0. A negative multiple of x / b is bounded by one of x.
bool IndexAlgebra::isSizeNonNegative(Sum sum) {
  for (int step = 0; step < 8; ++step) {
    auto *negative = llvm::find_if(sum, [](const Term &term) {
      return term.coefficient < 0 && term.atoms.size() == 1 && term.atoms[0].getKind() == AffineExprKind::FloorDiv;
    });
    if (negative == sum.end())
      break;
    auto quotient = cast<AffineBinaryOpExpr>(negative->atoms[0]);
    auto by = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (!by || by.getValue() <= 0 || negative->coefficient % by.getValue() != 0) // an empty shape divides by 0
      return false;
    Term term = *negative;
    sum = addScaled(subtract(sum, {term}), toSum(quotient.getLHS()), {term.coefficient / by.getValue(), {}});
  }
  Sum shifted;
  for (const Term &term : sum) {
    Sum product = constantSum(term.coefficient);
    for (AffineExpr atom : term.atoms) {
      Sum shiftedAtom = atomSum(atom);
      if (auto symbol = dyn_cast<AffineSymbolExpr>(atom)) {
        auto known = least.find(symbol.getPosition());
        shiftedAtom = add(shiftedAtom, constantSum(known == least.end() ? 1 : known->second));
      } else if (auto binary = dyn_cast<AffineBinaryOpExpr>(atom);
                 binary && binary.getKind() == AffineExprKind::FloorDiv) {
        if (!isSizeNonNegative(toSum(binary.getLHS()))) // else at least 0
          return false;
      }
      product = multiply(product, shiftedAtom);
    }
    shifted = add(shifted, product);
  }
  return llvm::all_of(shifted, [](const Term &term) { return term.coefficient > 0; });
}

bool IndexAlgebra::isWithin(const Sum &sum, const Sum &size) {
  std::optional<Range> bounds = range(sum);
  return bounds && isSizeOnly(size) && isSizeNonNegative(bounds->low) &&
         isSizeNonNegative(subtract(add(size, constantSum(-1)), bounds->high));
}

bool IndexAlgebra::isNonNegative(AffineExpr expr) {
  std::optional<Range> bounds = range(toSum(expr));
  return bounds && isSizeNonNegative(bounds->low);
}

bool IndexAlgebra::isInside(AffineExpr expr, AffineExpr size) { return isWithin(toSum(expr), toSum(size)); }

bool IndexAlgebra::divides(AffineExpr divisor, AffineExpr expr) {
  return divide(toSum(expr), toSum(divisor)).rest.empty();
}

AffineExpr IndexAlgebra::divideExactly(AffineExpr expr, AffineExpr divisor) {
  return toExpr(divide(toSum(expr), toSum(divisor)).quotient);
}

bool IndexAlgebra::isEqual(AffineExpr a, AffineExpr b) { return isEqualSum(toSum(a), toSum(b)); }

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
