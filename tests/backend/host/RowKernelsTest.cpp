// SPDX-License-Identifier: Apache-2.0
// Tile kernels that reduce rows against plain loops: whole rows, steps with carried tiles, an outer dimension.
#include "tests/backend/host/HostKernels.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using RowKernels = HostKernels;
HOST_LEVELS(RowKernels);

TEST_P(RowKernels, SoftmaxOfWholeRows) {
  Runner runner(R"(
tile.kernel @softmax(%x: !tile.buffer<f32, () -> (64, 1000)>, %y: !tile.buffer<f32, () -> (64, 1000)>)
    attributes {grid = affine_map<() -> (1, 64, 1)>} {
  %r = tile.program_id 1
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (64, 1000) map (d0, d1) -> (d0, d1) fill 0xFF800000 : f32
      : !tile.buffer<f32, () -> (64, 1000)> -> tensor<1x1024xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %m : tensor<1x1xf32> -> tensor<1x1024xf32>
  %d = arith.subf %v, %mb : tensor<1x1024xf32>
  %e = math.exp %d : tensor<1x1024xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x1024xf32>
  %q = arith.divf %e, %sb : tensor<1x1024xf32>
  tile.store %q, %y[%r, %c0] bounds () -> (64, 1000) map (d0, d1) -> (d0, d1) : tensor<1x1024xf32> -> !tile.buffer<f32, () -> (64, 1000)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(64000, 5, 20);
  Guarded y(64000);
  runner.run("softmax", {x.data(), y.data()}, {}, {1, 64, 1});
  std::vector<double> want(64000);
  for (int r = 0; r < 64; ++r) {
    double most = *std::max_element(&x[r * 1000], &x[r * 1000] + 1000), sum = 0;
    for (int c = 0; c < 1000; ++c)
      sum += want[r * 1000 + c] = std::exp(double(x[r * 1000 + c]) - most);
    for (int c = 0; c < 1000; ++c)
      want[r * 1000 + c] /= sum;
  }
  expectClose(y, want, 2e-7);
}

/// The maximum of scores may lose a NaN, unless a guard looks for NaNs: the sum has it.
TEST_P(RowKernels, ScoresKeepNaN) {
  for (std::string look : {"", "uno", "une"}) {
    bool isGuarded = !look.empty();
    std::string guard = isGuarded ? "\n  %no = arith.cmpf " + look + R"(, %e, %e : tensor<4x192xf32>
  %zero = arith.constant dense<0.0> : tensor<4x192xf32>
  %p = arith.select %no, %zero, %e : tensor<4x192xi1>, tensor<4x192xf32>)"
                                  : "";
    std::string text = R"(
tile.kernel @scores(%x: !tile.buffer<f32, () -> (4, 150)>, %y: !tile.buffer<f32, () -> (4, 150)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<attention, tile = [4, 4], reduce = [192]>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (4, 150) map (d0, d1) -> (d0, d1) fill 0xFF800000 : f32
      : !tile.buffer<f32, () -> (4, 150)> -> tensor<4x192xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<4x192xf32> -> tensor<4x1xf32>
  %mb = tile.broadcast %m : tensor<4x1xf32> -> tensor<4x192xf32>
  %d = arith.subf %v, %mb : tensor<4x192xf32>
  %e = math.exp %d : tensor<4x192xf32>GUARD
  %s = tile.reduce <sum> %E dim 1 : tensor<4x192xf32> -> tensor<4x1xf32>
  %sb = tile.broadcast %s : tensor<4x1xf32> -> tensor<4x192xf32>
  %q = arith.divf %E, %sb : tensor<4x192xf32>
  tile.store %q, %y[%c0, %c0] bounds () -> (4, 150) map (d0, d1) -> (d0, d1) : tensor<4x192xf32> -> !tile.buffer<f32, () -> (4, 150)>
  tile.return
})";
    text.replace(text.find("GUARD"), 5, guard);
    for (size_t at; (at = text.find("%E")) != std::string::npos;)
      text.replace(at, 2, isGuarded ? "%p" : "%e");
    Runner runner(text, GetParam());
    ASSERT_EQ(runner.error(), "");
    auto x = randomFloats(600, 6, 20);
    x[150 + 17] = NAN; // in the middle
    x[300] = NAN;      // first, with an infinity behind it
    x[301] = INFINITY;
    Guarded y(600);
    runner.run("scores", {x.data(), y.data()}, {}, {1, 1, 1});
    y.expectIntact();
    for (int i = 0; i < 600; ++i)
      // Where the maximum is a NaN, all exponentials are, a guard makes them zeros, and 0 / 0 is a NaN again.
      EXPECT_EQ(std::isnan(y[i]), i / 150 == 1 || i / 150 == 2) << "guard " << look << ", element " << i;
  }
}

TEST_P(RowKernels, SoftmaxInStepsWithCarriedTiles) {
  Runner runner(R"(
tile.kernel @softmax(%x: !tile.buffer<f32, ()[s0] -> (4, s0)>, %y: !tile.buffer<f32, ()[s0] -> (4, s0)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (1, 2, 1)>} {
  %p = tile.program_id 1
  %r = tile.size (d0) -> (d0 * 2)(%p)
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.size ()[s0] -> (s0)
  %low = arith.constant dense<0xFF800000> : tensor<2x128xf32>
  %zero = arith.constant dense<0.0> : tensor<2x128xf32>
  %mt = scf.for %k = %c0 to %n step %c128 iter_args(%a = %low) -> tensor<2x128xf32> {
    %v = tile.load %x[%r, %k] bounds ()[s0] -> (4, s0) map (d0, d1) -> (d0, d1) fill 0xFF800000 : f32
        : !tile.buffer<f32, ()[s0] -> (4, s0)> -> tensor<2x128xf32>
    %b = arith.maximumf %a, %v : tensor<2x128xf32>
    scf.yield %b : tensor<2x128xf32>
  }
  %m = tile.reduce <max> %mt dim 1 : tensor<2x128xf32> -> tensor<2x1xf32>
  %mb = tile.broadcast %m : tensor<2x1xf32> -> tensor<2x128xf32>
  %st = scf.for %k = %c0 to %n step %c128 iter_args(%a = %zero) -> tensor<2x128xf32> {
    %v = tile.load %x[%r, %k] bounds ()[s0] -> (4, s0) map (d0, d1) -> (d0, d1) fill 0xFF800000 : f32
        : !tile.buffer<f32, ()[s0] -> (4, s0)> -> tensor<2x128xf32>
    %d = arith.subf %v, %mb : tensor<2x128xf32>
    %e = math.exp %d : tensor<2x128xf32>
    %b = arith.addf %a, %e : tensor<2x128xf32>
    scf.yield %b : tensor<2x128xf32>
  }
  %s = tile.reduce <sum> %st dim 1 : tensor<2x128xf32> -> tensor<2x1xf32>
  %sb = tile.broadcast %s : tensor<2x1xf32> -> tensor<2x128xf32>
  scf.for %k = %c0 to %n step %c128 {
    %v = tile.load %x[%r, %k] bounds ()[s0] -> (4, s0) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, ()[s0] -> (4, s0)> -> tensor<2x128xf32>
    %d = arith.subf %v, %mb : tensor<2x128xf32>
    %e = math.exp %d : tensor<2x128xf32>
    %q = arith.divf %e, %sb : tensor<2x128xf32>
    tile.store %q, %y[%r, %k] bounds ()[s0] -> (4, s0) map (d0, d1) -> (d0, d1) : tensor<2x128xf32> -> !tile.buffer<f32, ()[s0] -> (4, s0)>
  }
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  for (int64_t n : {1, 128, 300, 1000}) {
    auto x = randomFloats(4 * n, 6, 20);
    Guarded y(4 * n);
    runner.run("softmax", {x.data(), y.data()}, {n}, {1, 2, 1});
    std::vector<double> want(4 * n);
    for (int64_t r = 0; r < 4; ++r) {
      double most = *std::max_element(&x[r * n], &x[r * n] + n), sum = 0;
      for (int64_t c = 0; c < n; ++c)
        sum += want[r * n + c] = std::exp(double(x[r * n + c]) - most);
      for (int64_t c = 0; c < n; ++c)
        want[r * n + c] /= sum;
    }
    expectClose(y, want, 3e-7);
  }
}

TEST_P(RowKernels, ReducesAnOuterDimension) {
  Runner runner(R"(
tile.kernel @mean(%x: !tile.buffer<f32, () -> (3, 49, 40)>, %y: !tile.buffer<f32, () -> (3, 40)>)
    attributes {grid = affine_map<() -> (3, 1, 1)>} {
  %n = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%n, %c0, %c0] bounds () -> (3, 49, 40) map (d0, d1, d2) -> (d0, d1, d2)
      : !tile.buffer<f32, () -> (3, 49, 40)> -> tensor<1x64x40xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x64x40xf32> -> tensor<1x1x40xf32>
  %k = arith.constant dense<49.0> : tensor<1x1x40xf32>
  %q = arith.divf %s, %k : tensor<1x1x40xf32>
  tile.store %q, %y[%n, %c0, %c0] bounds () -> (3, 1, 40) map (d0, d1, d2) -> (d0, d2)
      : tensor<1x1x40xf32> -> !tile.buffer<f32, () -> (3, 40)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(3 * 49 * 40, 7);
  Guarded y(120);
  runner.run("mean", {x.data(), y.data()}, {}, {3, 1, 1});
  std::vector<double> want(120);
  for (int n = 0; n < 3; ++n)
    for (int k = 0; k < 49; ++k)
      for (int c = 0; c < 40; ++c)
        want[n * 40 + c] += double(x[(n * 49 + k) * 40 + c]) / 49;
  expectClose(y, want, 1e-6);
}

/// Sums of rows, 37 of them: the last tile has 5. What is computed from them takes a number for each row, one for all,
/// and the row's own number.
TEST_P(RowKernels, ComputesOneColumnOfSums) {
  Runner runner(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (3, 37, 40)>, %b: !tile.buffer<f32, () -> (37)>, %y: !tile.buffer<f32, () -> (37)>)
    attributes {grid = affine_map<() -> (3, 1, 1)>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 16)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %r, %c0, %c0] bounds () -> (3, 37, 1, 40) map (d0, d1, d2, d3) -> (d0, d1, d3)
      : !tile.buffer<f32, () -> (3, 37, 40)> -> tensor<3x16x1x40xf32>
  %rows = tile.reduce <sum> %v dim 3 : tensor<3x16x1x40xf32> -> tensor<3x16x1x1xf32>
  %s = tile.reduce <sum> %rows dim 0 : tensor<3x16x1x1xf32> -> tensor<1x16x1x1xf32>
  %bias = tile.load %b[%c0, %r, %c0, %c0] bounds () -> (1, 37, 1, 1) map (d0, d1, d2, d3) -> (d1)
      : !tile.buffer<f32, () -> (37)> -> tensor<1x16x1x1xf32>
  %first = tile.load %b[%c0, %c0, %c0, %c0] bounds () -> (1, 1, 1, 1) map (d0, d1, d2, d3) -> (d1)
      : !tile.buffer<f32, () -> (37)> -> tensor<1x1x1x1xf32>
  %all = tile.broadcast %first : tensor<1x1x1x1xf32> -> tensor<1x16x1x1xf32>
  %i = tile.coordinate %r dim 1 : tensor<1x16x1x1xi32>
  %n = arith.sitofp %i : tensor<1x16x1x1xi32> to tensor<1x16x1x1xf32>
  %0 = arith.addf %s, %bias : tensor<1x16x1x1xf32>
  %1 = arith.mulf %0, %all : tensor<1x16x1x1xf32>
  %2 = math.exp %1 : tensor<1x16x1x1xf32>
  %3 = arith.addf %2, %n : tensor<1x16x1x1xf32>
  tile.store %3, %y[%c0, %r, %c0, %c0] bounds () -> (1, 37, 1, 1) map (d0, d1, d2, d3) -> (d1)
      : tensor<1x16x1x1xf32> -> !tile.buffer<f32, () -> (37)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(3 * 37 * 40, 9, 0.25), b = randomFloats(37, 10);
  Guarded y(37);
  runner.run("f", {x.data(), b.data(), y.data()}, {}, {3, 1, 1});
  std::vector<double> want(37);
  for (int r = 0; r < 37; ++r) {
    double sum = b[r];
    for (int i = 0; i < 3 * 40; ++i)
      sum += x[(i / 40 * 37 + r) * 40 + i % 40];
    want[r] = std::exp(sum * b[0]) + r;
  }
  expectClose(y, want, 1e-5);
}

/// Windows of 19 elements over rows of 30, every third: some leave the row on one side, and those of the first ten lie
/// above the buffer. Elements outside count as 0.5.
TEST_P(RowKernels, SumsWindowsInsideAndAcrossTheBorder) {
  Runner runner(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (2, 30)>, %y: !tile.buffer<f32, () -> (30)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 16)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (30, 19) map (d0, d1) -> (d0 floordiv 10 - 1, (d0 mod 10) * 3 + d1 - 4) guard [0, 1] fill 0.5 : f32
      : !tile.buffer<f32, () -> (2, 30)> -> tensor<16x19xf32>
  %two = arith.constant dense<2.0> : tensor<16x19xf32>
  %w = arith.mulf %v, %two : tensor<16x19xf32>
  %s = tile.reduce <sum> %w dim 1 : tensor<16x19xf32> -> tensor<16x1xf32>
  tile.store %s, %y[%r, %c0] bounds () -> (30, 1) map (d0, d1) -> (d0) : tensor<16x1xf32> -> !tile.buffer<f32, () -> (30)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(60, 11);
  Guarded y(30);
  runner.run("f", {x.data(), y.data()}, {}, {2, 1, 1});
  std::vector<double> want(30);
  for (int r = 0; r < 30; ++r)
    for (int i = 0; i < 19; ++i) {
      int image = r / 10 - 1, place = r % 10 * 3 + i - 4;
      want[r] += 2 * (image < 0 || place < 0 || place >= 30 ? 0.5 : x[image * 30 + place]);
    }
  expectClose(y, want, 1e-5);
}

/// Sums over the two innermost axes one after the other: the partial sums of one result lie together, not those of
/// neighbours.
TEST_P(RowKernels, SumsInnerAxesOneByOne) {
  Runner runner(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (40, 7, 5)>, %y: !tile.buffer<f32, () -> (40)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0, %c0] bounds () -> (40, 7, 5) map (d0, d1, d2) -> (d0, d1, d2)
      : !tile.buffer<f32, () -> (40, 7, 5)> -> tensor<40x7x5xf32>
  %r = tile.reduce <sum> %v dim 2 : tensor<40x7x5xf32> -> tensor<40x7x1xf32>
  %s = tile.reduce <sum> %r dim 1 : tensor<40x7x1xf32> -> tensor<40x1x1xf32>
  %n = arith.negf %s : tensor<40x1x1xf32>
  tile.store %n, %y[%c0, %c0, %c0] bounds () -> (40, 1, 1) map (d0, d1, d2) -> (d0) : tensor<40x1x1xf32> -> !tile.buffer<f32, () -> (40)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(40 * 35, 12);
  Guarded y(40);
  runner.run("f", {x.data(), y.data()}, {}, {1, 1, 1});
  std::vector<double> want(40);
  for (int i = 0; i < 40 * 35; ++i)
    want[i / 35] -= x[i];
  expectClose(y, want, 1e-5);
}

} // namespace
