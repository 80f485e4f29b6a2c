// SPDX-License-Identifier: Apache-2.0
// Size expressions: what the plan computes on the host from symbolic dimensions (buffer sizes, grids, kernel scalars,
// guards).
//
//   symbols   batch, seq                              nodes   0: symbol 0        (batch)
//   wanted    ceildiv(batch * seq, 128)                       1: symbol 1        (seq)
//                                                             2: mul 0 1
//                                                             3: constant 128
//                                                             4: ceildiv 2 3     <- the id that a grid refers to
//
// Operands have smaller ids than their node, so that one forward pass evaluates a table, and cycles cannot be
// expressed.
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace tilewright::runtime {

using ExprId = uint32_t;
using SymbolId = uint32_t;

enum class ExprKind : uint8_t {
  Constant = 0, // lhs is the value
  Symbol = 1,   // lhs is the SymbolId
  Add = 2,
  Mul = 3,
  FloorDiv = 4, // rounds to minus infinity
  CeilDiv = 5,  // rounds to plus infinity
  Mod = 6,      // lhs - FloorDiv(lhs, rhs) * rhs: has the sign of rhs
  Min = 7,
  Max = 8,
};

struct Expr {
  ExprKind kind = ExprKind::Constant;
  int64_t lhs = 0;
  int64_t rhs = 0;

  bool operator==(const Expr &) const = default;
};

/// Appends nodes to a table; equal nodes get one id and constant operands fold, so that equal sizes have equal ids.
class ExprBuilder {
public:
  explicit ExprBuilder(std::vector<Expr> &nodes);

  ExprId constant(int64_t value) { return node(ExprKind::Constant, value, 0); }
  ExprId symbol(SymbolId id) { return node(ExprKind::Symbol, id, 0); }
  ExprId add(ExprId lhs, ExprId rhs) { return binary(ExprKind::Add, lhs, rhs); }
  ExprId mul(ExprId lhs, ExprId rhs) { return binary(ExprKind::Mul, lhs, rhs); }
  ExprId binary(ExprKind kind, ExprId lhs, ExprId rhs);

private:
  ExprId node(ExprKind kind, int64_t lhs, int64_t rhs);

  std::vector<Expr> &nodes_;
  std::map<std::tuple<ExprKind, int64_t, int64_t>, ExprId> ids_;
};

/// The value of every node of a table for the symbols bound so far. A node with an unbound symbol has no value yet. If
/// a node's value overflows or divides by zero, `get` returns that as a failure.
class ExprValues {
public:
  /// `symbols[i]` is the value of symbol i, or `unknown` while it is not bound.
  static constexpr int64_t unknown = INT64_MIN;
  static ExprValues evaluate(std::span<const Expr> nodes, std::span<const int64_t> symbols);

  bool known(ExprId id) const { return states_[id] != State::Unknown; }
  Expected<int64_t> get(ExprId id) const;

private:
  enum class State : uint8_t { Known, Unknown, Overflow, DivisionByZero };

  static State apply(ExprKind kind, int64_t lhs, int64_t rhs, int64_t &result);

  std::vector<int64_t> values_;
  std::vector<State> states_;
};

/// As a formula, for messages and `inspect`: "ceildiv(batch * seq, 128)". Deeper than eight levels, "...".
std::string toString(std::span<const Expr> nodes, std::span<const std::string> symbolNames, ExprId id);

} // namespace tilewright::runtime
