// SPDX-License-Identifier: Apache-2.0
// Binds symbols, and enters size expressions into the plan's table.
#include "backend/plan/PlanSizes.h"

#include "frontend/graph/GraphOps.h"

#include <fmt/format.h>

using namespace mlir;
namespace rt = tilewright::runtime;

namespace tilewright {

PlanSizes::PlanSizes(ModuleOp module, rt::Plan &plan) : module(module), plan(plan), exprs(plan.exprs) {
  if (auto list = module->getAttrOfType<ArrayAttr>(graph::guardsAttr))
    llvm::append_range(guards, list.getAsRange<ArrayAttr>());
}

rt::ExprId PlanSizes::expr(AffineExpr expression) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return exprs.constant(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbolExpr(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  rt::ExprId lhs = expr(binary.getLHS()), rhs = expr(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return exprs.add(lhs, rhs);
  case AffineExprKind::Mul:
    return exprs.mul(lhs, rhs);
  case AffineExprKind::Mod:
    return exprs.binary(rt::ExprKind::Mod, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return exprs.binary(rt::ExprKind::FloorDiv, lhs, rhs);
  default:
    return exprs.binary(rt::ExprKind::CeilDiv, lhs, rhs);
  }
}

rt::ExprId PlanSizes::symbolExpr(unsigned position) {
  if (auto part = scaled.find(position); part != scaled.end())
    return part->second;
  auto definition = defined.find(position);
  if (definition == defined.end())
    return exprs.symbol(position);
  if (auto known = definedIds.find(position); known != definedIds.end())
    return known->second;
  rt::ExprId id = definedExpr(definition->second);
  return definedIds[position] = id;
}

/// A definition as an expression of the plan. broadcast(a, b) is a * t + b * (1 - t) with t = min(1, |a - 1|), which is
/// 0 if a is 1.
rt::ExprId PlanSizes::definedExpr(const graph::SizeDefinition &definition) {
  rt::ExprId a = expr(definition.lhs), b = expr(definition.rhs), one = exprs.constant(1), minus = exprs.constant(-1);
  switch (definition.kind) {
  case graph::DefinitionKind::Minimum:
    return exprs.binary(rt::ExprKind::Min, a, b);
  case graph::DefinitionKind::Maximum:
    return exprs.binary(rt::ExprKind::Max, a, b);
  case graph::DefinitionKind::Quotient: // the dividend is 0 if the divisor is
    return exprs.binary(rt::ExprKind::FloorDiv, a, exprs.binary(rt::ExprKind::Max, b, one));
  case graph::DefinitionKind::Value:
    return a;
  case graph::DefinitionKind::Broadcast:
    break;
  }
  rt::ExprId above = exprs.add(a, minus), below = exprs.add(one, exprs.mul(minus, a));
  rt::ExprId isOther = exprs.binary(rt::ExprKind::Min, one, exprs.binary(rt::ExprKind::Max, above, below));
  return exprs.add(exprs.mul(a, isOther), exprs.mul(b, exprs.add(one, exprs.mul(minus, isOther))));
}

std::vector<rt::ExprId> PlanSizes::sizesOf(Value value) {
  std::vector<rt::ExprId> sizes;
  for (AffineExpr size : graph::getSizes(cast<RankedTensorType>(value.getType())))
    sizes.push_back(expr(size));
  return sizes;
}

/// Binds a symbol to the first input dimension that is the symbol, else to one that is c * s + k of it; the runtime
/// checks the others. The first `given` symbols are bound by the step that runs this plan as a body.
void PlanSizes::bindInputs(func::FuncOp main, size_t given) {
  for (size_t i = 0; i < given; ++i)
    bound.insert(i);
  auto names = module->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  for (size_t i = 0; names && i < names.size(); ++i)
    plan.symbols.push_back({cast<StringAttr>(names[i]).str(), rt::none, 0});
  for (const graph::SizeDefinition &definition : graph::definitionsOf(module))
    defined[definition.symbol] = definition;
  for (auto [input, type] : llvm::enumerate(main.getArgumentTypes()))
    for (auto [dim, size] : llvm::enumerate(graph::getSizes(cast<RankedTensorType>(type))))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(size); symbol && symbol.getPosition() >= given &&
                                                          plan.symbols[symbol.getPosition()].input == rt::none &&
                                                          !defined.contains(symbol.getPosition()))
        plan.symbols[symbol.getPosition()] = {plan.symbols[symbol.getPosition()].name, uint32_t(input), uint32_t(dim)};
  for (auto [input, type] : llvm::enumerate(main.getArgumentTypes()))
    for (auto [dim, size] : llvm::enumerate(graph::getSizes(cast<RankedTensorType>(type)))) {
      if (isa<AffineSymbolExpr>(size))
        continue;
      auto name = main.getArgAttrOfType<StringAttr>(input, graph::nameAttr);
      bindScaled(size, fmt::format("{}_d{}", name ? name.str() : fmt::format("input_{}", input), dim), input, dim);
    }
}

/// If `size` is c * s + k of an unbound symbol s: adds a symbol of the plan for the whole size, and computes s from it.
rt::SymbolId PlanSizes::bindScaled(AffineExpr size, std::string name, uint32_t input, uint32_t dim) {
  std::optional<graph::ScaledSymbol> part = graph::asScaledSymbol(size);
  if (!part || isBoundSymbol(part->symbol) || defined.contains(part->symbol))
    return rt::none;
  rt::SymbolId whole = plan.symbols.size();
  const std::string &ofPart = plan.symbols[part->symbol].name;
  if (size_t slash = ofPart.rfind('/'); slash != std::string::npos && slash > 0) // the importer names parts "WHOLE/..."
    name = ofPart.substr(0, slash);
  plan.symbols.push_back({std::move(name), input, dim});
  rt::ExprId multiple = exprs.add(exprs.symbol(whole), exprs.constant(-part->added));
  scaled[part->symbol] = exprs.binary(rt::ExprKind::FloorDiv, multiple, exprs.constant(part->factor));
  wholes.emplace_back(whole, size);
  return whole;
}

void PlanSizes::addWholeGuards() {
  for (auto [whole, size] : wholes) {
    graph::ScaledSymbol part = *graph::asScaledSymbol(size);
    std::string less = part.added ? fmt::format(", less {},", part.added) : "";
    plan.steps.push_back(
        rt::Guard{rt::Relation::Equal, exprs.symbol(whole), expr(size),
                  fmt::format("expected a size '{}'{} that {} divides", plan.symbols[whole].name, less, part.factor)});
  }
  wholes.clear();
}

bool PlanSizes::isBoundSymbol(unsigned position) const {
  return plan.symbols[position].input != rt::none || bound.contains(position) || scaled.contains(position);
}

bool PlanSizes::isBound(ArrayRef<AffineExpr> sizes) const {
  bool all = true;
  for (AffineExpr size : sizes)
    size.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      if (!symbol || !all)
        return;
      auto definition = defined.find(symbol.getPosition());
      all = definition == defined.end() ? isBoundSymbol(symbol.getPosition())
                                        : isBound({definition->second.lhs, definition->second.rhs});
    });
  return all;
}

/// Adds each of `graph.guards` as soon as its symbols are bound. A guard is [lhs, rhs, message, relation]; the relation
/// is "equal" by default.
void PlanSizes::addGuards() {
  llvm::erase_if(guards, [&](ArrayAttr guard) {
    AffineMap lhs = cast<AffineMapAttr>(guard[0]).getValue(), rhs = cast<AffineMapAttr>(guard[1]).getValue();
    if (!isBound(lhs.getResults()) || !isBound(rhs.getResults()))
      return false;
    StringRef name = guard.size() > 3 ? cast<StringAttr>(guard[3]).getValue() : StringRef("equal");
    rt::Relation relation = name == "at most"     ? rt::Relation::LessEqual
                            : name == "not equal" ? rt::Relation::NotEqual
                                                  : rt::Relation::Equal;
    plan.steps.push_back(
        rt::Guard{relation, expr(lhs.getResult(0)), expr(rhs.getResult(0)), cast<StringAttr>(guard[2]).str()});
    return true;
  });
}

std::optional<std::string> PlanSizes::uncheckedGuard() const {
  if (guards.empty())
    return std::nullopt;
  return cast<StringAttr>(guards.front()[2]).str();
}

bool PlanSizes::isBound(Value value) const { return isBound(graph::getSizes(cast<RankedTensorType>(value.getType()))); }

void PlanSizes::bindElement(unsigned symbol) {
  exprs.symbol(symbol); // counts as a use, so that the plan keeps the symbol
  bound.insert(symbol);
}

std::vector<rt::BoundSymbol> PlanSizes::bindResults(ValueRange results, ArrayRef<rt::ValueId> values) {
  std::vector<rt::BoundSymbol> binds;
  auto forEachSize = [&](auto &&visit) {
    for (auto [i, result] : llvm::enumerate(results))
      for (auto [dim, size] : llvm::enumerate(graph::getSizes(cast<RankedTensorType>(result.getType()))))
        visit(uint32_t(i), uint32_t(dim), size);
  };
  forEachSize([&](uint32_t i, uint32_t dim, AffineExpr size) {
    auto symbol = dyn_cast<AffineSymbolExpr>(size);
    if (symbol && !isBoundSymbol(symbol.getPosition()) && !defined.contains(symbol.getPosition()) &&
        bound.insert(symbol.getPosition()).second)
      binds.push_back({i, dim, symbol.getPosition()});
  });
  forEachSize([&](uint32_t i, uint32_t dim, AffineExpr size) {
    rt::SymbolId whole = bindScaled(size, fmt::format("size_{}_{}_d{}", plan.steps.size(), i, dim), rt::none, 0);
    if (whole == rt::none)
      return;
    binds.push_back({i, dim, whole});
    plan.values[values[i]].dims[dim] = exprs.symbol(whole);
  });
  return binds;
}

} // namespace tilewright
