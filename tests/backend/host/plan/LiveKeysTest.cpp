// SPDX-License-Identifier: Apache-2.0
// Which tiles of an attention end with the last key, and along which axis.
#include "backend/host/plan/LiveKeys.h"

#include "tests/backend/host/ParsedKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

/// One step of 32 keys of `count`, whose weights are squares; what `reader` does with the weights besides.
std::string stepOf(const std::string &root, const std::string &reader) {
  return R"(
tile.kernel @k(%q: !tile.buffer<f32, () -> (8, 16)>, %k: !tile.buffer<f32, () -> (20, 16)>, %v: !tile.buffer<f32, () -> (20, 16)>,
               %y: !tile.buffer<f32, () -> (8, 16)>, %z: !tile.buffer<f32, () -> (8, 32)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<)" +
         root + R"(, tile = [8, 16], reduce = [32, 16]>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %none = arith.constant dense<0.0> : tensor<8x16xf32>
  %a = tile.load %q[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (8, 16)> -> tensor<8x16xf32>
  %b = tile.load %k[%c0, %c0] bounds () -> (16, 20) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, () -> (20, 16)> -> tensor<16x32xf32>
  %s = tile.dot %a, %b, %zero : tensor<8x16xf32>, tensor<16x32xf32>, tensor<8x32xf32>
  %o = tile.size (d0) -> (d0 - 20)(%c0)
  %n = tile.coordinate %o dim 1 : tensor<1x32xi32>
  %end = arith.constant dense<0> : tensor<1x32xi32>
  %live = arith.cmpi slt, %n, %end : tensor<1x32xi32>
  %lives = tile.broadcast %live : tensor<1x32xi1> -> tensor<8x32xi1>
  %never = arith.constant dense<0xFF800000> : tensor<8x32xf32>
  %x = arith.select %lives, %s, %never : tensor<8x32xi1>, tensor<8x32xf32>
  %w = arith.mulf %x, %x : tensor<8x32xf32>
  %t = tile.reduce <sum> %w dim 1 : tensor<8x32xf32> -> tensor<8x1xf32>
  %e = tile.load %v[%c0, %c0] bounds () -> (20, 16) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (20, 16)> -> tensor<32x16xf32>
  %m = tile.dot %w, %e, %none : tensor<8x32xf32>, tensor<32x16xf32>, tensor<8x16xf32>
  tile.store %m, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf32> -> !tile.buffer<f32, () -> (8, 16)>
)" + reader +
         R"(
  tile.return
})";
}

TEST(LiveKeys, ScoresWeightsAndBothPanelsEnd) {
  ParsedKernel parsed(stepOf("attention", ""));
  LiveKeys keys(parsed.kernel());
  EXPECT_EQ(keys.axisOf(parsed.get<tile::DotOp>(0).getResult()), 0u);
  EXPECT_EQ(keys.axisOf(parsed.get<tile::LoadOp>(1).getResult()), 0u) << "the keys";
  EXPECT_EQ(keys.axisOf(parsed.get<arith::MulFOp>().getResult()), 0u);
  EXPECT_EQ(keys.axisOf(parsed.get<tile::LoadOp>(2).getResult()), 1u) << "the values";
  EXPECT_EQ(keys.axisOf(parsed.get<tile::LoadOp>(0).getResult()), std::nullopt) << "the queries";
  EXPECT_EQ(keys.axisOf(parsed.get<tile::DotOp>(1).getResult()), std::nullopt);
  EXPECT_TRUE(keys.isMask(parsed.get<arith::SelectOp>()));
  EXPECT_EQ(keys.firstLessCount(), parsed.get<tile::SizeOp>().getResult());
}

TEST(LiveKeys, NothingEndsInOtherRoots) {
  ParsedKernel parsed(stepOf("row_reduction", ""));
  LiveKeys keys(parsed.kernel());
  EXPECT_EQ(keys.axisOf(parsed.get<tile::DotOp>(0).getResult()), std::nullopt);
  EXPECT_FALSE(keys.isMask(parsed.get<arith::SelectOp>()));
}

TEST(LiveKeys, NothingEndsWhereWeightsAreStored) {
  ParsedKernel parsed(stepOf("attention", R"(
  tile.store %w, %z[%c0, %c0] bounds () -> (8, 32) map (d0, d1) -> (d0, d1) : tensor<8x32xf32> -> !tile.buffer<f32, () -> (8, 32)>)"));
  LiveKeys keys(parsed.kernel());
  EXPECT_EQ(keys.axisOf(parsed.get<arith::MulFOp>().getResult()), std::nullopt);
  EXPECT_FALSE(keys.isMask(parsed.get<arith::SelectOp>()));
}

} // namespace
