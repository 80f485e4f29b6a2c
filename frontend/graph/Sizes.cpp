// SPDX-License-Identifier: Apache-2.0
// Canonical size expressions: polynomials (frontend/index/Polynomial.h), and the division of sizes of which nothing is
// known.
#include "frontend/graph/Sizes.h"

#include "frontend/index/Evaluate.h"
#include "frontend/index/Polynomial.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright::graph {

using index::Polynomial, index::Term;

static Polynomial expand(AffineExpr expr);

//===- Division ---------------------------------------------------------------------------------------------------===//

static constexpr int64_t mostInnerDivisor = 1 << 20, mostDivisor = int64_t(1) << 40; // whose products do not overflow

/// What is left of `dividend floordiv by` or `dividend mod by` for a positive constant, after the multiples of `by`
/// went to `whole`: every coefficient of the rest is from 0 to by - 1.
static Polynomial takeMultiples(const Polynomial &dividend, int64_t by, Polynomial &whole) {
  Polynomial rest;
  for (const Term &term : dividend) {
    int64_t quotient = llvm::divideFloorSigned(term.coefficient, by);
    whole.add({quotient, term.atoms});
    rest.add({term.coefficient - quotient * by, term.atoms});
  }
  return rest;
}

/// x + a c and a, if `rest` is (x floordiv a) + c: then rest floordiv b is (x + a c) floordiv (a b).
static std::optional<std::pair<Polynomial, int64_t>> asQuotient(const Polynomial &rest) {
  if (rest.isZero() || rest.size() > 2 || rest[0].coefficient != 1 || (rest.size() == 2 && !rest[1].isConstant()))
    return std::nullopt;
  auto inner = dyn_cast_if_present<AffineBinaryOpExpr>(rest[0].soleAtom());
  auto by = inner ? dyn_cast<AffineConstantExpr>(inner.getRHS()) : AffineConstantExpr();
  if (!by || inner.getKind() != AffineExprKind::FloorDiv || by.getValue() <= 0 || by.getValue() > mostInnerDivisor)
    return std::nullopt;
  int64_t added = rest.size() == 2 ? rest[1].coefficient : 0;
  return std::pair(expand(inner.getLHS()) + Polynomial(added) * Polynomial(by.getValue()), by.getValue());
}

namespace {

/// Sizes as polynomials: exact where the divisor divides every term, by constants as Sizes.h says, opaque over
/// canonical operands otherwise.
struct SizeAlgebra {
  using Value = Polynomial;
  MLIRContext *context;

  std::optional<Polynomial> leaf(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return Polynomial(constant.getValue());
    return isa<AffineBinaryOpExpr>(expr) ? std::nullopt : std::optional(Polynomial::atom(expr));
  }
  Polynomial add(const Polynomial &a, const Polynomial &b) { return a + b; }
  Polynomial multiply(const Polynomial &a, const Polynomial &b) { return a * b; }
  Polynomial floorDivide(const Polynomial &a, const Polynomial &b) { return divide(AffineExprKind::FloorDiv, a, b); }
  Polynomial ceilDivide(const Polynomial &a, const Polynomial &b) { return divide(AffineExprKind::CeilDiv, a, b); }
  Polynomial modulo(const Polynomial &a, const Polynomial &b) { return divide(AffineExprKind::Mod, a, b); }

private:
  Polynomial divide(AffineExprKind kind, const Polynomial &a, const Polynomial &b) {
    if (std::optional<Polynomial> quotient = divideExactly(a, b))
      return kind == AffineExprKind::Mod ? Polynomial() : *quotient;
    std::optional<int64_t> by = b.constant();
    if (!by || *by <= 0 || *by >= mostDivisor)
      return makeDivision(context, kind, a, b);
    if (kind == AffineExprKind::CeilDiv)
      return divideByConstant(AffineExprKind::FloorDiv, a + Polynomial(*by - 1), *by);
    return divideByConstant(kind, a, *by);
  }

  Polynomial divideByConstant(AffineExprKind kind, const Polynomial &dividend, int64_t by) {
    Polynomial whole, rest = takeMultiples(dividend, by, whole);
    if (kind == AffineExprKind::Mod)
      return rest - Polynomial(by) * divideByConstant(AffineExprKind::FloorDiv, rest, by);
    if (auto inner = by < mostDivisor ? asQuotient(rest) : std::nullopt)
      return whole + divideByConstant(kind, inner->first, inner->second * by);
    return rest.isZero() ? whole : whole + makeDivision(context, kind, rest, by);
  }
};

/// Sizes and coordinates as numbers.
struct IntegerAlgebra {
  using Value = int64_t;
  ArrayRef<int64_t> dims, symbols;

  std::optional<int64_t> leaf(AffineExpr expr) {
    return index::leafOf<int64_t>(expr, dims, symbols, [](int64_t value) { return value; });
  }
  int64_t add(int64_t a, int64_t b) { return a + b; }
  int64_t multiply(int64_t a, int64_t b) { return a * b; }
  int64_t floorDivide(int64_t a, int64_t b) { return b > 0 ? llvm::divideFloorSigned(a, b) : 0; }
  int64_t ceilDivide(int64_t a, int64_t b) { return b > 0 ? llvm::divideCeilSigned(a, b) : 0; }
  int64_t modulo(int64_t a, int64_t b) { return b > 0 ? llvm::mod(a, b) : 0; }
};

} // namespace

static Polynomial expand(AffineExpr expr) {
  SizeAlgebra algebra{expr.getContext()};
  return index::evaluate(expr, algebra);
}

//===- Sizes ------------------------------------------------------------------------------------------------------===//

static unsigned countSymbols(ArrayRef<AffineExpr> sizes) {
  unsigned count = 0;
  for (AffineExpr size : sizes)
    size.walk([&](AffineExpr part) {
      if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(part))
        count = std::max(count, symbol.getPosition() + 1);
    });
  return count;
}

AffineExpr canonicalSize(AffineExpr size) {
  if (llvm::isa<AffineConstantExpr, AffineSymbolExpr>(size))
    return size;
  return toExpr(size.getContext(), expand(size));
}

AffineExpr productOf(MLIRContext *context, ArrayRef<AffineExpr> sizes) {
  AffineExpr product = getAffineConstantExpr(1, context);
  for (AffineExpr size : sizes)
    product = product * size;
  return canonicalSize(product);
}

AffineExpr divideExactly(AffineExpr numerator, AffineExpr denominator) {
  std::optional<Polynomial> quotient = divideExactly(expand(numerator), expand(denominator));
  return quotient ? toExpr(numerator.getContext(), *quotient) : AffineExpr();
}

bool isNonNegative(AffineExpr expr, int64_t least) {
  SmallVector<AffineExpr> above; // each symbol as a number from 0 on
  for (unsigned i = 0, count = least ? countSymbols(expr) : 0; i < count; ++i)
    above.push_back(getAffineSymbolExpr(i, expr.getContext()) + least);
  return isNonNegative(expand(expr.replaceSymbols(above)), [](AffineSymbolExpr) { return int64_t(0); });
}

int64_t atZero(AffineExpr expr) { return evaluate(expr, {}, SmallVector<int64_t>(countSymbols(expr), 0)); }

bool isLeastAtZero(AffineExpr expr) { return isNonNegative(expr - atZero(expr)); }

SmallVector<AffineExpr> divisionsOf(AffineExpr expr) {
  SmallVector<AffineExpr> list;
  for (const Term &term : expand(expr))
    for (AffineExpr atom : term.atoms)
      if (!llvm::isa<AffineSymbolExpr, AffineDimExpr>(atom) && !llvm::is_contained(list, atom))
        list.push_back(atom);
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
  IntegerAlgebra algebra{dims, symbols};
  return index::evaluate(expr, algebra);
}

std::string printSize(AffineExpr size, ArrayRef<std::string> symbols) {
  std::string text;
  llvm::raw_string_ostream(text) << size;
  for (unsigned i = symbols.size(); i-- > 0;) // from the highest, so that s1 does not touch s12
    for (size_t at = 0; (at = text.find("s" + std::to_string(i), at)) != std::string::npos; at += symbols[i].size())
      text.replace(at, 1 + std::to_string(i).size(), symbols[i]);
  return text;
}

} // namespace tilewright::graph
