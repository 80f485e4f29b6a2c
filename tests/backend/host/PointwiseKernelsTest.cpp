// SPDX-License-Identifier: Apache-2.0
// Pointwise tile kernels against plain loops: ragged edges, transposes, maps that divide.
#include "tests/backend/host/HostKernels.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using PointwiseKernels = HostKernels;
HOST_LEVELS(PointwiseKernels);

TEST_P(PointwiseKernels, PointwiseWithRaggedRuntimeSizes) {
  Runner runner(R"(
tile.kernel @silu(%x: !tile.buffer<f32, ()[s0, s1] -> (s0, s1)>, %g: !tile.buffer<f32, ()[s0, s1] -> (s1)>,
    %y: !tile.buffer<f32, ()[s0, s1] -> (s0, s1)>, %s0: index, %s1: index)
    attributes {grid = affine_map<()[s0, s1] -> (s1 ceildiv 256, s0 ceildiv 3, 1)>} {
  %px = tile.program_id 0
  %py = tile.program_id 1
  %r = tile.size (d0) -> (d0 * 3)(%py)
  %c = tile.size (d0) -> (d0 * 256)(%px)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c] bounds ()[s0, s1] -> (s0, s1) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f32, ()[s0, s1] -> (s0, s1)> -> tensor<3x256xf32>
  %g1 = tile.load %g[%c0, %c] bounds ()[s0, s1] -> (1, s1) map (d0, d1) -> (d1) : !tile.buffer<f32, ()[s0, s1] -> (s1)> -> tensor<1x256xf32>
  %gb = tile.broadcast %g1 : tensor<1x256xf32> -> tensor<3x256xf32>
  %w = arith.mulf %v, %gb : tensor<3x256xf32>
  %n = arith.negf %w : tensor<3x256xf32>
  %e = math.exp %n : tensor<3x256xf32>
  %one = arith.constant dense<1.0> : tensor<3x256xf32>
  %d = arith.addf %e, %one : tensor<3x256xf32>
  %q = arith.divf %w, %d : tensor<3x256xf32>
  tile.store %q, %y[%r, %c] bounds ()[s0, s1] -> (s0, s1) map (d0, d1) -> (d0, d1)
      : tensor<3x256xf32> -> !tile.buffer<f32, ()[s0, s1] -> (s0, s1)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {7, 1000}, {3, 64}, {10, 257}, {2, 15}, {4, 0}}) {
    auto x = randomFloats(rows * columns, 1, 8), g = randomFloats(columns, 2);
    Guarded y(rows * columns);
    EXPECT_EQ(
        runner.run("silu", {x.data(), g.data(), y.data()}, {rows, columns}, {(columns + 255) / 256, (rows + 2) / 3, 1}),
        0u);
    std::vector<double> want;
    for (int64_t i = 0; i < rows * columns; ++i) {
      double w = double(x[i]) * g[i % columns];
      want.push_back(w / (1 + std::exp(-w)));
    }
    expectClose(y, want, 1e-6);
  }
}

/// A product and a sum are two roundings, as ONNX Runtime has them, not one.
TEST_P(PointwiseKernels, EachOperationIsRounded) {
  Runner runner(R"(
tile.kernel @scale(%x: !tile.buffer<f32, () -> (1000)>, %g: !tile.buffer<f32, () -> (1000)>, %y: !tile.buffer<f32, () -> (1000)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [256]>} {
  %p = tile.program_id 0
  %c = tile.size (d0) -> (d0 * 256)(%p)
  %v = tile.load %x[%c] bounds () -> (1000) map (d0) -> (d0) : !tile.buffer<f32, () -> (1000)> -> tensor<256xf32>
  %w = tile.load %g[%c] bounds () -> (1000) map (d0) -> (d0) : !tile.buffer<f32, () -> (1000)> -> tensor<256xf32>
  %m = arith.mulf %v, %w : tensor<256xf32>
  %s = arith.addf %m, %v : tensor<256xf32>
  tile.store %s, %y[%c] bounds () -> (1000) map (d0) -> (d0) : tensor<256xf32> -> !tile.buffer<f32, () -> (1000)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(1000, 1, 8), g = randomFloats(1000, 2);
  Guarded y(1000);
  EXPECT_EQ(runner.run("scale", {x.data(), g.data(), y.data()}, {}, {4, 1, 1}), 0u);
  for (int64_t i = 0; i < 1000; ++i) {
    volatile float product = x[i] * g[i];
    EXPECT_EQ(y.data()[i], product + x[i]) << i;
  }
}

TEST_P(PointwiseKernels, TransposesThroughGathersAndScatters) {
  // The load is strided along columns; the stored map leaves no stride of one.
  Runner runner(R"(
tile.kernel @transpose(%x: !tile.buffer<f32, () -> (37, 50)>, %y: !tile.buffer<f32, () -> (50, 37)>, %z: !tile.buffer<f32, () -> (37, 50)>)
    attributes {grid = affine_map<() -> (1, 4, 1)>} {
  %py = tile.program_id 1
  %r = tile.size (d0) -> (d0 * 16)(%py)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (50, 37) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, () -> (37, 50)> -> tensor<16x40xf32>
  tile.store %v, %y[%r, %c0] bounds () -> (50, 37) map (d0, d1) -> (d0, d1) : tensor<16x40xf32> -> !tile.buffer<f32, () -> (50, 37)>
  tile.store %v, %z[%r, %c0] bounds () -> (50, 37) map (d0, d1) -> (d1, d0) : tensor<16x40xf32> -> !tile.buffer<f32, () -> (37, 50)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(37 * 50, 3);
  Guarded y(37 * 50), z(37 * 50);
  runner.run("transpose", {x.data(), y.data(), z.data()}, {}, {1, 4, 1});
  std::vector<double> wantY(37 * 50), wantZ(x.begin(), x.end());
  for (int i = 0; i < 37; ++i)
    for (int j = 0; j < 50; ++j)
      wantY[j * 37 + i] = x[i * 50 + j];
  expectClose(y, wantY, 0);
  expectClose(z, wantZ, 0);
}

TEST_P(PointwiseKernels, CollapsedMapsWithUnalignedDivisions) {
  // One linear loop over (s0, 7, 9) of which the buffer holds (s0, 9, 7): quotients and rests differ by lane, one of
  // them by a symbol.
  Runner runner(R"(
tile.kernel @permute(%x: !tile.buffer<f32, ()[s0] -> (9, s0, 7)>, %y: !tile.buffer<f32, ()[s0] -> (s0 * 63)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> ((s0 * 63) ceildiv 128, 1, 1)>} {
  %p = tile.program_id 0
  %o = tile.size (d0) -> (d0 * 128)(%p)
  %v = tile.load %x[%o] bounds ()[s0] -> (s0 * 63) map (d0)[s0] -> (d0 floordiv (s0 * 7), (d0 floordiv 7) mod s0, d0 mod 7)
      : !tile.buffer<f32, ()[s0] -> (9, s0, 7)> -> tensor<128xf32>
  %w = tile.load %x[%o] bounds ()[s0] -> (s0 * 63) map (d0)[s0] -> ((d0 floordiv 7) mod 9, d0 floordiv 63, d0 mod 7)
      : !tile.buffer<f32, ()[s0] -> (9, s0, 7)> -> tensor<128xf32>
  %s = arith.addf %v, %w : tensor<128xf32>
  tile.store %s, %y[%o] bounds ()[s0] -> (s0 * 63) map (d0) -> (d0) : tensor<128xf32> -> !tile.buffer<f32, ()[s0] -> (s0 * 63)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  for (int64_t n : {1, 5, 64}) {
    auto x = randomFloats(n * 63, 4);
    Guarded y(n * 63);
    runner.run("permute", {x.data(), y.data()}, {n}, {(n * 63 + 127) / 128, 1, 1});
    std::vector<double> want;
    for (int64_t i = 0; i < n * 63; ++i) {
      int64_t first = i / 63, middle = i / 7 % 9, last = i % 7;
      want.push_back(double(x[i]) + x[(middle * n + first) * 7 + last]);
    }
    expectClose(y, want, 1e-6);
  }
}

} // namespace
