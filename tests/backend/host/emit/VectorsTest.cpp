// SPDX-License-Identifier: Apache-2.0
// Vector code on constants, which folds.
#include "backend/host/emit/Vectors.h"

#include "llvm/IR/Constants.h"

#include <gtest/gtest.h>

using namespace tilewright::host;

namespace {

class Vectors : public testing::Test {
protected:
  static int64_t element(llvm::Value *vector, unsigned lane) {
    return llvm::cast<llvm::ConstantInt>(llvm::cast<llvm::Constant>(vector)->getAggregateElement(lane))->getSExtValue();
  }
  llvm::LLVMContext context;
  llvm::IRBuilder<> ir{context};
  IndexMath math{ir};
};

TEST_F(Vectors, TransposeOfTheTransposeIsTheBlock) {
  for (unsigned side : {2u, 4u, 8u, 16u}) {
    Rows rows;
    for (unsigned i = 0; i < side; ++i) {
      llvm::SmallVector<llvm::Constant *> elements;
      for (unsigned j = 0; j < side; ++j)
        elements.push_back(ir.getInt32(i * side + j));
      rows.push_back(llvm::ConstantVector::get(elements));
    }
    Rows columns = transpose(ir, rows);
    ASSERT_EQ(columns.size(), side);
    for (unsigned i = 0; i < side; ++i)
      for (unsigned j = 0; j < side; ++j)
        ASSERT_EQ(element(columns[j], i), i * side + j);
    EXPECT_EQ(transpose(ir, columns), rows);
  }
}

TEST_F(Vectors, MasksHaveTheLanesBelow) {
  for (int64_t count : {-3, 0, 1, 7, 8, 100}) {
    llvm::Value *mask = lanesBelow(ir, math, math.constant(count), 8);
    for (int64_t lane = 0; lane < 8; ++lane)
      EXPECT_EQ(element(mask, lane) != 0, lane < count) << count;
  }
}

TEST_F(Vectors, SplatRepeatsRowsAndLanes) {
  Rows rows = splat(ir, {ir.getInt32(7)}, 3, 4);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(element(rows[2], 3), 7);
  EXPECT_EQ(splat(ir, {ir.getInt32(7), ir.getInt32(8)}, 2, 1)[1], ir.getInt32(8));
}

TEST_F(Vectors, BooleansAreBytesInMemory) {
  llvm::Value *mask = lanesBelow(ir, math, math.constant(3), 8), *bytes = toMemory(ir, mask, 8);
  EXPECT_TRUE(bytes->getType()->getScalarType()->isIntegerTy(8));
  EXPECT_EQ(element(bytes, 2), 1);
  EXPECT_EQ(element(bytes, 3), 0);
  EXPECT_EQ(fromMemory(ir, bytes, ir.getInt1Ty(), 8), mask);
  EXPECT_TRUE(memoryType(ir.getHalfTy())->isIntegerTy(16));
  EXPECT_EQ(alignOf(ir.getInt1Ty()).value(), 1u);
}

} // namespace
