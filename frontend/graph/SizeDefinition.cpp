// SPDX-License-Identifier: Apache-2.0
// Conversion of definitions to attributes, and their values.
#include "frontend/graph/SizeDefinition.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::graph {

static constexpr int64_t mostSymbols = 1 << 24; // more than any model has
static constexpr llvm::StringLiteral kindNames[] = {"min", "max", "floordiv", "broadcast", "value"};

int64_t SizeDefinition::compute(DefinitionKind kind, int64_t lhs, int64_t rhs) {
  switch (kind) {
  case DefinitionKind::Minimum:
    return std::min(lhs, rhs);
  case DefinitionKind::Maximum:
    return std::max(lhs, rhs);
  case DefinitionKind::Quotient:
    return rhs > 0 ? llvm::divideFloorSigned(lhs, rhs) : 0;
  case DefinitionKind::Broadcast:
    return lhs == 1 ? rhs : lhs;
  case DefinitionKind::Value:
    return lhs;
  }
  return 0;
}

static unsigned countSymbols(AffineExpr expr) {
  unsigned symbols = 0;
  expr.walk([&](AffineExpr part) {
    if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(part))
      symbols = std::max(symbols, symbol.getPosition() + 1);
  });
  return symbols;
}

/// A size as a map attribute with as many symbols as it needs.
static AffineMapAttr mapOf(MLIRContext *context, AffineExpr expr) {
  return AffineMapAttr::get(AffineMap::get(0, countSymbols(expr), expr, context));
}

ArrayAttr SizeDefinition::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  return builder.getArrayAttr({builder.getI64IntegerAttr(symbol),
                               builder.getStringAttr(kindNames[static_cast<size_t>(kind)]), mapOf(context, lhs),
                               mapOf(context, rhs)});
}

bool isSize(mlir::Attribute attribute) {
  auto map = llvm::dyn_cast<AffineMapAttr>(attribute);
  return map && map.getValue().getNumDims() == 0 && map.getValue().getNumResults() == 1;
}

static std::optional<DefinitionKind> kindOf(llvm::StringRef name) {
  for (auto [i, kindName] : llvm::enumerate(kindNames))
    if (kindName == name)
      return static_cast<DefinitionKind>(i);
  return std::nullopt;
}

bool SizeDefinition::isValid(ArrayAttr attribute) {
  if (attribute.size() != 4)
    return false;
  auto symbol = llvm::dyn_cast<IntegerAttr>(attribute[0]);
  auto kind = llvm::dyn_cast<StringAttr>(attribute[1]);
  return symbol && symbol.getType().isInteger(64) && symbol.getInt() >= 0 && symbol.getInt() < mostSymbols && kind &&
         kindOf(kind.getValue()).has_value() && isSize(attribute[2]) && isSize(attribute[3]);
}

SizeDefinition SizeDefinition::fromAttribute(ArrayAttr attribute) {
  return {static_cast<unsigned>(llvm::cast<IntegerAttr>(attribute[0]).getInt()),
          kindOf(llvm::cast<StringAttr>(attribute[1]).getValue()).value_or(DefinitionKind::Value),
          llvm::cast<AffineMapAttr>(attribute[2]).getValue().getResult(0),
          llvm::cast<AffineMapAttr>(attribute[3]).getValue().getResult(0)};
}

SmallVector<SizeDefinition> definitionsOf(Operation *module) {
  SmallVector<SizeDefinition> list;
  if (auto definitions = module->getAttrOfType<ArrayAttr>(definitionsAttr))
    for (auto definition : definitions.getAsRange<ArrayAttr>())
      list.push_back(SizeDefinition::fromAttribute(definition));
  return list;
}

SmallVector<int64_t> symbolsThatMayBeZero(ArrayRef<SizeDefinition> definitions, ArrayRef<int64_t> readSymbols) {
  SmallVector<int64_t> list(readSymbols);
  auto isPositive = [&](AffineExpr expr) {
    SmallVector<AffineExpr> least; // each symbol as a number from 0 on
    for (unsigned i = 0, count = countSymbols(expr); i < count; ++i)
      least.push_back(getAffineSymbolExpr(i, expr.getContext()) + (llvm::is_contained(list, i) ? 0 : 1));
    return isNonNegative(canonicalSize(expr.replaceSymbols(least) - 1));
  };
  for (const SizeDefinition &definition : definitions) {
    bool lhs = isPositive(definition.lhs), rhs = isPositive(definition.rhs), positive = lhs;
    if (definition.kind == DefinitionKind::Maximum)
      positive = lhs || rhs;
    else if (definition.kind == DefinitionKind::Minimum || definition.kind == DefinitionKind::Broadcast)
      positive = lhs && rhs;
    if (!positive)
      list.push_back(definition.symbol);
  }
  llvm::sort(list);
  return list;
}

std::optional<ScaledSymbol> asScaledSymbol(AffineExpr size) {
  std::optional<unsigned> symbol;
  size.walk([&](AffineExpr part) {
    if (auto found = llvm::dyn_cast<AffineSymbolExpr>(part))
      symbol = found.getPosition();
  });
  if (!symbol)
    return std::nullopt;
  MLIRContext *context = size.getContext();
  AffineExpr self = getAffineSymbolExpr(*symbol, context);
  auto at = [&](int64_t value) {
    return constantSize(canonicalSize(size.replace(self, getAffineConstantExpr(value, context))));
  };
  std::optional<int64_t> zero = at(0), one = at(1);
  if (!zero || !one || *one - *zero < 1 || canonicalSize(self * (*one - *zero) + *zero) != canonicalSize(size))
    return std::nullopt;
  return ScaledSymbol{*symbol, *one - *zero, *zero};
}

} // namespace tilewright::graph
