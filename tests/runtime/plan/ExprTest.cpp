// SPDX-License-Identifier: Apache-2.0
// Size expressions: values, rounding, overflow, and the ids that a builder gives.
#include "runtime/plan/Expr.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tilewright::runtime {

static int64_t compute(ExprKind kind, int64_t lhs, int64_t rhs) {
  std::vector<Expr> nodes = {{ExprKind::Constant, lhs, 0}, {ExprKind::Constant, rhs, 0}, {kind, 0, 1}};
  return *ExprValues::evaluate(nodes, {}).get(2);
}

TEST(Expr, DivisionRoundsAsNamedForAllSigns) {
  for (int64_t lhs = -7; lhs <= 7; ++lhs)
    for (int64_t rhs : {-3, -2, -1, 1, 2, 3}) {
      double exact = static_cast<double>(lhs) / static_cast<double>(rhs);
      EXPECT_EQ(compute(ExprKind::FloorDiv, lhs, rhs), static_cast<int64_t>(std::floor(exact))) << lhs << " / " << rhs;
      EXPECT_EQ(compute(ExprKind::CeilDiv, lhs, rhs), static_cast<int64_t>(std::ceil(exact))) << lhs << " / " << rhs;
      EXPECT_EQ(compute(ExprKind::Mod, lhs, rhs), lhs - static_cast<int64_t>(std::floor(exact)) * rhs)
          << lhs << " % " << rhs;
    }
  EXPECT_EQ(compute(ExprKind::Mod, INT64_MIN, 3), 1);
  EXPECT_EQ(compute(ExprKind::Min, 3, -4), -4);
  EXPECT_EQ(compute(ExprKind::Max, 3, -4), 3);
}

TEST(Expr, OverflowAndDivisionByZeroAreSentencesForTheNodeThatIsAskedFor) {
  std::vector<Expr> nodes;
  ExprBuilder build(nodes);
  ExprId n = build.symbol(0), square = build.mul(n, n), ratio = build.binary(ExprKind::FloorDiv, build.constant(8), n);
  ExprValues large = ExprValues::evaluate(nodes, std::vector<int64_t>{int64_t(1) << 40});
  EXPECT_EQ(large.get(square).status().code(), Code::Malformed);
  EXPECT_NE(large.get(square).status().message().find("does not fit in 64 bits"), std::string::npos);
  EXPECT_EQ(*large.get(ratio), 0);
  ExprValues zero = ExprValues::evaluate(nodes, std::vector<int64_t>{0});
  EXPECT_EQ(*zero.get(square), 0);
  EXPECT_NE(zero.get(ratio).status().message().find("divides by zero"), std::string::npos);
}

TEST(Expr, UnboundSymbolsLeaveValuesUnknown) {
  std::vector<Expr> nodes;
  ExprBuilder build(nodes);
  ExprId sum = build.add(build.symbol(0), build.symbol(1));
  ExprValues values = ExprValues::evaluate(nodes, std::vector<int64_t>{3, ExprValues::unknown});
  EXPECT_TRUE(values.known(0));
  EXPECT_FALSE(values.known(sum));
  EXPECT_EQ(values.get(sum).status().code(), Code::Internal);
}

TEST(Expr, BuilderSharesFoldsAndOrders) {
  std::vector<Expr> nodes;
  ExprBuilder build(nodes);
  ExprId a = build.symbol(0), b = build.symbol(1);
  EXPECT_EQ(build.add(a, b), build.add(b, a));
  EXPECT_EQ(build.mul(a, build.constant(1)), a);
  EXPECT_EQ(build.add(build.constant(0), b), b);
  EXPECT_EQ(build.binary(ExprKind::CeilDiv, build.constant(9), build.constant(4)), build.constant(3));
  std::vector<std::string> names = {"batch", "seq"};
  ExprId blocks = build.binary(ExprKind::CeilDiv, build.mul(a, b), build.constant(128));
  EXPECT_EQ(toString(nodes, names, blocks), "ceildiv(batch * seq, 128)");
  EXPECT_EQ(ExprBuilder(nodes).add(a, b), build.add(a, b)); // a second builder goes on with the table
}

TEST(Expr, TheTextOfADeepFormulaStaysShort) {
  std::vector<Expr> nodes = {{ExprKind::Symbol, 0, 0}};
  for (int64_t i = 0; i < 60; ++i)
    nodes.push_back({ExprKind::Add, i, i});
  std::string text = toString(nodes, std::vector<std::string>{"n"}, 60);
  EXPECT_LT(text.size(), 5000u);
  EXPECT_NE(text.find("..."), std::string::npos);
}

} // namespace tilewright::runtime
