// SPDX-License-Identifier: Apache-2.0
// Ranges on tiles against brute force: every value on the tile lies between the ends.
#include "tilegen/index/TileRange.h"

#include "frontend/graph/Sizes.h"
#include "tests/frontend/index/ExprTest.h"
#include "tests/frontend/index/RandomExpr.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::index;

namespace {

struct TileRangeTest : tests::ExprTest {
  tests::RandomExpr random{7};

  static int64_t valueOf(AffineExpr expr, int64_t x, int64_t y, int64_t symbol) {
    return graph::evaluate(expr, {x, y}, {symbol});
  }
};

TEST_F(TileRangeTest, HoldsEveryValueOfTheTile) {
  int known = 0;
  for (int round = 0; round < 3000; ++round) {
    AffineExpr expr = random.make({d0, d1, s0}, {s0, s0 + 1}, 4);
    int64_t tile = 1 + random.pick(6);
    TileRange range = rangeOnTile(expr, {tile, 1});
    if (!range.low)
      continue;
    ++known;
    for (int64_t symbol : {1, 2, 5})
      for (int64_t x = 0; x < 9; x += 1 + random.pick(3))
        for (int64_t y : {0, 3}) {
          int64_t low = valueOf(range.low, x, y, symbol), high = valueOf(range.high, x, y, symbol);
          for (int64_t at = x; at < x + tile; ++at) {
            int64_t value = valueOf(expr, at, y, symbol);
            std::string text;
            llvm::raw_string_ostream(text)
                << expr << " on " << tile << " from " << x << ": " << range.low << " to " << range.high;
            ASSERT_LE(low, value) << text;
            ASSERT_GE(high, value) << text;
          }
        }
  }
  EXPECT_GT(known, 1500);
}

TEST_F(TileRangeTest, IsExactForSumsAndForRemaindersThatCrossNoMultiple) {
  TileRange row = rangeOnTile(d0 + s0 + 1, {64});
  EXPECT_EQ(valueOf(row.low, 128, 0, 7), 136);
  EXPECT_EQ(valueOf(row.high, 128, 0, 7), 199);
  TileRange head = rangeOnTile(d0 % s0, {16}); // heads of 40 rows side by side
  EXPECT_EQ(valueOf(head.low, 48, 0, 40), 8);
  EXPECT_EQ(valueOf(head.high, 48, 0, 40), 23);
  EXPECT_LE(valueOf(head.low, 32, 0, 40), 0); // rows 32 to 39 of one head, and 0 to 7 of the next
  EXPECT_GE(valueOf(head.high, 32, 0, 40), 39);
}

} // namespace
