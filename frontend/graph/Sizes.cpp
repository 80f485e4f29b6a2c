// Canonical size expressions: expanded to a polynomial over atoms, then rebuilt in one order.
//
//   (s1 * 2 + s0) * s0  ->  { s0*s0 : 1, s0*s1 : 2 }  ->  s0 * s0 + s0 * s1 * 2
//
// Atoms are symbols (and dimensions, for maps that pass through here) and those floordiv, ceildiv and mod expressions
// that do not divide out.
#include "frontend/graph/Sizes.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace tilewright::graph {
namespace {

/// Printed form is a total order that does not depend on addresses.
std::string spelling(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return text;
}

struct Atom {
  AffineExpr expr;
  std::string key;
  /// Symbols sort by index, opaque terms after them by spelling.
  auto rank() const {
    auto symbol = llvm::dyn_cast<AffineSymbolExpr>(expr);
    return std::tuple(symbol ? 0 : 1, symbol ? symbol.getPosition() : 0u, key);
  }
  bool operator<(const Atom &other) const { return rank() < other.rank(); }
  bool operator==(const Atom &other) const { return expr == other.expr; }
};

using Monomial = std::vector<Atom>; // sorted, with repetition

struct ByDegree {
  /// A monomial order (graded lexicographic, largest first): what polynomial division needs.
  bool operator()(const Monomial &a, const Monomial &b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

using Polynomial = std::map<Monomial, int64_t, ByDegree>;

/// Sizes that overflow are refused where types are made; until then they wrap.
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

void addTerm(Polynomial &sum, const Monomial &monomial, int64_t coefficient) {
  int64_t &slot = sum[monomial];
  slot = plus(slot, coefficient);
  if (slot == 0)
    sum.erase(monomial);
}

Monomial multiply(const Monomial &a, const Monomial &b) {
  Monomial product;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(product));
  return product;
}

Polynomial multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  for (auto &[am, ac] : a)
    for (auto &[bm, bc] : b)
      addTerm(product, multiply(am, bm), times(ac, bc));
  return product;
}

/// a / b if b divides a, otherwise nothing.
std::optional<Monomial> divide(const Monomial &a, const Monomial &b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end()))
    return std::nullopt;
  Monomial quotient;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(quotient));
  return quotient;
}

std::optional<Polynomial> divide(Polynomial rest, const Polynomial &divisor) {
  if (divisor.empty())
    return std::nullopt;
  auto &[leadMonomial, leadCoefficient] = *divisor.begin();
  Polynomial quotient;
  while (!rest.empty()) {
    auto &[monomial, coefficient] = *rest.begin();
    std::optional<Monomial> factor = divide(monomial, leadMonomial);
    if (!factor || (leadCoefficient != -1 && coefficient % leadCoefficient != 0))
      return std::nullopt;
    int64_t scale = leadCoefficient == -1 ? times(coefficient, -1) : coefficient / leadCoefficient;
    addTerm(quotient, *factor, scale);
    for (auto &[m, c] : divisor)
      addTerm(rest, multiply(m, *factor), times(times(c, -1), scale));
  }
  return quotient;
}

AffineExpr rebuild(MLIRContext *context, const Polynomial &polynomial) {
  AffineExpr sum;
  for (auto &[monomial, coefficient] : polynomial) {
    AffineExpr term;
    for (const Atom &atom : monomial)
      term = term ? term * atom.expr : atom.expr;
    term = term ? (coefficient == 1 ? term : term * coefficient) : getAffineConstantExpr(coefficient, context);
    sum = sum ? sum + term : term;
  }
  return sum ? sum : getAffineConstantExpr(0, context);
}

Polynomial expand(AffineExpr expr);

/// What is left of `lhs floordiv by` or `lhs mod by` for a positive constant, after the multiples of `by` went to
/// `whole`: every coefficient of the rest is from 0 to by - 1.
Polynomial takeMultiples(const Polynomial &lhs, int64_t by, Polynomial &whole) {
  Polynomial rest;
  for (auto &[monomial, coefficient] : lhs) {
    int64_t quotient = llvm::divideFloorSigned(coefficient, by);
    addTerm(whole, monomial, quotient);
    addTerm(rest, monomial, coefficient - quotient * by);
  }
  return rest;
}

/// x and a with `rest` = (x floordiv a) + c as x + a * c and a: ((x floordiv a) + c) floordiv b = (x + a c) floordiv (a
/// b).
std::optional<std::pair<Polynomial, int64_t>> asQuotient(const Polynomial &rest) {
  if (rest.empty() || rest.size() > 2 || rest.begin()->first.size() != 1 || rest.begin()->second != 1)
    return std::nullopt;
  int64_t added = rest.size() == 2 ? std::prev(rest.end())->second : 0;
  if (rest.size() == 2 && !std::prev(rest.end())->first.empty())
    return std::nullopt;
  auto inner = llvm::dyn_cast<AffineBinaryOpExpr>(rest.begin()->first.front().expr);
  auto by = inner ? llvm::dyn_cast<AffineConstantExpr>(inner.getRHS()) : AffineConstantExpr();
  if (!by || inner.getKind() != AffineExprKind::FloorDiv || by.getValue() <= 0 || by.getValue() > (1 << 20))
    return std::nullopt;
  Polynomial numerator = expand(inner.getLHS());
  addTerm(numerator, {}, times(added, by.getValue()));
  return std::pair(std::move(numerator), by.getValue());
}

Polynomial opaqueDivision(MLIRContext *context, AffineExprKind kind, const Polynomial &lhs, const Polynomial &rhs) {
  AffineExpr opaque = getAffineBinaryOpExpr(kind, rebuild(context, lhs), rebuild(context, rhs));
  if (auto constant = llvm::dyn_cast<AffineConstantExpr>(opaque))
    return constant.getValue() ? Polynomial{{{}, constant.getValue()}} : Polynomial();
  return {{{Atom{opaque, spelling(opaque)}}, 1}};
}

Polynomial expandByConstant(MLIRContext *context, AffineExprKind kind, Polynomial lhs, int64_t by) {
  Polynomial whole;
  if (kind == AffineExprKind::CeilDiv)
    addTerm(lhs, {}, by - 1);
  Polynomial rest = takeMultiples(lhs, by, whole), divisor{{{}, by}};
  if (kind == AffineExprKind::Mod)
    return rest.empty() ? rest : opaqueDivision(context, kind, rest, divisor);
  Polynomial quotient;
  if (auto inner = asQuotient(rest))
    quotient = expandByConstant(context, AffineExprKind::FloorDiv, inner->first, times(inner->second, by));
  else if (!rest.empty())
    quotient = opaqueDivision(context, AffineExprKind::FloorDiv, rest, divisor);
  for (auto &[monomial, coefficient] : quotient)
    addTerm(whole, monomial, coefficient);
  return whole;
}

/// floordiv, ceildiv and mod: exact where the divisor divides every term, opaque over canonical operands otherwise.
Polynomial expandDivision(AffineBinaryOpExpr expr) {
  Polynomial lhs = expand(expr.getLHS()), rhs = expand(expr.getRHS());
  bool isMod = expr.getKind() == AffineExprKind::Mod;
  if (std::optional<Polynomial> quotient = divide(lhs, rhs))
    return isMod ? Polynomial() : *quotient;
  if (rhs.size() == 1 && rhs.begin()->first.empty() && rhs.begin()->second > 0 &&
      rhs.begin()->second < (int64_t(1) << 40))
    return expandByConstant(expr.getContext(), expr.getKind(), std::move(lhs), rhs.begin()->second);
  return opaqueDivision(expr.getContext(), expr.getKind(), lhs, rhs);
}

Polynomial expand(AffineExpr expr) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant: {
    int64_t value = llvm::cast<AffineConstantExpr>(expr).getValue();
    return value ? Polynomial{{{}, value}} : Polynomial();
  }
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    return {{{Atom{expr, spelling(expr)}}, 1}};
  case AffineExprKind::Add: {
    auto binary = llvm::cast<AffineBinaryOpExpr>(expr);
    Polynomial sum = expand(binary.getLHS());
    for (auto &[m, c] : expand(binary.getRHS()))
      addTerm(sum, m, c);
    return sum;
  }
  case AffineExprKind::Mul: {
    auto binary = llvm::cast<AffineBinaryOpExpr>(expr);
    return multiply(expand(binary.getLHS()), expand(binary.getRHS()));
  }
  default:
    return expandDivision(llvm::cast<AffineBinaryOpExpr>(expr));
  }
}

unsigned countSymbols(ArrayRef<AffineExpr> sizes) {
  unsigned count = 0;
  for (AffineExpr size : sizes)
    size.walk([&](AffineExpr part) {
      if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(part))
        count = std::max(count, symbol.getPosition() + 1);
    });
  return count;
}

} // namespace

AffineExpr canonicalSize(AffineExpr size) {
  if (llvm::isa<AffineConstantExpr, AffineSymbolExpr>(size))
    return size;
  return rebuild(size.getContext(), expand(size));
}

AffineExpr productOf(MLIRContext *context, ArrayRef<AffineExpr> sizes) {
  AffineExpr product = getAffineConstantExpr(1, context);
  for (AffineExpr size : sizes)
    product = product * size;
  return canonicalSize(product);
}

AffineExpr divideExactly(AffineExpr numerator, AffineExpr denominator) {
  std::optional<Polynomial> quotient = divide(expand(numerator), expand(denominator));
  return quotient ? rebuild(numerator.getContext(), *quotient) : AffineExpr();
}

namespace {

bool isNonNegative(Polynomial sum);

/// x floordiv c - y floordiv c with x >= y, as often as `sum` has it, is at least 0 and taken out.
void cancelQuotients(Polynomial &sum) {
  auto quotientOf = [](const auto &term) {
    auto binary =
        term.first.size() == 1 ? llvm::dyn_cast<AffineBinaryOpExpr>(term.first[0].expr) : AffineBinaryOpExpr(nullptr);
    return binary && binary.getKind() == AffineExprKind::FloorDiv && llvm::isa<AffineConstantExpr>(binary.getRHS())
               ? binary
               : nullptr;
  };
  for (const auto &negative : Polynomial(sum))
    if (AffineBinaryOpExpr less = negative.second < 0 ? quotientOf(negative) : nullptr)
      for (const auto &positive : Polynomial(sum))
        if (AffineBinaryOpExpr more = positive.second >= -negative.second ? quotientOf(positive) : nullptr;
            more && more.getRHS() == less.getRHS() && isNonNegative(expand(more.getLHS() - less.getLHS()))) {
          addTerm(sum, positive.first, negative.second);
          addTerm(sum, negative.first, -negative.second);
          break;
        }
}

bool isNonNegativeAtom(AffineExpr atom) {
  auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(atom);
  if (!binary) // a symbol
    return llvm::isa<AffineSymbolExpr>(atom);
  return binary.getKind() == AffineExprKind::Mod ||
         (isNonNegative(expand(binary.getLHS())) && isNonNegative(expand(binary.getRHS())));
}

/// Every product is, once negative multiples of x floordiv c are bounded by those of x / c.
bool isNonNegative(Polynomial sum) {
  cancelQuotients(sum);
  for (int step = 0; step < 8; ++step) {
    auto negative = llvm::find_if(sum, [](const auto &term) { return term.second < 0 && term.first.size() == 1; });
    auto quotient = negative == sum.end() ? AffineBinaryOpExpr(nullptr)
                                          : llvm::dyn_cast<AffineBinaryOpExpr>(negative->first[0].expr);
    auto by = quotient ? llvm::dyn_cast<AffineConstantExpr>(quotient.getRHS()) : AffineConstantExpr();
    if (!by || quotient.getKind() != AffineExprKind::FloorDiv || by.getValue() <= 0 || by.getValue() > (1 << 20))
      break;
    Polynomial bounded, numerator = expand(quotient.getLHS());
    for (auto &[monomial, coefficient] : sum)
      if (monomial != negative->first)
        addTerm(bounded, monomial, times(coefficient, by.getValue()));
    for (auto &[monomial, coefficient] : numerator)
      addTerm(bounded, monomial, times(coefficient, negative->second));
    sum = std::move(bounded);
  }
  return llvm::all_of(sum, [](const auto &term) {
    return term.second >= 0 && llvm::all_of(term.first, [](const Atom &atom) { return isNonNegativeAtom(atom.expr); });
  });
}

} // namespace

bool isNonNegative(AffineExpr expr) { return isNonNegative(expand(expr)); }

SmallVector<AffineExpr> divisionsOf(AffineExpr expr) {
  SmallVector<AffineExpr> list;
  for (auto &[monomial, coefficient] : expand(expr))
    for (const Atom &atom : monomial)
      if (!llvm::isa<AffineSymbolExpr, AffineDimExpr>(atom.expr) && !llvm::is_contained(list, atom.expr))
        list.push_back(atom.expr);
  return list;
}

std::optional<int64_t> constantSize(AffineExpr size) {
  if (auto constant = llvm::dyn_cast<AffineConstantExpr>(size))
    return constant.getValue();
  return std::nullopt;
}

SmallVector<AffineExpr> getSizes(RankedTensorType type) {
  if (auto encoding = llvm::dyn_cast_if_present<AffineMapAttr>(type.getEncoding()))
    return llvm::to_vector(encoding.getValue().getResults());
  SmallVector<AffineExpr> sizes;
  for (int64_t dim : type.getShape())
    sizes.push_back(getAffineConstantExpr(dim, type.getContext()));
  return sizes;
}

unsigned getNumSymbols(RankedTensorType type) {
  auto encoding = llvm::dyn_cast_if_present<AffineMapAttr>(type.getEncoding());
  return encoding ? encoding.getValue().getNumSymbols() : 0;
}

RankedTensorType makeTensorType(MLIRContext *context, ArrayRef<AffineExpr> sizes, Type elementType) {
  SmallVector<AffineExpr> canonical;
  SmallVector<int64_t> shape;
  bool dynamic = false;
  for (AffineExpr size : sizes) {
    canonical.push_back(canonicalSize(size));
    std::optional<int64_t> constant = constantSize(canonical.back());
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    dynamic |= !constant;
  }
  if (!dynamic)
    return RankedTensorType::get(shape, elementType);
  auto encoding = AffineMapAttr::get(AffineMap::get(0, countSymbols(canonical), canonical, context));
  return RankedTensorType::get(shape, elementType, encoding);
}

RankedTensorType withElementType(RankedTensorType type, Type elementType) {
  return RankedTensorType::get(type.getShape(), elementType, type.getEncoding());
}

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return llvm::cast<AffineConstantExpr>(expr).getValue();
  case AffineExprKind::DimId:
    return dims[llvm::cast<AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::SymbolId:
    return symbols[llvm::cast<AffineSymbolExpr>(expr).getPosition()];
  default:
    break;
  }
  auto binary = llvm::cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(binary.getLHS(), dims, symbols), b = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return b > 0 ? llvm::mod(a, b) : 0;
  case AffineExprKind::FloorDiv:
    return b > 0 ? llvm::divideFloorSigned(a, b) : 0;
  default:
    return b > 0 ? llvm::divideCeilSigned(a, b) : 0;
  }
}

std::string printSize(AffineExpr size, ArrayRef<std::string> symbols) {
  std::string text = spelling(size);
  for (unsigned i = symbols.size(); i-- > 0;) // from the highest, so that s1 does not touch s12
    for (size_t at = 0; (at = text.find("s" + std::to_string(i), at)) != std::string::npos; at += symbols[i].size())
      text.replace(at, 1 + std::to_string(i).size(), symbols[i]);
  return text;
}

} // namespace tilewright::graph
