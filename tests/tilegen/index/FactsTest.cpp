// SPDX-License-Identifier: Apache-2.0
// Facts against brute force: what is said of an expression is true of all its values, in every lane.
#include "tilegen/index/Facts.h"

#include "frontend/graph/Sizes.h"
#include "tests/frontend/index/ExprTest.h"
#include "tests/frontend/index/RandomExpr.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::index;

namespace {

struct FactsTest : tests::ExprTest {
  tests::RandomExpr random{5};

  int64_t pick(int64_t n) { return random.pick(n); }
  AffineExpr number(int64_t value) { return getAffineConstantExpr(value, &context); }

  static bool isMultiple(int64_t value, int64_t divisor) { return divisor ? value % divisor == 0 : value == 0; }

  /// Whether what is known is true of these lanes.
  static bool holds(const Facts &facts, ArrayRef<int64_t> lanes) {
    for (auto [i, value] : llvm::enumerate(lanes))
      if ((facts.low && value < *facts.low) || (facts.high && value > *facts.high) ||
          (facts.slope && value != lanes[0] + *facts.slope * static_cast<int64_t>(i)))
        return false;
    return isMultiple(lanes[0], facts.divisor);
  }

  /// All vectors of so many lanes of which `facts`, whose ends and slope are known, are true.
  static SmallVector<SmallVector<int64_t>> membersOf(const Facts &facts, int64_t vector) {
    SmallVector<SmallVector<int64_t>> result;
    for (int64_t first = *facts.low; first <= *facts.high; ++first) {
      SmallVector<int64_t> lanes;
      for (int64_t lane = 0; lane < vector; ++lane)
        lanes.push_back(first + lane * *facts.slope);
      if (holds(facts, lanes))
        result.push_back(lanes);
    }
    return result;
  }

  Facts randomFacts(int64_t least, int64_t slope) {
    Facts facts;
    facts.divisor = std::array<int64_t, 5>{1, 2, 3, 4, 8}[pick(5)];
    facts.low = least + pick(6);
    facts.high = *facts.low + pick(20);
    facts.slope = slope;
    return facts;
  }

  AffineExpr randomExpr() { return random.make({d0, d1, s0}, {s0, s0 + 1}, 5); }
};

TEST_F(FactsTest, HoldOfEveryPointInEveryLane) {
  int slopes = 0, ranges = 0, divisors = 0;
  for (int round = 0; round < 4000; ++round) {
    int64_t vector = int64_t(1) << pick(4);
    AffineExpr expr = randomExpr();
    SmallVector<Facts> dims{randomFacts(-5, pick(3)), randomFacts(0, 0)}, symbols{randomFacts(1, 0)};
    Facts facts = factsOf(expr, dims, symbols, vector);
    slopes += facts.slope.value_or(0) != 0, ranges += facts.low && facts.high, divisors += facts.divisor > 1;
    for (const auto &x : membersOf(dims[0], vector))
      for (const auto &y : membersOf(dims[1], vector))
        for (const auto &s : membersOf(symbols[0], vector)) {
          SmallVector<int64_t> lanes;
          for (int64_t lane = 0; lane < vector; ++lane)
            lanes.push_back(graph::evaluate(expr, {x[lane], y[lane]}, {s[lane]}));
          ASSERT_TRUE(holds(facts, lanes)) << graph::printSize(expr) << " from " << lanes.front() << " to "
                                           << lanes.back() << " in " << vector << " lanes";
        }
  }
  EXPECT_GT(slopes, 300);
  EXPECT_GT(ranges, 2000);
  EXPECT_GT(divisors, 400);
}

/// Ends that are not known say nothing, and nothing follows from them.
TEST_F(FactsTest, HoldWhereEndsAreUnknown) {
  for (int round = 0; round < 4000; ++round) {
    AffineExpr expr = randomExpr();
    SmallVector<Facts> full{randomFacts(-5, 0), randomFacts(0, 0)}, symbols{randomFacts(1, 0)}, dims = full;
    for (Facts &dim : dims) {
      if (pick(2))
        dim.low.reset();
      if (pick(2))
        dim.high.reset();
    }
    if (pick(2))
      symbols[0].high.reset();
    Facts facts = factsOf(expr, dims, symbols);
    for (int64_t s : {*symbols[0].low, *symbols[0].low + 7})
      for (const auto &x : membersOf(full[0], 1))
        for (const auto &y : membersOf(full[1], 1)) {
          if (!holds(symbols[0], s))
            continue;
          int64_t value = graph::evaluate(expr, {x[0], y[0]}, {s});
          ASSERT_TRUE(holds(facts, value)) << graph::printSize(expr) << " is " << value;
        }
  }
}

TEST_F(FactsTest, OfChoices) {
  for (int round = 0; round < 500; ++round) {
    Facts a = randomFacts(-9, 0), b = randomFacts(-9, 0), less = smaller(a, b), more = larger(a, b), one = either(a, b);
    bool always = isAlwaysLess(a, b), some = false;
    for (const auto &x : membersOf(a, 1))
      for (const auto &y : membersOf(b, 1)) {
        ASSERT_TRUE(holds(less, std::min(x[0], y[0])) && holds(more, std::max(x[0], y[0])));
        ASSERT_TRUE(holds(one, x) && holds(one, y) && holds(a - b, x[0] - y[0]));
        ASSERT_TRUE(!always || x[0] < y[0]);
        some |= x[0] >= y[0];
      }
    ASSERT_TRUE(always || some || a.divisor > 1 || b.divisor > 1);
  }
}

TEST_F(FactsTest, FindVectors) {
  Facts lane{64, 0, 1023, 1}, other = Facts::between(0, 99);
  auto slopeOf = [&](AffineExpr expr, int64_t vector) { return factsOf(expr, {lane, other}, {}, vector).slope; };
  EXPECT_EQ(slopeOf(d1 * 64 + d0, 8), 1);
  EXPECT_EQ(slopeOf(d0.floorDiv(64), 8), 0);
  EXPECT_EQ(slopeOf(d0 % 64, 8), 1);
  EXPECT_EQ(slopeOf(d0 % 4, 4), 1);
  EXPECT_EQ(slopeOf(d0 % 4, 8), std::nullopt);
  EXPECT_EQ(slopeOf((d0 + 1) % 64, 8), std::nullopt);
  EXPECT_EQ(slopeOf(d0 * 4, 8), 4);
  EXPECT_EQ(factsOf(d1 * 64 + d0, {lane, other}, {}, 8).divisor, 64);
}

TEST_F(FactsTest, FitIn32Bits) {
  Facts row = Facts::between(0, 99), any;
  EXPECT_TRUE(fitsIn32(d0 * 1000 + d1, {row, row}, {}));
  EXPECT_FALSE(fitsIn32(d0 * 1000 + d1, {row, any}, {}));
  EXPECT_FALSE(fitsIn32((d0 * 100'000'000).floorDiv(1'000'001), {row}, {})); // a part of it does not
  EXPECT_FALSE(fitsIn32(s0, {}, {any}));
}

TEST_F(FactsTest, OfWhatOverflowsAreUnknown) {
  Facts big = Facts::constant(INT64_MAX);
  EXPECT_FALSE((big + big).high);
  EXPECT_FALSE((big * big).high);
  EXPECT_FALSE((Facts::constant(INT64_MIN) - big).low);
  EXPECT_EQ(Facts::constant(INT64_MIN).value(), INT64_MIN);
}

} // namespace
