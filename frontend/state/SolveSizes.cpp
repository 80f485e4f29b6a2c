// SPDX-License-Identifier: Apache-2.0
// Constraints between sizes. An equation is solved if possible, so that both sides become one expression. Otherwise it
// is checked at run time by a guard.
//
//   n = m                                   m is replaced by n everywhere, inputs included
//   (h floordiv 4) * 4 = h                  h is replaced by q * 4 with a new symbol q
//   h floordiv 2 = (h + 1) floordiv 2       one quotient is replaced by the other, with a guard
//   a * b = c * d                           only a guard
#include "frontend/state/ImportState.h"

#include "mlir/IR/AttrTypeSubElements.h"

#include <numeric>

using namespace mlir;

namespace tilewright {

//===- Symbols ----------------------------------------------------------------------------------------------------===//

bool ImportState::isInputSymbol(AffineExpr size) const {
  if (!llvm::isa<AffineSymbolExpr>(size) || !main)
    return false;
  return llvm::any_of(func::FuncOp(main).getArgumentTypes(), [&](Type type) {
    return llvm::is_contained(graph::getSizes(llvm::cast<RankedTensorType>(type)), size);
  });
}

bool ImportState::isEarly(AffineExpr expr) const {
  llvm::SmallDenseSet<AffineExpr> early;
  for (Type type : func::FuncOp(main).getArgumentTypes())
    for (AffineExpr size : graph::getSizes(llvm::cast<RankedTensorType>(type)))
      if (std::optional<graph::ScaledSymbol> scaled = graph::asScaledSymbol(size))
        early.insert(getAffineSymbolExpr(scaled->symbol, context));
  llvm::SmallDenseSet<AffineExpr> seen;
  Sizes open{expr};
  bool all = true;
  while (!open.empty() && all)
    open.pop_back_val().walk([&](AffineExpr part) {
      if (!llvm::isa<AffineSymbolExpr>(part) || early.contains(part) || !seen.insert(part).second)
        return;
      const graph::SizeDefinition *definition = definitionOf(part);
      all &= definition != nullptr;
      if (definition)
        open.push_back(definition->lhs), open.push_back(definition->rhs);
    });
  return all;
}

bool ImportState::isLate(AffineExpr expr) const {
  return !isEarly(expr) || llvm::any_of(lateInputs, [&](AffineExpr symbol) { return dependsOn(expr, symbol); });
}

const graph::SizeDefinition *ImportState::definitionOf(AffineExpr symbol) const {
  for (const graph::SizeDefinition &definition : definitions)
    if (getAffineSymbolExpr(definition.symbol, context) == symbol)
      return &definition;
  return nullptr;
}

bool ImportState::isBroadcast(AffineExpr size) const {
  const graph::SizeDefinition *definition = definitionOf(size);
  return definition && definition->kind == graph::DefinitionKind::Broadcast;
}

/// Whether `expr` contains `part`, directly or in the definitions of its symbols. Terminates because definitions are
/// acyclic.
bool ImportState::dependsOn(AffineExpr expr, AffineExpr part) const {
  llvm::SmallDenseSet<AffineExpr> seen;
  Sizes open{expr};
  bool found = false;
  while (!open.empty() && !found)
    open.pop_back_val().walk([&](AffineExpr inner) {
      found |= inner == part;
      if (!llvm::isa<AffineSymbolExpr>(inner) || !seen.insert(inner).second)
        return;
      if (const graph::SizeDefinition *definition = definitionOf(inner))
        open.push_back(definition->lhs), open.push_back(definition->rhs);
    });
  return found;
}

std::vector<int64_t> ImportState::scaledTrial(int trial, int64_t scale) const {
  std::vector<int64_t> scaled = numbers[trial];
  for (int64_t &number : scaled)
    number = scale ? number * scale : 1;
  for (const graph::SizeDefinition &definition : orderedDefinitions())
    scaled[definition.symbol] = graph::SizeDefinition::compute(
        definition.kind, graph::evaluate(definition.lhs, {}, scaled), graph::evaluate(definition.rhs, {}, scaled));
  return scaled;
}

/// A new symbol for a fraction of a symbol, named "height/4" so that messages can name the original.
AffineExpr ImportState::partSymbol(AffineExpr whole, int64_t by) {
  std::string name = fmt::format("{}/{}", symbolNames[llvm::cast<AffineSymbolExpr>(whole).getPosition()], by);
  while (llvm::is_contained(symbolNames, name))
    name += "'";
  return symbol(name);
}

void ImportState::readSizes(Value numbers, ArrayRef<AffineExpr> symbols) {
  SmallVector<int64_t> positions = llvm::map_to_vector(
      symbols, [](AffineExpr symbol) -> int64_t { return llvm::cast<AffineSymbolExpr>(symbol).getPosition(); });
  readSymbols.insert(positions.begin(), positions.end());
  graph::ReadSizesOp::create(builder, location, numbers, positions);
}

/// Makes read_sizes bind a new symbol instead of `symbol`, which is about to be replaced by another expression.
AffineExpr ImportState::readInstead(AffineExpr symbol) {
  int64_t position = llvm::cast<AffineSymbolExpr>(symbol).getPosition();
  AffineExpr twin = freshSymbol("u", numbers[0][position], numbers[1][position]);
  for (auto read : main.getBody().front().getOps<graph::ReadSizesOp>()) {
    SmallVector<int64_t> positions(read.getSymbols());
    llvm::replace(positions, position, static_cast<int64_t>(llvm::cast<AffineSymbolExpr>(twin).getPosition()));
    read.setSymbols(positions);
  }
  readSymbols.insert(llvm::cast<AffineSymbolExpr>(twin).getPosition());
  return twin;
}

/// The symbol with this definition. A twin is always a new symbol, which remains when an equal one is replaced.
AffineExpr ImportState::define(graph::DefinitionKind kind, AffineExpr a, AffineExpr b, bool isTwin) {
  a = resolve(a), b = resolve(b);
  for (const graph::SizeDefinition &known : definitions)
    if (!isTwin && known.kind == kind && known.lhs == a && known.rhs == b)
      return resolve(getAffineSymbolExpr(known.symbol, context));
  auto trial = [&](int i) {
    return graph::SizeDefinition::compute(kind, graph::evaluate(a, {}, numbers[i]), graph::evaluate(b, {}, numbers[i]));
  };
  AffineExpr symbol = freshSymbol("size", trial(0), trial(1));
  definitions.push_back({llvm::cast<AffineSymbolExpr>(symbol).getPosition(), kind, a, b});
  return symbol;
}

/// Whether `expr` is at least 0 for all sizes of at least 1. (If a size of 0 makes it negative, binding reports an
/// error.) A minimum is bounded by each of its sides.
static bool isSize(AffineExpr expr, ArrayRef<graph::SizeDefinition> definitions, int depth = 3) {
  if (graph::isNonNegative(expr, 1))
    return true;
  for (const graph::SizeDefinition &definition : definitions) {
    AffineExpr symbol = getAffineSymbolExpr(definition.symbol, expr.getContext());
    if (depth == 0 || definition.kind != graph::DefinitionKind::Minimum || !expr.isFunctionOfSymbol(definition.symbol))
      continue;
    AffineExpr difference =
        graph::canonicalSize(expr.replace(symbol, symbol + 1) - expr); // does `expr` decrease in the minimum?
    if (graph::constantSize(difference).value_or(1) < 0)
      for (AffineExpr side : {definition.lhs, definition.rhs})
        if (isSize(graph::canonicalSize(expr.replace(symbol, side)), definitions, depth - 1))
          return true;
  }
  return false;
}

AffineExpr ImportState::minimum(AffineExpr a, AffineExpr b) {
  a = resolve(a), b = resolve(b);
  if (graph::isNonNegative(graph::canonicalSize(b - a)))
    return a;
  return graph::isNonNegative(graph::canonicalSize(a - b)) ? b : define(graph::DefinitionKind::Minimum, a, b);
}

AffineExpr ImportState::maximum(AffineExpr a, AffineExpr b) {
  a = resolve(a), b = resolve(b);
  AffineExpr difference = graph::canonicalSize(a - b);
  if (graph::isNonNegative(difference) || (b == number(0) && isSize(difference, definitions)))
    return a;
  return graph::isNonNegative(graph::canonicalSize(b - a)) ? b : define(graph::DefinitionKind::Maximum, a, b);
}

AffineExpr ImportState::broadcast(AffineExpr a, AffineExpr b, const std::string &message) {
  a = resolve(a), b = resolve(b);
  if (graph::constantSize(b).value_or(1) != 1)
    std::swap(a, b); // a constant other than 1 is the result
  AffineExpr size = graph::constantSize(a).value_or(1) != 1 ? a : define(graph::DefinitionKind::Broadcast, a, b);
  guard(graph::canonicalSize((b - size) * (b - 1)), number(0), message, "equal");
  if (isRepeated(b))
    recordEqual((b - size) * (b - 1), number(0));
  return size;
}

/// Definitions ordered so that each comes after those it depends on. Replacements may have changed the order.
std::vector<graph::SizeDefinition> ImportState::orderedDefinitions() const {
  std::vector<graph::SizeDefinition> order, open(definitions.rbegin(), definitions.rend());
  llvm::SmallDenseSet<unsigned> waiting;
  for (const graph::SizeDefinition &definition : definitions)
    waiting.insert(definition.symbol);
  while (!open.empty()) {
    graph::SizeDefinition next = open.back();
    open.pop_back();
    if (!waiting.contains(next.symbol))
      continue;
    size_t before = open.size();
    open.push_back(next);
    for (AffineExpr side : {next.lhs, next.rhs})
      side.walk([&](AffineExpr part) {
        if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(part); symbol && waiting.contains(symbol.getPosition()))
          open.push_back(*definitionOf(part));
      });
    if (open.size() > before + 1)
      continue;
    open.pop_back();
    waiting.erase(next.symbol);
    order.push_back(next);
  }
  return order;
}

//===- Replacing --------------------------------------------------------------------------------------------------===//

AffineExpr ImportState::resolve(AffineExpr size) const {
  size = graph::canonicalSize(size);
  for (auto [part, by] : replaced)
    if (AffineExpr now = size.replace(part, by); now != size)
      size = graph::canonicalSize(now);
  return size;
}

/// Replaces a symbol or a quotient in everything imported so far.
void ImportState::replaceEverywhere(AffineExpr part, AffineExpr by) {
  replaced.emplace_back(part, by);
  auto now = [&](AffineExpr expr) {
    AffineExpr next = expr.replace(part, by);
    return next == expr ? expr : graph::canonicalSize(next);
  };
  auto replaceAll = [&](Sizes &sizes) { llvm::transform(sizes, sizes.begin(), now); };
  for (ImportedValue &value : values) {
    replaceAll(value.sizes);
    if (value.elements)
      replaceAll(*value.elements);
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::pair<Type, WalkResult> {
    Sizes sizes = graph::getSizes(type), before = sizes;
    replaceAll(sizes);
    return {sizes == before ? type : tensorType(sizes, type.getElementType()), WalkResult::skip()};
  });
  replacer.addReplacement([&](AffineMapAttr attr) -> std::pair<mlir::Attribute, WalkResult> {
    AffineMap map = attr.getValue();
    AffineMap next =
        map.replace(part, by, map.getNumDims(), std::max<unsigned>(map.getNumSymbols(), symbolNames.size()));
    return {next.getResults() == map.getResults() ? attr : AffineMapAttr::get(next), WalkResult::skip()};
  });
  replacer.recursivelyReplaceElementsIn(*module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  // A quotient remains in guards and definitions, because they check that it is equal to its replacement.
  if (!llvm::isa<AffineSymbolExpr>(part))
    return;
  for (mlir::Attribute &guard : guards)
    guard = replacer.replace(guard);
  for (graph::SizeDefinition &definition : definitions)
    definition.lhs = now(definition.lhs), definition.rhs = now(definition.rhs);
  llvm::transform(equations, equations.begin(), now);
}

//===- Solving ----------------------------------------------------------------------------------------------------===//

/// Solves difference = x * factor + rest = 0 for the newest possible symbol x.
bool ImportState::solveForSymbol(AffineExpr difference, const std::string &message) {
  for (unsigned i = symbolNames.size(); i-- > 0;) {
    AffineExpr symbol = getAffineSymbolExpr(i, context);
    auto at = [&](int64_t value) { return graph::canonicalSize(difference.replace(symbol, number(value))); };
    AffineExpr rest = at(0), factor = graph::canonicalSize(at(1) - rest);
    AffineExpr linear = graph::canonicalSize(factor * symbol + rest);
    if (graph::constantSize(factor) == 0 || linear != difference)
      continue;
    AffineExpr solution = graph::divideExactly(graph::canonicalSize(rest * -1), factor);
    // x may be 0 only if its factor is a constant.
    int64_t least = graph::constantSize(factor) ? 0 : 1;
    if (!solution || graph::constantSize(solution).value_or(least) < least || dependsOn(solution, symbol))
      continue;
    if (isEarly(symbol) && !isEarly(solution)) // x is needed before the solution is known
      continue;
    if (readSymbols.contains(i))
      guard(readInstead(symbol), solution, message, "equal");
    if (const graph::SizeDefinition *definition = definitionOf(symbol)) {
      graph::SizeDefinition given = *definition;
      guard(define(given.kind, given.lhs, given.rhs, /*isTwin=*/true), solution, message, "equal");
    }
    replaceEverywhere(symbol, solution);
    return true;
  }
  return false;
}

/// Assumes that sizes of inputs are multiples of their divisors in `difference`, if that makes the difference 0.
bool ImportState::solveByMultiples(AffineExpr difference) {
  llvm::SmallMapVector<AffineExpr, int64_t, 4> multiples;
  for (AffineExpr division : graph::divisionsOf(difference)) {
    auto binary = llvm::cast<AffineBinaryOpExpr>(division);
    std::optional<int64_t> by = graph::constantSize(binary.getRHS());
    binary.getLHS().walk([&](AffineExpr part) {
      if (by && *by > 0 && *by <= 1 << 20 && isInputSymbol(part))
        multiples.try_emplace(part, 1).first->second =
            std::lcm(multiples.lookup(part) ? multiples.lookup(part) : 1, *by);
    });
  }
  AffineExpr solved = difference;
  for (auto [symbol, by] : multiples)
    solved = solved.replace(symbol, symbol * by); // the symbol itself stands for the quotient
  if (multiples.empty() || graph::canonicalSize(solved) != number(0))
    return false;
  for (auto [symbol, by] : multiples)
    replaceEverywhere(symbol, partSymbol(symbol, by) * by);
  return true;
}

/// Solves difference = quotient * factor + rest = 0 for a quotient or remainder.
bool ImportState::solveForQuotient(AffineExpr difference, const std::string &message) {
  AffineExpr stand = getAffineDimExpr(0, context); // a placeholder: sizes have no dimensions
  for (AffineExpr division : llvm::reverse(graph::divisionsOf(difference))) {
    AffineExpr written = difference.replace(division, stand);
    auto at = [&](int64_t value) { return graph::canonicalSize(written.replace(stand, number(value))); };
    AffineExpr rest = at(0), factor = graph::canonicalSize(at(1) - rest);
    if (graph::constantSize(factor).value_or(0) == 0 ||
        graph::canonicalSize(factor * stand + rest) != graph::canonicalSize(written))
      continue;
    AffineExpr solution = graph::divideExactly(graph::canonicalSize(rest * -1), factor);
    if (!solution || graph::constantSize(solution).value_or(0) < 0 || dependsOn(solution, division))
      continue;
    if (isEarly(division) && !isEarly(solution))
      continue;
    guard(define(graph::DefinitionKind::Value, division, number(0), /*isTwin=*/true), solution, message, "equal");
    replaceEverywhere(division, solution);
    return true;
  }
  return false;
}

bool ImportState::isRead(AffineExpr size) const {
  auto symbol = llvm::dyn_cast<AffineSymbolExpr>(size);
  return symbol && readSymbols.contains(symbol.getPosition());
}

/// Whether `expr` is provably not 0 if all sizes are at least `least`: because it has one sign, or because a size of
/// `factors` divides all of it but a constant that is no multiple.
static bool isNeverZero(AffineExpr expr, int64_t least, ArrayRef<SizeAssumption> factors) {
  if (graph::isNonNegative(expr - 1, least) || graph::isNonNegative(expr * -1 - 1, least))
    return true;
  int64_t added = graph::atZero(expr);
  return llvm::any_of(factors, [&](const SizeAssumption &factor) {
    std::optional<int64_t> by = graph::constantSize(factor.second);
    return by.value_or(0) > 1 && added % *by != 0 &&
           graph::divideExactly(graph::canonicalSize(expr - added), factor.second);
  });
}

bool ImportState::contradicts(ArrayRef<SizeAssumption> assumed, int64_t least) const {
  return llvm::any_of(equations, [&](AffineExpr difference) {
    AffineExpr now = difference;
    for (auto [symbol, size] : assumed)
      now = now.replace(symbol, size);
    return now != difference && isNeverZero(graph::canonicalSize(now), least, assumed);
  });
}

bool ImportState::unify(AffineExpr a, AffineExpr b, const std::string &message) {
  a = resolve(a), b = resolve(b);
  AffineExpr difference = graph::canonicalSize(a - b);
  if (std::optional<int64_t> constant = graph::constantSize(difference))
    return *constant == 0;
  if ((isRead(a) && contradicts(SizeAssumption(a, b), 0)) || (isRead(b) && contradicts(SizeAssumption(b, a), 0)))
    return false;
  if (solveForSymbol(difference, message) || solveByMultiples(difference) || solveForQuotient(difference, message))
    return true;
  guard(a, b, message, "equal");
  return true;
}

AffineExpr ImportState::divide(AffineExpr size, AffineExpr by, const std::string &message) {
  size = resolve(size), by = resolve(by);
  if (AffineExpr exact = graph::divideExactly(size, by))
    return exact;
  std::optional<int64_t> divisor = graph::constantSize(by);
  if (divisor && (*divisor <= 0 || graph::constantSize(size)))
    return {};
  // For c * s + k with a symbol s of an input: replace s so that the division is exact.
  std::optional<graph::ScaledSymbol> scaled = graph::asScaledSymbol(size);
  AffineExpr symbol = scaled ? getAffineSymbolExpr(scaled->symbol, context) : AffineExpr();
  if (divisor && scaled && isInputSymbol(symbol) && (scaled->added == 0 || scaled->factor == 1)) {
    int64_t step = *divisor / std::gcd(*divisor, scaled->factor), missing = llvm::mod(scaled->added, step);
    replaceEverywhere(symbol, partSymbol(symbol, step) * step - missing); // at least 1 where the size is
    return graph::divideExactly(resolve(size), by);
  }
  AffineExpr quotient = define(graph::DefinitionKind::Quotient, size, by);
  guard(graph::canonicalSize(quotient * by), size, message, "equal");
  return quotient;
}

//===- Guards -----------------------------------------------------------------------------------------------------===//

void ImportState::guard(AffineExpr a, AffineExpr b, const std::string &message, StringRef relation) {
  auto map = [&](AffineExpr expr) { return AffineMapAttr::get(AffineMap::get(0, symbolNames.size(), expr)); };
  mlir::Attribute guard =
      builder.getArrayAttr({map(a), map(b), builder.getStringAttr(message), builder.getStringAttr(relation)});
  if (!llvm::is_contained(guards, guard))
    guards.push_back(guard);
}

bool ImportState::requireAtMost(AffineExpr a, AffineExpr b, const std::string &message) {
  AffineExpr slack = graph::canonicalSize(b - a);
  if (std::optional<int64_t> constant = graph::constantSize(slack))
    return *constant >= 0;
  if (!graph::isNonNegative(slack))
    guard(a, b, message, "at most");
  return true;
}

void ImportState::requireDifferent(AffineExpr a, AffineExpr b, const std::string &message) {
  guard(a, b, message, "not equal");
}

bool ImportState::takeEqual(AffineExpr a, AffineExpr b, const std::string &asker, std::optional<bool> only) {
  a = resolve(a), b = resolve(b);
  auto settled = options.settled.find(asker);
  bool equal = only ? *only : settled == options.settled.end() ? options.sizesAreEqual : settled->second;
  auto sentence = [&](const char *what, bool isEqual) {
    return fmt::format("{} {} {} is{} {}", asker, what, print(a), isEqual ? "" : " not", print(b));
  };
  if (!only && llvm::none_of(report.choices, [&](const SizeChoice &choice) { return choice.asker == asker; }))
    report.choices.push_back({asker, equal, sentence("decides a rank, and is compiled for sizes of which", equal)});
  std::string message = sentence("gives another rank where", !equal);
  if (equal && unify(a, b, message))
    return true;
  requireDifferent(a, b, message);
  return false;
}

} // namespace tilewright
