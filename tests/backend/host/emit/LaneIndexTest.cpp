// SPDX-License-Identifier: Apache-2.0
// Coordinates along lanes against the map at each lane. All inputs are constants, so that everything folds to
// constants.
#include "backend/host/emit/LaneIndex.h"

#include "tests/backend/host/ParsedKernel.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

#include <random>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

constexpr unsigned width = 8;
constexpr const char *empty = "tile.kernel @f() attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }";

int64_t laneOf(LaneMath &lanes, const LaneIndex &index, unsigned lane) {
  int64_t result = *constantOf(lanes.sum(index.base)) + *constantOf(index.stride) * lane;
  if (index.delta)
    result += cast<llvm::ConstantInt>(cast<llvm::Constant>(index.delta)->getAggregateElement(lane))->getSExtValue();
  return result;
}

int64_t resultOf(AffineExpr expr, int64_t column, int64_t row) {
  MLIRContext *context = expr.getContext();
  AffineExpr at = expr.replaceDims({getAffineConstantExpr(column, context), getAffineConstantExpr(row, context)});
  return cast<AffineConstantExpr>(simplifyAffineExpr(at, 0, 0)).getValue();
}

class LaneIndexes : public testing::Test {
protected:
  LaneIndex column(int64_t first) {
    return {{function.math.constant(first)}, function.math.constant(1), nullptr, false, width};
  }
  LaneIndex row(int64_t at) { return {{function.math.constant(at)}}; }

  ParsedKernel parsed{empty};
  llvm::LLVMContext context;
  llvm::Module module{"test", context};
  HostOptions options;
  KernelFunction function{module, parsed.kernel(), options};
  LaneMath lanes{function};
  AffineExpr d0 = getAffineDimExpr(0, parsed.kernel().getContext()),
             d1 = getAffineDimExpr(1, parsed.kernel().getContext());
};

TEST_F(LaneIndexes, AlignedLanesKeepAStride) {
  LaneIndex rest = lanes.evaluate(d0 % 64, {column(128), row(0)}, width);
  EXPECT_EQ(constantOf(rest.stride), 1);
  EXPECT_FALSE(rest.delta);
  LaneIndex quotient = lanes.evaluate(d0.floorDiv(64), {column(128), row(0)}, width);
  EXPECT_TRUE(quotient.isUniform());
  EXPECT_EQ(constantOf(lanes.sum(quotient.base)), 2);
}

TEST_F(LaneIndexes, LanesThatCrossAMultipleDiffer) {
  LaneIndex rest = lanes.evaluate(d0 % 5, {column(0), row(0)}, width);
  EXPECT_TRUE(rest.delta);
  for (unsigned lane = 0; lane < width; ++lane)
    EXPECT_EQ(laneOf(lanes, rest, lane), lane % 5);
}

TEST_F(LaneIndexes, AgreeWithTheMapAtEveryLane) {
  std::mt19937 random(3);
  for (unsigned i = 0; i < 500; ++i) {
    AffineExpr expr = random() % 2 ? d0 : d0 * (1 + random() % 4) + d1;
    for (unsigned step = 0, steps = random() % 3; step < steps; ++step) {
      int64_t by = 1 + random() % 9;
      switch (random() % 5) {
      case 0:
        expr = expr + d1 * by;
        break;
      case 1:
        expr = expr * by - static_cast<int64_t>(random() % 20);
        break;
      case 2:
        expr = expr.floorDiv(by);
        break;
      case 3:
        expr = expr.ceilDiv(by);
        break;
      default:
        expr = expr % by;
      }
    }
    int64_t first = random() % 4 * width + (random() % 2 ? 0 : random() % width), at = random() % 10;
    LaneIndex index = lanes.evaluate(expr, {column(first), row(at)}, width);
    for (unsigned lane = 0; lane < width; ++lane)
      ASSERT_EQ(laneOf(lanes, index, lane), resultOf(expr, first + lane, at)) << "at lane " << lane << " of case " << i;
  }
}

} // namespace
