// SPDX-License-Identifier: Apache-2.0
// Which tiles the next program computes again, and what decides how long.
#include "backend/host/plan/RepeatedTiles.h"

#include "tests/backend/host/ParsedKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

/// Squares of a tile of %x, whose row is `row` of the programs' numbers %p and %q.
std::string squaresAt(const std::string &row) {
  return R"(
tile.kernel @k(%x: !tile.buffer<f32, ()[s0] -> (s0, 64)>, %y: !tile.buffer<f32, ()[s0] -> (s0, 64)>, %s0: index)
    attributes {grid = affine_map<() -> (8, 4, 1)>} {
  %p = tile.program_id 0
  %q = tile.program_id 1
  %c0 = arith.constant 0 : index
  %row = )" +
         row + R"(
  %a = tile.load %x[%row, %c0] bounds ()[s0] -> (s0, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, ()[s0] -> (s0, 64)> -> tensor<1x64xf32>
  %b = arith.mulf %a, %a : tensor<1x64xf32>
  %s = tile.reduce <sum> %b dim 1 : tensor<1x64xf32> -> tensor<1x1xf32>
  %t = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x64xf32>
  tile.store %t, %y[%p, %c0] bounds ()[s0] -> (s0, 64) map (d0, d1) -> (d0, d1) : tensor<1x64xf32> -> !tile.buffer<f32, ()[s0] -> (s0, 64)>
  tile.return
})";
}

/// How many indices the squares depend on; -1 if the next program computes others.
int64_t indicesOf(const std::string &row) {
  ParsedKernel parsed(squaresAt(row));
  auto indices = indicesIfRepeated({parsed.get<arith::MulFOp>().getResult()});
  return indices ? static_cast<int64_t>(indices->size()) : -1;
}

TEST(RepeatedTiles, WhileIndicesDoNotChange) {
  EXPECT_EQ(indicesOf("arith.constant 3 : index"), 0) << "all programs compute the same";
  EXPECT_EQ(indicesOf("tile.size (d0) -> (d0 floordiv 4)(%p)"), 1);
  EXPECT_EQ(indicesOf("tile.size (d0) -> (d0 * 2)(%q)"), 1);
  EXPECT_EQ(indicesOf("tile.size (d0)[s0] -> (d0 floordiv (s0 ceildiv 258))(%p)"), 1);
}

TEST(RepeatedTiles, NotIfTheNextProgramHasAnother) {
  EXPECT_EQ(indicesOf("tile.size (d0) -> (d0 mod 4)(%p)"), -1);
  EXPECT_EQ(indicesOf("tile.size (d0) -> (d0 floordiv 1)(%p)"), -1);
  EXPECT_EQ(indicesOf("arith.addi %p, %q : index"), -1) << "not looked into";
}

TEST(RepeatedTiles, NotOfReductionsAndWithAnEndThatChanges) {
  ParsedKernel parsed(squaresAt("tile.size (d0) -> (d0 floordiv 4)(%p)"));
  EXPECT_EQ(indicesIfRepeated({parsed.get<tile::BroadcastOp>().getResult()}), std::nullopt);
  Value squares = parsed.get<arith::MulFOp>().getResult(), row = parsed.get<tile::SizeOp>().getResult();
  EXPECT_TRUE(indicesIfRepeated({squares, row}));
  EXPECT_EQ(indicesIfRepeated({squares, parsed.get<tile::ProgramIdOp>(0).getResult()}), std::nullopt);
}

TEST(RepeatedTiles, NotOfBuffersThatTheKernelWrites) {
  std::string text = squaresAt("arith.constant 3 : index");
  text.replace(text.find("tile.load %x"), 12, "tile.load %y");
  ParsedKernel parsed(text);
  EXPECT_EQ(indicesIfRepeated({parsed.get<arith::MulFOp>().getResult()}), std::nullopt);
}

TEST(RepeatedTiles, NotAtAnIndexOfALoop) {
  ParsedKernel parsed(R"(
tile.kernel @k(%x: !tile.buffer<f32, () -> (4, 64)>, %y: !tile.buffer<f32, () -> (64)>)
    attributes {grid = affine_map<() -> (8, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %a = tile.load %x[%i, %c0] bounds () -> (4, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (4, 64)> -> tensor<1x64xf32>
    %b = arith.mulf %a, %a : tensor<1x64xf32>
    tile.store %b, %y[%c0, %c0] bounds () -> (1, 64) map (d0, d1) -> (d1) : tensor<1x64xf32> -> !tile.buffer<f32, () -> (64)>
  }
  tile.return
})");
  EXPECT_EQ(indicesIfRepeated({parsed.get<arith::MulFOp>().getResult()}), std::nullopt);
}

} // namespace
