// SPDX-License-Identifier: Apache-2.0
// The first occurrence of a symbol binds it; then every dimension of every input is compared with its expression.
#include "runtime/execute/BindSymbols.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::runtime {

static std::vector<std::string> symbolNames(const Plan &plan) {
  std::vector<std::string> names;
  for (const Symbol &symbol : plan.symbols)
    names.push_back(symbol.name);
  return names;
}

std::string describeDims(const Plan &plan, const Value &value) {
  std::vector<std::string> names = symbolNames(plan), dims;
  for (ExprId dim : value.dims)
    dims.push_back(toString(plan.exprs, names, dim));
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

Status checkTypeAndRank(const Plan &plan, const Value &expected, const TensorView &given) {
  if (given.type != expected.dtype)
    return {Code::Usage,
            fmt::format("input '{}' has type {}, expected {}", expected.name, name(given.type), name(expected.dtype))};
  if (isObject(given.type) && !given.object.defined())
    return {Code::Usage, fmt::format("input '{}' is a {} without a value", expected.name, name(given.type))};
  if (isObject(given.type) && given.type != DType::String)
    return {}; // sequences, optionals and maps have no dimensions in a plan
  if (given.shape.size() != expected.dims.size())
    return {Code::Usage, fmt::format("input '{}' has {} dimensions, expected {}: {}", expected.name, given.shape.size(),
                                     expected.dims.size(), describeDims(plan, expected))};
  for (size_t d = 0; d < given.shape.size(); ++d)
    if (given.shape[d] < 0)
      return {Code::Usage,
              fmt::format("input '{}' has dimension {} = {}, expected at least 0", expected.name, d, given.shape[d])};
  return {};
}

/// The expected value of a dimension, in words: "4", "'seq' = 17 as bound by input 'ids'", "2 * seq = 34".
static std::string describeExpected(const Plan &plan, ExprId dim, int64_t value) {
  const Expr &node = plan.exprs[dim];
  if (node.kind == ExprKind::Constant)
    return std::to_string(value);
  if (node.kind == ExprKind::Symbol) {
    const Symbol &symbol = plan.symbols[static_cast<size_t>(node.lhs)];
    if (symbol.input == none)
      return fmt::format("'{}' = {} as around this body", symbol.name, value);
    return fmt::format("'{}' = {} as bound by input '{}'", symbol.name, value,
                       plan.values[plan.inputs[symbol.input]].name);
  }
  return fmt::format("{} = {}", toString(plan.exprs, symbolNames(plan), dim), value);
}

Expected<std::vector<int64_t>> bindSymbols(const Plan &plan, std::span<const TensorView> inputs,
                                           std::span<const int64_t> given) {
  if (inputs.size() != plan.inputs.size())
    return Status(Code::Usage, fmt::format("the model takes {} inputs, got {}", plan.inputs.size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    TILEWRIGHT_TRY(checkTypeAndRank(plan, plan.values[plan.inputs[i]], inputs[i]));
  std::vector<int64_t> symbols;
  for (const Symbol &symbol : plan.symbols)
    symbols.push_back(symbol.input == none ? ExprValues::unknown : inputs[symbol.input].shape[symbol.dim]);
  std::ranges::copy(given, symbols.begin());
  ExprValues values = ExprValues::evaluate(plan.exprs, symbols);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value &input = plan.values[plan.inputs[i]];
    for (size_t d = 0; d < input.dims.size(); ++d) { // sequences have none
      Expected<int64_t> expected = values.get(input.dims[d]);
      TILEWRIGHT_TRY(expected);
      if (inputs[i].shape[d] != *expected)
        return Status(Code::Usage, fmt::format("input '{}' has dimension {} = {}, expected {}", input.name, d,
                                               inputs[i].shape[d], describeExpected(plan, input.dims[d], *expected)));
    }
  }
  return symbols;
}

} // namespace tilewright::runtime
