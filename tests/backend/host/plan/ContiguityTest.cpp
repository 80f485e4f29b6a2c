// SPDX-License-Identifier: Apache-2.0
// Runs of neighbours against brute force.
#include "backend/host/plan/Contiguity.h"

#include "frontend/graph/Sizes.h"
#include "tests/frontend/index/ExprTest.h"
#include "tests/frontend/index/RandomExpr.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

namespace {

struct ContiguityTest : tests::ExprTest {
  std::optional<int64_t> run(ArrayRef<AffineExpr> results, unsigned dim) {
    return contiguousRun(AffineMap::get(2, 1, results, &context), dim);
  }
};

TEST_F(ContiguityTest, FindsRuns) {
  EXPECT_EQ(run({d0.floorDiv(28), d0 % 28 + 3, d1}, 1), 0);
  EXPECT_EQ(run({d1, d0.floorDiv(28), d0 % 28 + 3}, 0), 28);
  EXPECT_EQ(run({d1, d0.floorDiv(28), d0 % 4}, 0), 4);
  EXPECT_EQ(run({d0, d1 * 2}, 1), std::nullopt);
  EXPECT_EQ(run({d0, d1}, 0), std::nullopt);
  EXPECT_EQ(run({d0.floorDiv(s0), d0 % s0}, 0), std::nullopt);
  EXPECT_EQ(run({}, 0), std::nullopt);
  EXPECT_EQ(run({d1, (d0 + 3) % 8}, 0), std::nullopt); // which wraps inside of each block of 8
}

TEST_F(ContiguityTest, EvenMeansUndivided) {
  auto even = [&](ArrayRef<AffineExpr> results, unsigned dim) {
    return isEven(AffineMap::get(2, 1, results, &context), dim);
  };
  EXPECT_TRUE(even({d0 * 2 + 1, d1}, 0));
  EXPECT_TRUE(even({d0 * 2, d1.floorDiv(4), d1 % 4}, 0)) << "the other coordinate is divided";
  EXPECT_FALSE(even({d0.floorDiv(28), d0 % 28, d1}, 0));
}

/// Within a block that starts at a multiple of the run, each element is the one after its neighbour.
TEST_F(ContiguityTest, RunsAreContiguous) {
  tests::RandomExpr random(17);
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    SmallVector<AffineExpr> results;
    for (int64_t rank = 1 + random.pick(2); rank > 0; --rank)
      results.push_back(random.make({d0, d1, s0}, {}, 4));
    std::optional<int64_t> length = run(results, 0);
    if (!length)
      continue;
    ++found;
    for (int64_t x = 0; x < 31; ++x)
      for (int64_t y : {0, 1, 5})
        for (int64_t s : {1, 2, 3}) {
          if (*length && x % *length == *length - 1)
            continue;
          for (auto [i, expr] : llvm::enumerate(results))
            ASSERT_EQ(graph::evaluate(expr, {x + 1, y}, {s}) - graph::evaluate(expr, {x, y}, {s}),
                      i + 1 == results.size())
                << "in blocks of " << *length;
        }
  }
  EXPECT_GT(found, 200);
}

} // namespace
