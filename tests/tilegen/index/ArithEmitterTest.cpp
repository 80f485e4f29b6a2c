// SPDX-License-Identifier: Apache-2.0
// Divisions as operations: executed, they round down, however they are spelled.
#include "tilegen/index/ArithEmitter.h"

#include "tests/tilegen/index/ArithEvaluator.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tests;
using index::ArithEmitter;

namespace {

struct ArithEmitterTest : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  Block block;
  OpBuilder builder{&context};
  Location loc = builder.getUnknownLoc();
  Value a, b;

  void SetUp() override {
    context.loadDialect<arith::ArithDialect>();
    start(builder.getI64Type());
  }
  void start(Type type) {
    a = block.addArgument(type, loc);
    b = block.addArgument(type, loc);
    builder.setInsertionPointToEnd(&block);
  }
  std::vector<std::string> names() {
    std::vector<std::string> result;
    for (Operation &op : block)
      result.push_back(op.getName().stripDialect().str());
    return result;
  }
  void expectDivision(ArithEmitter::Divisions divisions, bool isNonNegative, Value x, Value y) {
    ArithEmitter arith(builder, loc, divisions);
    Value quotient = arith.floorDivide(x, y, isNonNegative), rest = arith.modulo(x, y, isNonNegative);
    Value sum = arith.add(arith.multiply(quotient, y), rest);
    for (int64_t p = isNonNegative ? 0 : -13; p < 13; ++p)
      for (int64_t q = 1; q < 7; ++q) {
        SmallVector<int64_t> arguments{p, q, p, q};
        ArithEvaluator values(block, ArrayRef(arguments).take_front(block.getNumArguments()));
        ASSERT_EQ(values[quotient], llvm::divideFloorSigned(p, q)) << p << " / " << q;
        ASSERT_EQ(values[rest], llvm::mod(p, q)) << p << " mod " << q;
        ASSERT_EQ(values[sum], p);
      }
  }
};

TEST_F(ArithEmitterTest, DividesWords) {
  expectDivision(ArithEmitter::Divisions::Words, false, a, b);
  expectDivision(ArithEmitter::Divisions::Words, true, a, b);
}

TEST_F(ArithEmitterTest, DividesTiles) {
  start(RankedTensorType::get({4, 1}, builder.getI64Type()));
  expectDivision(ArithEmitter::Divisions::Tiles, false, a, b);
  expectDivision(ArithEmitter::Divisions::Tiles, true, a, b);
}

TEST_F(ArithEmitterTest, SpellsDivisionsByTheirReader) {
  using Names = std::vector<std::string>;
  ArithEmitter words(builder, loc, ArithEmitter::Divisions::Words);
  words.floorDivide(a, b, true), words.modulo(a, b, true);
  EXPECT_EQ(names(), (Names{"divui", "remui"}));
  block.clear();
  ArithEmitter tiles(builder, loc, ArithEmitter::Divisions::Tiles);
  builder.setInsertionPointToEnd(&block);
  tiles.floorDivide(a, b, true), tiles.modulo(a, b, true), tiles.modulo(a, b, false);
  EXPECT_EQ(names(), (Names{"divui", "remui", "floordivsi", "muli", "subi"}));
}

} // namespace
