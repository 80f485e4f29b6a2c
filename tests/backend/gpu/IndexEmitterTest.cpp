// SPDX-License-Identifier: Apache-2.0
// What is emitted for an expression, executed, is its value, whatever is known of the operands.
#include "backend/gpu/IndexEmitter.h"

#include "frontend/graph/Sizes.h"
#include "tests/frontend/index/RandomExpr.h"
#include "tests/tilegen/index/ArithEvaluator.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tests;
using index::Facts;

namespace {

struct IndexEmitterTest : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  AffineExpr d0 = getAffineDimExpr(0, &context), d1 = getAffineDimExpr(1, &context);
  AffineExpr s0 = getAffineSymbolExpr(0, &context);
  RandomExpr random{9};

  IndexEmitterTest() { context.loadDialect<arith::ArithDialect>(); }
};

TEST_F(IndexEmitterTest, EmittedCodeHasTheValueOfTheExpression) {
  int unsignedDivisions = 0, signedDivisions = 0;
  for (int round = 0; round < 2000; ++round) {
    AffineExpr expr = random.make({d0, d1, s0}, {s0, s0 + 1}, 5);
    int64_t low = random.pick(2) ? 0 : -6;
    SmallVector<Facts> dims{Facts::between(low, 9), Facts::between(0, std::nullopt)}, symbols{Facts::between(1, 4)};
    Block block;
    ImplicitLocOpBuilder builder(UnknownLoc::get(&context), &context);
    builder.setInsertionPointToEnd(&block);
    for (int i = 0; i < 3; ++i)
      block.addArgument(builder.getI64Type(), builder.getLoc());
    SmallVector<Value> arguments(block.getArguments());
    IndexEmitter emitter(builder, builder.getI64Type(), ArrayRef(arguments).take_front(2),
                         ArrayRef(arguments).drop_front(2), dims, symbols);
    Value result = emitter.emit(expr);
    for (Operation &op : block) {
      unsignedDivisions += isa<arith::DivUIOp, arith::RemUIOp>(op);
      signedDivisions += isa<arith::DivSIOp, arith::RemSIOp>(op);
    }
    for (int64_t x = low; x <= 9; ++x)
      for (int64_t y : {0, 1, 5, 64})
        for (int64_t s = 1; s <= 4; ++s)
          ASSERT_EQ(ArithEvaluator(block, {x, y, s})[result], graph::evaluate(expr, {x, y}, {s}))
              << graph::printSize(expr) << " at " << x << ", " << y << ", " << s;
  }
  EXPECT_GT(unsignedDivisions, 500);
  EXPECT_GT(signedDivisions, 500);
}

} // namespace
