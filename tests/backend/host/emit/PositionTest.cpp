// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/Position.h"

#include <gtest/gtest.h>

using namespace tilewright::host;

namespace {

TEST(Position, MovingAlongAnAxisForgetsWhatIsKnownThere) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> ir(context);
  Ix zero = ir.getInt64(0), one = ir.getInt64(1), bound = ir.getInt64(9);
  Position position;
  position.outer = {zero, one};
  position.rows = {zero, one};
  position.column = zero;
  position.width = 16;
  position.run = 7;
  position.end = bound;
  position.live = {{0, zero, bound}, {1, zero, bound}, {2, zero, bound}};
  position.clampable = 6;

  EXPECT_EQ(position.axes(), 4u);
  EXPECT_EQ(position.at(1, 1), one);
  EXPECT_EQ(position.at(2, 0), one) << "the innermost of the outer axes";
  EXPECT_EQ(position.at(3, 0), zero);

  position.set(1, bound);
  EXPECT_EQ(position.rows.size(), 1u);
  EXPECT_FALSE(position.isLive(1, zero, bound));
  EXPECT_FALSE(position.isClampable(1));
  EXPECT_TRUE(position.isClampable(2));
  EXPECT_TRUE(position.isLive(0, zero, bound));
  EXPECT_FALSE(position.isLive(0, one, bound)) << "another offset";

  position.set(0, one);
  EXPECT_EQ(position.width, 1u);
  EXPECT_EQ(position.run, 0u);
  EXPECT_EQ(position.end, nullptr);
  EXPECT_FALSE(position.isLive(0, zero, bound));

  position.forgetLive(2);
  EXPECT_FALSE(position.isLive(2, zero, bound));
  EXPECT_TRUE(position.isClampable(2)) << "what is not live may still be clamped";
}

TEST(Position, TheLaneAxisTradesPlacesWithTheColumns) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> ir(context);
  Ix zero = ir.getInt64(0), one = ir.getInt64(1), two = ir.getInt64(2), three = ir.getInt64(3);
  Position position;
  position.outer = {zero, one};
  position.rows = {two};
  position.column = three;
  position.width = 16;

  position.laneAxis = 1;
  EXPECT_EQ(position.at(0, 0), two) << "rows are columns";
  EXPECT_EQ(position.at(1, 0), three);
  EXPECT_EQ(position.at(2, 0), one);

  position.laneAxis = 2;
  EXPECT_EQ(position.at(0, 0), one);
  EXPECT_EQ(position.at(1, 0), two);
  EXPECT_EQ(position.at(2, 0), three);
  EXPECT_EQ(position.at(3, 0), zero);

  position.set(0, zero);
  EXPECT_EQ(position.outerAt(2), zero);
  EXPECT_EQ(position.width, 16u) << "lanes lie along another axis";
  position.set(2, one);
  EXPECT_EQ(position.column, one);
  EXPECT_EQ(position.width, 1u);
}

} // namespace
