// SPDX-License-Identifier: Apache-2.0
// Along which axis tiles are read and written.
#include "backend/host/plan/AccessOrder.h"

#include "tests/backend/host/ParsedKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

/// A 32x32 tile, loaded through one map and stored through another.
std::string copy(const std::string &load, const std::string &store, int64_t rows = 32) {
  std::string tile = "tensor<" + std::to_string(rows) + "x32xf32>";
  return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (64, 64)>, %y: !tile.buffer<f32, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (32, 32) map (d0, d1) -> )" +
         load + " : !tile.buffer<f32, () -> (64, 64)> -> " + tile + R"(
  %n = arith.negf %v : )" +
         tile + R"(
  tile.store %n, %y[%c0, %c0] bounds () -> (32, 32) map (d0, d1) -> )" +
         store + " : " + tile + R"( -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
})";
}

TEST(AccessOrder, TransposedStoresAndLoads) {
  ParsedKernel rows(copy("(d0, d1)", "(d0, d1)")), columns(copy("(d1, d0)", "(d1, d0)"));
  EXPECT_FALSE(storesTransposed(rows.get<tile::StoreOp>(), 16));
  EXPECT_TRUE(storesTransposed(columns.get<tile::StoreOp>(), 16));
  EXPECT_FALSE(loadsTransposed(rows.get<tile::LoadOp>().getResult(), 16));
  EXPECT_TRUE(loadsTransposed(columns.get<tile::LoadOp>().getResult(), 16));
  EXPECT_TRUE(loadsTransposed(columns.get<arith::NegFOp>().getResult(), 16)) << "the load, perhaps converted";
  SmallVector<Value> loads;
  collectTransposedLoads(columns.get<tile::StoreOp>().getValue(), 16, loads);
  EXPECT_EQ(loads, SmallVector<Value>({columns.get<tile::LoadOp>().getResult()}));
}

TEST(AccessOrder, WindowsOfPlanesAreLoadedTransposed) {
  ParsedKernel taps(copy("(d1 floordiv 3, d0 + d1 mod 3)", "(d0, d1)")),
      rows(copy("(d1 floordiv 16, d0 + d1 mod 16)", "(d0, d1)"));
  EXPECT_TRUE(loadsTransposed(taps.get<tile::LoadOp>().getResult(), 16)) << "three taps fill no vector";
  EXPECT_FALSE(loadsTransposed(rows.get<tile::LoadOp>().getResult(), 16));
}

TEST(AccessOrder, TooFewRowsForABlock) {
  ParsedKernel parsed(copy("(d1, d0)", "(d1, d0)", 8));
  EXPECT_FALSE(storesTransposed(parsed.get<tile::StoreOp>(), 16));
  EXPECT_FALSE(loadsTransposed(parsed.get<tile::LoadOp>().getResult(), 16));
  EXPECT_TRUE(loadsTransposed(parsed.get<tile::LoadOp>().getResult(), 8));
}

TEST(AccessOrder, ShortRunsOfWindows) {
  ParsedKernel parsed(copy("(d1 floordiv 7, d0 + d1 mod 7)", "(d0, d1)"));
  Value value = parsed.get<arith::NegFOp>().getResult();
  EXPECT_EQ(shortRunOfRow(value, true), 7);
  EXPECT_EQ(shortRunOfRow(ParsedKernel(copy("(d0, d1)", "(d0, d1)")).get<arith::NegFOp>().getResult(), true), 0);
  EXPECT_EQ(
      shortRunOfRow(ParsedKernel(copy("(d1 floordiv 2, d1 mod 2)", "(d0, d1)")).get<arith::NegFOp>().getResult(), true),
      0)
      << "two lanes of a vector are not worth it";
}

TEST(AccessOrder, StoresInBlocksTakeVectorsThatFit) {
  ParsedKernel blocks(copy("(d0, d1)", "(d1 floordiv 16, d0 * 16 + d1 mod 16)")), whole(copy("(d0, d1)", "(d0, d1)"));
  EXPECT_EQ(widestStore(blocks.get<tile::StoreOp>(), 0, 64, 16), 16u);
  EXPECT_EQ(widestStore(whole.get<tile::StoreOp>(), 0, 64, 16), 64u);
}

TEST(AccessOrder, VectorsOfOneColumnLieAlongTheInnermostLongerAxis) {
  auto laneAxis = [](const std::string &shape) {
    ParsedKernel parsed("tile.kernel @f() attributes {grid = affine_map<() -> (1, 1, 1)>} {\n"
                        "  %z = arith.constant dense<0.0> : tensor<" +
                        shape + "xf32>\n  tile.return\n}");
    return laneAxisOf(parsed.get<arith::ConstantOp>().getResult());
  };
  EXPECT_EQ(laneAxis("3x16"), 0u);
  EXPECT_EQ(laneAxis("16x1"), 1u);
  EXPECT_EQ(laneAxis("4x16x1x1"), 2u);
  EXPECT_EQ(laneAxis("1x1"), 0u) << "a single element";
}

TEST(AccessOrder, StoresAlongARowOfTheImage) {
  ParsedKernel rows(copy("(d0, d1)", "(d1, d0)")), images(copy("(d0, d1)", "(d1 + d0 floordiv 32, d0 mod 32)"));
  tile::StoreOp column = rows.get<tile::StoreOp>(), image = images.get<tile::StoreOp>();
  EXPECT_TRUE(storesAlong(column, 1, 16));
  EXPECT_FALSE(storesAlong(column, 0, 16)) << "each of a row's elements lies elsewhere";
  EXPECT_TRUE(storesAlong(image, 1, 16));
  EXPECT_FALSE(storesAlong(image, 1, 24)) << "a vector would cross the end of the image's row";
}

TEST(AccessOrder, OneRowForManyIsGatheredOnce) {
  auto text = [](int64_t rows, const char *map) {
    return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (64, 64)>, %y: !tile.buffer<f32, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (1, 32) map (d0, d1) -> )" +
           std::string(map) + R"( : !tile.buffer<f32, () -> (64, 64)> -> tensor<1x32xf32>
  %b = tile.broadcast %v : tensor<1x32xf32> -> tensor<)" +
           std::to_string(rows) + R"(x32xf32>
  tile.return
})";
  };
  EXPECT_TRUE(isGatheredOnce(ParsedKernel(text(4, "(d1, d0)")).get<tile::LoadOp>()));
  EXPECT_FALSE(isGatheredOnce(ParsedKernel(text(2, "(d1, d0)")).get<tile::LoadOp>())) << "two rows read it";
  EXPECT_FALSE(isGatheredOnce(ParsedKernel(text(4, "(d0, d1)")).get<tile::LoadOp>())) << "it is not gathered";
}

} // namespace
