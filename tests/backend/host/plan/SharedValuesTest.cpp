// SPDX-License-Identifier: Apache-2.0
// A value is shared where the loops that need it part, and only if it is dear.
#include "backend/host/plan/SharedValues.h"

#include "tests/backend/host/ParsedKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

TEST(SharedValues, TheLastCostlyValueBeforePathsPart) {
  ParsedKernel parsed(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (1024)>, %y: !tile.buffer<f32, () -> (1024)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (1024) map (d0) -> (d0) : !tile.buffer<f32, () -> (1024)> -> tensor<1024xf32>
  %cheap = arith.negf %v : tensor<1024xf32>
  %inner = math.sqrt %cheap : tensor<1024xf32>
  %last = math.sqrt %inner : tensor<1024xf32>
  %s = tile.reduce <sum> %last dim 0 : tensor<1024xf32> -> tensor<1xf32>
  %b = tile.broadcast %s : tensor<1xf32> -> tensor<1024xf32>
  %q = arith.divf %last, %b : tensor<1024xf32>
  tile.store %q, %y[%c0] bounds () -> (1024) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (1024)>
  tile.return
})");
  SharedValues shared(parsed.block());
  EXPECT_FALSE(shared.isSharedAndCostly(parsed.get<arith::NegFOp>()));
  EXPECT_FALSE(shared.isSharedAndCostly(parsed.get<math::SqrtOp>(0))) << "both loops need what it becomes instead";
  EXPECT_TRUE(shared.isSharedAndCostly(parsed.get<math::SqrtOp>(1)));
  EXPECT_FALSE(shared.isSharedAndCostly(parsed.get<arith::DivFOp>())) << "the stores alone need it";
}

TEST(SharedValues, CheapValuesAreComputedAgain) {
  ParsedKernel parsed(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (1024)>, %y: !tile.buffer<f32, () -> (1024)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (1024) map (d0) -> (d0) : !tile.buffer<f32, () -> (1024)> -> tensor<1024xf32>
  %n = arith.negf %v : tensor<1024xf32>
  %s = tile.reduce <max> %n dim 0 : tensor<1024xf32> -> tensor<1xf32>
  %b = tile.broadcast %s : tensor<1xf32> -> tensor<1024xf32>
  %q = arith.subf %n, %b : tensor<1024xf32>
  tile.store %q, %y[%c0] bounds () -> (1024) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (1024)>
  tile.return
})");
  EXPECT_FALSE(SharedValues(parsed.block()).isSharedAndCostly(parsed.get<arith::NegFOp>()));
}

} // namespace
