// SPDX-License-Identifier: Apache-2.0
// Building, evaluating and printing size expressions.
#include "runtime/plan/Expr.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace tilewright::runtime {

static int64_t floorDiv(int64_t lhs, int64_t rhs) {
  int64_t quotient = lhs / rhs;
  return lhs % rhs != 0 && (lhs < 0) != (rhs < 0) ? quotient - 1 : quotient;
}

/// lhs mod rhs without the product in ExprKind::Mod's definition, which may overflow although the result does not.
static int64_t floorMod(int64_t lhs, int64_t rhs) {
  int64_t remainder = lhs % rhs;
  return remainder != 0 && (remainder < 0) != (rhs < 0) ? remainder + rhs : remainder;
}

static bool isDivision(ExprKind kind) {
  return kind == ExprKind::FloorDiv || kind == ExprKind::CeilDiv || kind == ExprKind::Mod;
}

/// The value of one binary node; nullopt if it overflows. The divisor must not be 0.
static std::optional<int64_t> compute(ExprKind kind, int64_t lhs, int64_t rhs) {
  int64_t result = 0;
  if (isDivision(kind) && lhs == INT64_MIN && rhs == -1)
    return std::nullopt;
  switch (kind) {
  case ExprKind::Add:
    return __builtin_add_overflow(lhs, rhs, &result) ? std::nullopt : std::optional(result);
  case ExprKind::Mul:
    return __builtin_mul_overflow(lhs, rhs, &result) ? std::nullopt : std::optional(result);
  case ExprKind::FloorDiv:
    return floorDiv(lhs, rhs);
  case ExprKind::CeilDiv:
    return floorDiv(lhs, rhs) + (lhs % rhs != 0);
  case ExprKind::Mod:
    return floorMod(lhs, rhs);
  case ExprKind::Min:
    return std::min(lhs, rhs);
  case ExprKind::Max:
    return std::max(lhs, rhs);
  case ExprKind::Constant:
  case ExprKind::Symbol:
    break;
  }
  return std::nullopt;
}

ExprBuilder::ExprBuilder(std::vector<Expr> &nodes) : nodes_(nodes) {
  for (ExprId id = 0; id < nodes.size(); ++id)
    ids_.emplace(std::tuple(nodes[id].kind, nodes[id].lhs, nodes[id].rhs), id);
}

ExprId ExprBuilder::node(ExprKind kind, int64_t lhs, int64_t rhs) {
  auto [at, isNew] = ids_.emplace(std::tuple(kind, lhs, rhs), static_cast<ExprId>(nodes_.size()));
  if (isNew)
    nodes_.push_back({kind, lhs, rhs});
  return at->second;
}

ExprId ExprBuilder::binary(ExprKind kind, ExprId lhs, ExprId rhs) {
  auto constantOf = [&](ExprId id) {
    return nodes_[id].kind == ExprKind::Constant ? std::optional(nodes_[id].lhs) : std::nullopt;
  };
  std::optional<int64_t> left = constantOf(lhs), right = constantOf(rhs);
  bool foldable = left && right && !(isDivision(kind) && *right == 0);
  if (std::optional<int64_t> value = foldable ? compute(kind, *left, *right) : std::nullopt)
    return constant(*value);
  bool commutes = kind == ExprKind::Add || kind == ExprKind::Mul || kind == ExprKind::Min || kind == ExprKind::Max;
  if (commutes && rhs < lhs) {
    std::swap(lhs, rhs);
    std::swap(left, right);
  }
  bool keepsLeft = (right == 1 && (kind == ExprKind::Mul || kind == ExprKind::FloorDiv || kind == ExprKind::CeilDiv)) ||
                   (right == 0 && kind == ExprKind::Add);
  if (keepsLeft)
    return lhs;
  if (commutes && ((left == 1 && kind == ExprKind::Mul) || (left == 0 && kind == ExprKind::Add)))
    return rhs;
  return node(kind, lhs, rhs);
}

ExprValues::State ExprValues::apply(ExprKind kind, int64_t lhs, int64_t rhs, int64_t &result) {
  if (isDivision(kind) && rhs == 0)
    return State::DivisionByZero;
  std::optional<int64_t> value = compute(kind, lhs, rhs);
  result = value.value_or(0);
  return value ? State::Known : State::Overflow;
}

ExprValues ExprValues::evaluate(std::span<const Expr> nodes, std::span<const int64_t> symbols) {
  ExprValues result;
  result.values_.resize(nodes.size());
  result.states_.resize(nodes.size(), State::Known);
  for (size_t id = 0; id < nodes.size(); ++id) {
    const Expr &node = nodes[id];
    if (node.kind == ExprKind::Constant) {
      result.values_[id] = node.lhs;
    } else if (node.kind == ExprKind::Symbol) {
      result.values_[id] = symbols[node.lhs];
      result.states_[id] = symbols[node.lhs] == unknown ? State::Unknown : State::Known;
    } else {
      // An unbound operand takes precedence over a failed one: the node may be fine once it is bound.
      State lhs = result.states_[node.lhs], rhs = result.states_[node.rhs];
      if (lhs == State::Known && rhs == State::Known)
        result.states_[id] = apply(node.kind, result.values_[node.lhs], result.values_[node.rhs], result.values_[id]);
      else
        result.states_[id] = lhs == State::Unknown || rhs == State::Unknown ? State::Unknown
                             : lhs != State::Known                          ? lhs
                                                                            : rhs;
    }
  }
  return result;
}

Expected<int64_t> ExprValues::get(ExprId id) const {
  switch (states_[id]) {
  case State::Known:
    return values_[id];
  case State::Overflow:
    return Status(Code::Malformed,
                  "a size computed from the inputs' dimensions does not fit in 64 bits; use smaller inputs");
  case State::DivisionByZero:
    return Status(Code::Malformed,
                  "a size computed from the inputs' dimensions divides by zero; this model needs larger inputs");
  case State::Unknown:
    break;
  }
  return Status(Code::Internal, fmt::format("expression {} was read before its symbols were bound", id));
}

/// `depth` bounds the text: a table of n nodes can be a formula of 2^n characters.
static std::string print(std::span<const Expr> nodes, std::span<const std::string> symbolNames, ExprId id, int depth) {
  static constexpr const char *formats[] = {
      "",           "", "({} + {})", "{} * {}", "floordiv({}, {})", "ceildiv({}, {})", "mod({}, {})", "min({}, {})",
      "max({}, {})"};
  const Expr &node = nodes[id];
  if (node.kind == ExprKind::Constant)
    return std::to_string(node.lhs);
  if (node.kind == ExprKind::Symbol)
    return symbolNames[static_cast<size_t>(node.lhs)];
  if (depth == 0)
    return "...";
  return fmt::format(fmt::runtime(formats[static_cast<size_t>(node.kind)]),
                     print(nodes, symbolNames, static_cast<ExprId>(node.lhs), depth - 1),
                     print(nodes, symbolNames, static_cast<ExprId>(node.rhs), depth - 1));
}

std::string toString(std::span<const Expr> nodes, std::span<const std::string> symbolNames, ExprId id) {
  return print(nodes, symbolNames, id, 8);
}

} // namespace tilewright::runtime
