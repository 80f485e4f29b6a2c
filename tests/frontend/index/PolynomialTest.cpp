// SPDX-License-Identifier: Apache-2.0
// The ring of index expressions against brute force: polynomials are equal exactly if their values are.
#include "frontend/index/Polynomial.h"

#include "frontend/graph/Sizes.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::index;

namespace {

struct PolynomialTest : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  SmallVector<AffineExpr> symbols{getAffineSymbolExpr(0, &context), getAffineSymbolExpr(1, &context)};
  AffineExpr s0 = symbols[0], s1 = symbols[1];
  std::mt19937 random{11};

  int64_t pick(int64_t n) { return static_cast<int64_t>(random() % n); }
  AffineExpr number(int64_t value) { return getAffineConstantExpr(value, &context); }

  /// A sum of products of at most two symbols and constants: of degree 2 in each symbol at most.
  AffineExpr randomExpr() {
    AffineExpr sum = number(pick(5) - 2);
    for (int64_t term = 0; term < 3; ++term) {
      AffineExpr product = number(pick(5) - 2);
      for (int64_t factor = pick(3); factor > 0; --factor)
        product = product * symbols[pick(2)];
      sum = pick(2) ? sum + product : product - sum;
    }
    return sum;
  }
  Polynomial polynomial(AffineExpr expr) { return Polynomial::spelledBy(expr); }

  /// Calls `visit` with all values of both symbols from `least` to `most`.
  static void forEachPoint(int64_t least, int64_t most, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
    for (int64_t x = least; x <= most; ++x)
      for (int64_t y = least; y <= most; ++y)
        visit({x, y});
  }
  static int64_t valueOf(AffineExpr expr, ArrayRef<int64_t> point) { return graph::evaluate(expr, {}, point); }
  static std::string str(AffineExpr expr) {
    std::string text;
    llvm::raw_string_ostream(text) << expr;
    return text;
  }
};

/// A polynomial of degree d in each symbol that is 0 at more than d values of each is 0, so a grid decides.
TEST_F(PolynomialTest, EqualExactlyIfEqualEverywhere) {
  int equal = 0;
  for (int round = 0; round < 4000; ++round) {
    AffineExpr a = randomExpr(), b = randomExpr(), c = randomExpr();
    AffineExpr pairs[][2] = {{a, b},
                             {(a + b) * c, c * b + a * c},
                             {(a - b) * (a + b), a * a - b * b},
                             {a * b + c, (a + pick(2)) * b + c},
                             {a - (b - c), c + a - b}};
    auto &[left, right] = pairs[pick(5)];
    bool same = true;
    forEachPoint(-3, 3, [&](ArrayRef<int64_t> at) { same &= valueOf(left, at) == valueOf(right, at); });
    ASSERT_EQ(polynomial(left) == polynomial(right), same) << str(left) << " and " << str(right);
    ASSERT_EQ(toExpr(&context, polynomial(left)) == toExpr(&context, polynomial(right)), same)
        << str(left) << " and " << str(right);
    equal += same;
  }
  EXPECT_GT(equal, 1000); // the property was not tested on different pairs alone
}

TEST_F(PolynomialTest, SpellsWhatItRead) {
  for (int round = 0; round < 1000; ++round) {
    AffineExpr a = randomExpr(), spelled = toExpr(&context, polynomial(a) * polynomial(randomExpr()));
    ASSERT_EQ(toExpr(&context, polynomial(spelled)), spelled);
    forEachPoint(-3, 3, [&](ArrayRef<int64_t> at) {
      ASSERT_EQ(valueOf(toExpr(&context, polynomial(a)), at), valueOf(a, at)) << str(a);
    });
  }
}

TEST_F(PolynomialTest, IsARing) {
  for (int round = 0; round < 1000; ++round) {
    Polynomial a = polynomial(randomExpr()), b = polynomial(randomExpr()), c = polynomial(randomExpr());
    ASSERT_EQ(a + b, b + a);
    ASSERT_EQ(a * b, b * a);
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ((a * b) * c, a * (b * c));
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_EQ(a * Polynomial(1), a);
    ASSERT_TRUE((a - a).isZero());
  }
}

TEST_F(PolynomialTest, DividesWhatWasMultiplied) {
  int exact = 0;
  for (int round = 0; round < 2000; ++round) {
    Polynomial a = polynomial(randomExpr()), b = polynomial(randomExpr());
    if (b.isZero()) {
      EXPECT_FALSE(divideExactly(a, b));
      continue;
    }
    ASSERT_EQ(divideExactly(a * b, b), a);
    if (std::optional<Polynomial> quotient = divideExactly(a, b)) {
      ASSERT_EQ(*quotient * b, a);
      ++exact;
    }
  }
  EXPECT_GT(exact, 20);
}

/// Dimensions before symbols before divisions, terms of more atoms first: the same spelling in every process.
TEST_F(PolynomialTest, OrdersTerms) {
  AffineExpr d0 = getAffineDimExpr(0, &context), d1 = getAffineDimExpr(1, &context);
  Polynomial sum = polynomial(s1 + s0.floorDiv(2) + d1 + 7 + s0 + d0 * s1 + d0);
  SmallVector<Polynomial> expected{polynomial(d0 * s1),
                                   polynomial(d0),
                                   polynomial(d1),
                                   polynomial(s0),
                                   polynomial(s1),
                                   polynomial(s0.floorDiv(2)),
                                   7};
  ASSERT_EQ(sum.size(), expected.size());
  for (auto [term, other] : llvm::zip(sum, expected))
    EXPECT_EQ(Polynomial(term), other);
}

TEST_F(PolynomialTest, WrapsAsMachinesDo) {
  Polynomial big = polynomial(s0 * INT64_MAX);
  EXPECT_EQ(big + big, polynomial(s0 * -2));
  EXPECT_EQ(big + big - big, big);
}

/// What is proved is so, quotients and remainders included; and each rule proves something.
TEST_F(PolynomialTest, ProvesSigns) {
  int proved = 0;
  for (int round = 0; round < 4000; ++round) {
    AffineExpr expr = randomExpr() + randomExpr().floorDiv(1 + pick(4)) * (pick(5) - 2) -
                      symbols[pick(2)].floorDiv(1 + pick(4)) * pick(2) + (symbols[pick(2)] + pick(3)) % (1 + pick(4));
    int64_t least = pick(3);
    if (!isNonNegative(polynomial(graph::canonicalSize(expr)), [&](AffineSymbolExpr) { return least; }))
      continue;
    ++proved;
    forEachPoint(least, 9, [&](ArrayRef<int64_t> at) {
      ASSERT_GE(valueOf(expr, at), 0) << str(expr) << " at " << at[0] << ", " << at[1] << ", proved from " << least;
    });
  }
  EXPECT_GT(proved, 200);
  auto isProved = [&](AffineExpr expr, int64_t least) {
    return isNonNegative(polynomial(expr), [&](AffineSymbolExpr) { return least; });
  };
  EXPECT_TRUE(isProved(s0 * s1 - s0, 1));
  EXPECT_FALSE(isProved(s0 * s1 - s0, 0));
  EXPECT_TRUE(isProved(s0 * 3 - s0.floorDiv(2) * 5, 0));
  EXPECT_TRUE(isProved(s0 * s1 - s1 + s1 - s1.floorDiv(3), 1));
  EXPECT_TRUE(isProved((s0 + 1).floorDiv(2) - s0.floorDiv(2), 0));
}

} // namespace
