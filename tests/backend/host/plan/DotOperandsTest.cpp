// SPDX-License-Identifier: Apache-2.0
// Which operands of a dot are read from where they are.
#include "backend/host/plan/DotOperands.h"

#include "tests/backend/host/ParsedKernel.h"
#include "tilegen/TargetDesc.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

/// A dot of 8x32 and 32x64, whose left side is `lhs` of %x and whose right side is `rhs` of %w.
std::string dotOf(const std::string &lhs, const std::string &rhs) {
  return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (8, 32)>, %h: !tile.buffer<f16, () -> (8, 32)>, %w: !tile.buffer<f32, () -> (32, 64)>,
    %t: !tile.buffer<f32, () -> (64, 32)>, %p: !tile.buffer<f32, () -> (1, 32, 64)>
      {tile.packed_from = affine_map<(d0, d1, d2) -> (d1, d0 * 64 + d2)>, tile.source = tensor<32x64xf32>},
    %y: !tile.buffer<f32, () -> (8, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
)" + lhs +
         rhs + R"(
  %d = tile.dot %a, %b, %zero : tensor<8x32xf32>, tensor<32x64xf32>, tensor<8x64xf32>
  tile.store %d, %y[%c0, %c0] bounds () -> (8, 64) map (d0, d1) -> (d0, d1) : tensor<8x64xf32> -> !tile.buffer<f32, () -> (8, 64)>
  tile.return
})";
}

constexpr const char *plainLeft = R"(
  %a = tile.load %x[%c0, %c0] bounds () -> (8, 32) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (8, 32)> -> tensor<8x32xf32>
)";
constexpr const char *window = R"(
  %a = tile.load %x[%c0, %c0] bounds () -> (8, 32) map (d0, d1) -> (d0, d1 - 1) guard [1] fill 0.0 : f32
      : !tile.buffer<f32, () -> (8, 32)> -> tensor<8x32xf32>
)";
constexpr const char *halves = R"(
  %l = tile.load %h[%c0, %c0] bounds () -> (8, 32) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (8, 32)> -> tensor<8x32xf16>
  %a = arith.extf %l : tensor<8x32xf16> to tensor<8x32xf32>
)";
constexpr const char *plainRight = R"(
  %b = tile.load %w[%c0, %c0] bounds () -> (32, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (32, 64)> -> tensor<32x64xf32>
)";
constexpr const char *transposedRight = R"(
  %b = tile.load %t[%c0, %c0] bounds () -> (32, 64) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, () -> (64, 32)> -> tensor<32x64xf32>
)";
constexpr const char *packedRight = R"(
  %b = tile.load %p[%c0, %c0] bounds () -> (32, 64) map (d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)
      : !tile.buffer<f32, () -> (1, 32, 64)> -> tensor<32x64xf32>
)";

constexpr DotSchedule copying{6, false}, inPlace{6, true};

bool isLeftDirect(const std::string &lhs, const DotSchedule &schedule) {
  ParsedKernel parsed(dotOf(lhs, plainRight));
  return isDirectOperand(parsed.get<tile::DotOp>().getLhs(), true, 8, schedule);
}
bool isRightDirect(const std::string &rhs, int64_t rows) {
  ParsedKernel parsed(dotOf(plainLeft, rhs));
  return isDirectOperand(parsed.get<tile::DotOp>().getRhs(), false, rows, copying);
}

TEST(DotOperands, TheScheduleDecidesAboutWindows) {
  EXPECT_TRUE(isLeftDirect(plainLeft, copying));
  EXPECT_TRUE(isLeftDirect(plainLeft, inPlace));
  EXPECT_FALSE(isLeftDirect(window, copying));
  EXPECT_TRUE(isLeftDirect(window, inPlace));
}

/// An image of 10 columns of 16 channels, whose windows of 3 columns are read with `map`, from column `offset` of k on.
int64_t togetherIn(const std::string &map, const std::string &offset = "%c0") {
  ParsedKernel parsed(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (8, 160)>, %y: !tile.buffer<f32, () -> (80, 48)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c24 = arith.constant 24 : index
  %c48 = arith.constant 48 : index
  scf.for %k = %c0 to %c48 step %c24 {
    %a = tile.load %x[%c0, )" +
                      offset + R"(] bounds () -> (80, 48) map )" + map + R"( guard [0, 1] fill 0.0 : f32
        : !tile.buffer<f32, () -> (8, 160)> -> tensor<80x48xf32>
    tile.store %a, %y[%c0, %c0] bounds () -> (80, 48) map (d0, d1) -> (d0, d1) : tensor<80x48xf32> -> !tile.buffer<f32, () -> (80, 48)>
  }
  tile.return
})");
  return guardedTogether(parsed.get<tile::LoadOp>());
}

TEST(DotOperands, ChannelsOfAWindowAreInsideTogether) {
  EXPECT_EQ(togetherIn("(d0, d1) -> (d0 floordiv 10, d1 + (d0 mod 10) * 16 - 16)"), 16);
  EXPECT_EQ(togetherIn("(d0, d1) -> (d0 floordiv 10, d1 + (d0 mod 10) * 16 - 12)"), 4) << "part of a pixel";
  EXPECT_EQ(togetherIn("(d0, d1) -> (d0 floordiv 10 - 1, d1)"), 16) << "the guard along the columns";
  EXPECT_EQ(togetherIn("(d0, d1) -> (d0 floordiv 10, 2 * d1 + (d0 mod 10) * 16 - 16)"), 0) << "no neighbours";
  EXPECT_EQ(togetherIn("(d0, d1) -> (d1 floordiv 16, d1 mod 16 + d0)"), 0) << "neighbours for a while only";
}

TEST(DotOperands, AnOffsetAlongTheRowMayCutWhatIsInsideTogether) {
  const char *map = "(d0, d1) -> (d0 floordiv 10, d1 + (d0 mod 10) * 16 - 16)";
  EXPECT_EQ(togetherIn(map, "%c4"), 4);
  EXPECT_EQ(togetherIn(map, "%c48"), 16);
  EXPECT_EQ(togetherIn(map, "%k"), 8) << "steps of 24";
}

/// Frames of 512 samples, 160 apart: a recording's one channel does not part them.
TEST(DotOperands, LastDimensionsOfOneElementDoNotPartNeighbours) {
  ParsedKernel parsed(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (4, 1152, 1)>, %y: !tile.buffer<f32, () -> (20, 512)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] bounds () -> (20, 512) map (d0, d1) -> (d0 floordiv 5, d1 + (d0 mod 5) * 160, 0)
      guard [0] fill 0.0 : f32 : !tile.buffer<f32, () -> (4, 1152, 1)> -> tensor<20x512xf32>
  tile.store %a, %y[%c0, %c0] bounds () -> (20, 512) map (d0, d1) -> (d0, d1) : tensor<20x512xf32> -> !tile.buffer<f32, () -> (20, 512)>
  tile.return
})");
  EXPECT_EQ(guardedTogether(parsed.get<tile::LoadOp>()), 512);
}

/// A window of the same image that a dot multiplies, of `channels` and with `fill` outside; `reader` reads it as well.
std::string windowOf(int channels, const std::string &fill, const std::string &reader = "") {
  std::string row = std::to_string(10 * channels), one = std::to_string(channels);
  return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (8, )" +
         row + R"()>, %w: !tile.buffer<f32, () -> (48, 64)>, %y: !tile.buffer<f32, () -> (80, 64)>,
    %z: !tile.buffer<f32, () -> (80, 48)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<80x64xf32>
  %a = tile.load %x[%c0, %c0] bounds () -> (80, 48) map (d0, d1) -> (d0 floordiv 10, d1 + (d0 mod 10) * )" +
         one + " - " + one + R"() guard [0, 1] fill )" + fill + R"( : f32
      : !tile.buffer<f32, () -> (8, )" +
         row + R"()> -> tensor<80x48xf32>
  %b = tile.load %w[%c0, %c0] bounds () -> (48, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (48, 64)> -> tensor<48x64xf32>
  %d = tile.dot %a, %b, %zero : tensor<80x48xf32>, tensor<48x64xf32>, tensor<80x64xf32>
  tile.store %d, %y[%c0, %c0] bounds () -> (80, 64) map (d0, d1) -> (d0, d1) : tensor<80x64xf32> -> !tile.buffer<f32, () -> (80, 64)>
)" + reader +
         R"(
  tile.return
})";
}

bool isWindowOfRunsIn(int channels, const std::string &fill, const std::string &reader = "") {
  ParsedKernel parsed(windowOf(channels, fill, reader));
  return isWindowOfRuns(parsed.get<tile::LoadOp>());
}

TEST(DotOperands, RunsOfAWindowAreChosenByTheDotsAlone) {
  EXPECT_TRUE(isWindowOfRunsIn(16, "0.0"));
  EXPECT_FALSE(isWindowOfRunsIn(4, "0.0")) << "too few together";
  EXPECT_FALSE(isWindowOfRunsIn(16, "1.0")) << "what is read outside is zeros";
  EXPECT_FALSE(isWindowOfRunsIn(16, "0.0", R"(
  tile.store %a, %z[%c0, %c0] bounds () -> (80, 48) map (d0, d1) -> (d0, d1) : tensor<80x48xf32> -> !tile.buffer<f32, () -> (80, 48)>
)")) << "a store tests its elements";
}

/// There is code for each element of a window whose neighbours do not run together.
TEST(DotOperands, ALongWindowIsReadInPlaceByRunsAlone) {
  for (auto [channels, direct] : {std::pair(16, true), std::pair(4, false)}) {
    ParsedKernel parsed(windowOf(channels, "0.0"));
    EXPECT_EQ(isDirectOperand(parsed.get<tile::DotOp>().getLhs(), true, 80, inPlace), direct)
        << channels << " channels";
  }
}

TEST(DotOperands, ConversionsAreDoneOnce) {
  EXPECT_FALSE(isLeftDirect(halves, copying));
  EXPECT_FALSE(isLeftDirect(halves, inPlace));
}

TEST(DotOperands, TheRightSideIsCopiedForManyRowsUnlessPacked) {
  EXPECT_TRUE(isRightDirect(plainRight, 12));
  EXPECT_FALSE(isRightDirect(plainRight, 13)) << "more than two register tiles read it";
  EXPECT_FALSE(isRightDirect(transposedRight, 1));
  EXPECT_TRUE(isRightDirect(packedRight, 1000));
}

TEST(DotOperands, AllDotsBelowMustBeDirect) {
  ParsedKernel direct(dotOf(plainLeft, packedRight)), copied(dotOf(window, packedRight));
  EXPECT_TRUE(hasDirectOperands(direct.kernel(), copying));
  EXPECT_FALSE(hasDirectOperands(copied.kernel(), copying));
  EXPECT_TRUE(hasDirectOperands(copied.kernel(), inPlace));
}

TEST(DotOperands, OnlyBytesArePackedByFours) {
  ParsedKernel parsed(dotOf(plainLeft, packedRight));
  EXPECT_TRUE(isPacked(parsed.get<tile::LoadOp>(1)));
  EXPECT_FALSE(isPacked(parsed.get<tile::LoadOp>(0)));
  EXPECT_FALSE(multipliesPackedBytes(parsed.get<tile::DotOp>()));
}

/// The unit's instruction is written down twice, in the table of targets and for those who emit it.
TEST(DotOperands, TheMatrixTileIsTheTargetsInstruction) {
  const TargetDesc &target = **findTarget("x86-64-v4-amx");
  ASSERT_EQ(target.matrix.size(), 1u);
  EXPECT_EQ(target.matrix[0].m, matrixTile.rows);
  EXPECT_EQ(target.matrix[0].n, matrixTile.columns);
  EXPECT_EQ(target.matrix[0].k, matrixTile.k);
}

} // namespace
