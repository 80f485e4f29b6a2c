// SPDX-License-Identifier: Apache-2.0
// Which loops run for one register tile alone, and which carried tiles are updated in place.
#include "backend/host/plan/CarriedTiles.h"

#include "tests/backend/host/ParsedKernel.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

std::string loopOf(const std::string &body, const std::string &yielded, int64_t end = 64) {
  return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (64, 16)>, %y: !tile.buffer<f32, () -> (1, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant )" +
         std::to_string(end) + R"( : index
  %zero = arith.constant dense<0.0> : tensor<1x16xf32>
  %s:2 = scf.for %k = %c0 to %end step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<1x16xf32>, tensor<1x16xf32>) {
    %v = tile.load %x[%k, %c0] bounds () -> (64, 16) map (d0, d1) -> (d0, d1 - 1) guard [1] fill 0.0 : f32
        : !tile.buffer<f32, () -> (64, 16)> -> tensor<1x16xf32>
)" + body +
         "    scf.yield " + yielded + R"( : tensor<1x16xf32>, tensor<1x16xf32>
  }
  tile.store %s#0, %y[%c0, %c0] bounds () -> (1, 16) map (d0, d1) -> (d0, d1) : tensor<1x16xf32> -> !tile.buffer<f32, () -> (1, 16)>
  tile.return
})";
}

TEST(CarriedTiles, SumsOfLoadsArePositionwiseAndInPlace) {
  ParsedKernel parsed(loopOf("    %n = arith.addf %a, %v : tensor<1x16xf32>\n", "%n, %b"));
  auto loop = parsed.get<scf::ForOp>();
  EXPECT_TRUE(isPositionwise(loop));
  EXPECT_TRUE(updatesInPlace(loop, 0));
  EXPECT_FALSE(isUnrolled(loop)) << "64 iterations";
  EXPECT_EQ(carriedTilesOf(loop, 0), SmallVector<unsigned>({0}));
  EXPECT_EQ(loadOfIteration(loop, 0), parsed.get<tile::LoadOp>()) << "a zero adds nothing";
}

TEST(CarriedTiles, ReductionsOfCarriedTilesAreNotPositionwise) {
  ParsedKernel parsed(loopOf(R"(
    %r = tile.reduce <sum> %a dim 1 : tensor<1x16xf32> -> tensor<1x1xf32>
    %w = tile.broadcast %r : tensor<1x1xf32> -> tensor<1x16xf32>
    %n = arith.addf %w, %v : tensor<1x16xf32>
)",
                             "%n, %b"));
  auto loop = parsed.get<scf::ForOp>();
  EXPECT_FALSE(isPositionwise(loop));
  EXPECT_FALSE(updatesInPlace(loop, 0));
  EXPECT_FALSE(loadOfIteration(loop, 0));
}

TEST(CarriedTiles, TilesThatOthersReadAreNotUpdatedInPlace) {
  ParsedKernel parsed(loopOf(R"(
    %n = arith.addf %a, %v : tensor<1x16xf32>
    %m = arith.maximumf %a, %b : tensor<1x16xf32>
)",
                             "%n, %m"));
  auto loop = parsed.get<scf::ForOp>();
  EXPECT_TRUE(isPositionwise(loop));
  EXPECT_FALSE(updatesInPlace(loop, 0)) << "the second tile reads the first";
  EXPECT_TRUE(updatesInPlace(loop, 1));
  EXPECT_EQ(carriedTilesOf(loop, 1), SmallVector<unsigned>({1, 0}));
  EXPECT_EQ(carriedTilesOf(loop, 0), SmallVector<unsigned>({0}));
}

TEST(CarriedTiles, TheFillMustBeTheIdentity) {
  ParsedKernel parsed(loopOf("    %n = arith.maximumf %a, %v : tensor<1x16xf32>\n", "%n, %b"));
  EXPECT_FALSE(loadOfIteration(parsed.get<scf::ForOp>(), 0)) << "a maximum with zero is not the other operand";
}

TEST(CarriedTiles, FewIterationsAreUnrolled) {
  ParsedKernel parsed(loopOf("    %n = arith.addf %a, %v : tensor<1x16xf32>\n", "%n, %b", 7));
  EXPECT_TRUE(isUnrolled(parsed.get<scf::ForOp>()));
}

} // namespace
