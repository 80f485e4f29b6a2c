// SPDX-License-Identifier: Apache-2.0
// Values that are computed by register tiles, and the windows that they read.
#include "backend/host/plan/RegisterBlocked.h"

#include "tests/backend/host/ParsedKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

/// A dot of a guarded load, and `rest` of its result %d.
std::string dotAnd(const std::string &rest) {
  return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (8, 16)>, %w: !tile.buffer<f32, () -> (16, 16)>, %y: !tile.buffer<f32, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %a = tile.load %x[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0 - 1, d1) guard [0] fill 0.0 : f32
      : !tile.buffer<f32, () -> (8, 16)> -> tensor<8x16xf32>
  %b = tile.load %w[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (16, 16)> -> tensor<16x16xf32>
  %d = tile.dot %a, %b, %zero : tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
)" + rest +
         R"(
  tile.return
})";
}
constexpr const char *storeOf = R"(
  tile.store %n, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf32> -> !tile.buffer<f32, () -> (8, 16)>
)";

TEST(RegisterBlocked, AnEpilogueOfElementwiseOperationsIsStoredAtOnce) {
  ParsedKernel parsed(dotAnd(std::string("  %n = arith.negf %d : tensor<8x16xf32>\n") + storeOf));
  auto dot = parsed.get<tile::DotOp>();
  EXPECT_TRUE(isRegisterBlocked(dot));
  EXPECT_FALSE(isRegisterBlocked(parsed.get<tile::LoadOp>()));
  EXPECT_FALSE(isRegisterBlocked(nullptr));
  EXPECT_TRUE(feedsOneStore(dot.getResult()));
}

TEST(RegisterBlocked, AReductionOfItIsNot) {
  ParsedKernel parsed(dotAnd(std::string(R"(
  %s = tile.reduce <sum> %d dim 1 : tensor<8x16xf32> -> tensor<8x1xf32>
  %t = tile.broadcast %s : tensor<8x1xf32> -> tensor<8x16xf32>
  %n = arith.subf %d, %t : tensor<8x16xf32>
)") + storeOf));
  EXPECT_FALSE(feedsOneStore(parsed.get<tile::DotOp>().getResult()));
}

TEST(RegisterBlocked, CollectsUpToWhatIsBuffered) {
  ParsedKernel parsed(dotAnd(std::string("  %n = arith.negf %d : tensor<8x16xf32>\n") + storeOf));
  Value dot = parsed.get<tile::DotOp>().getResult(), negated = parsed.get<arith::NegFOp>().getResult();
  Value window = parsed.get<tile::LoadOp>(0).getResult();
  auto nothing = [](Value) { return false; };
  SmallVector<Value> blocked;
  collectRegisterBlocked(negated, nothing, blocked);
  EXPECT_EQ(blocked, SmallVector<Value>({dot}));
  blocked.clear();
  collectRegisterBlocked(negated, [&](Value value) { return value == dot; }, blocked);
  EXPECT_TRUE(blocked.empty());

  SmallVector<tile::LoadOp> guarded;
  collectGuarded(dot, nothing, guarded);
  ASSERT_EQ(guarded.size(), 1u) << "the right side has no guard";
  EXPECT_EQ(guarded.front().getResult(), window);
  guarded.clear();
  collectGuarded(dot, [&](Value value) { return value == window; }, guarded);
  EXPECT_TRUE(guarded.empty());
}

} // namespace
