// SPDX-License-Identifier: Apache-2.0
// Gathers with checked indices, integers, booleans, casts, and what is refused.
#include "tests/backend/host/HostKernels.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using TypeKernels = HostKernels;
HOST_LEVELS(TypeKernels);

TEST_P(TypeKernels, GatherChecksItsIndices) {
  Runner runner(R"(
tile.kernel @embed(%ids: !tile.buffer<i64, ()[s0] -> (s0)>, %t: !tile.buffer<f32, ()[s0] -> (10, 33)>,
    %y: !tile.buffer<f32, ()[s0] -> (s0, 33)>, %s0: index) attributes {grid = affine_map<()[s0] -> (1, s0, 1)>} {
  %r = tile.program_id 1
  %c0 = arith.constant 0 : index
  %i = tile.load %ids[%r, %c0] bounds ()[s0] -> (s0, 33) map (d0, d1) -> (d0) : !tile.buffer<i64, ()[s0] -> (s0)> -> tensor<1x33xi64>
  %safe = tile.check %i[%r, %c0] bounds ()[s0] -> (s0, 33) below () -> (10) site 7 : tensor<1x33xi64>
  %v = tile.load %t[%r, %c0] at (%safe : tensor<1x33xi64>) bounds ()[s0] -> (s0, 33) map (d0, d1, d2) -> (d2, d1)
      : !tile.buffer<f32, ()[s0] -> (10, 33)> -> tensor<1x33xf32>
  tile.store %v, %y[%r, %c0] bounds ()[s0] -> (s0, 33) map (d0, d1) -> (d0, d1) : tensor<1x33xf32> -> !tile.buffer<f32, ()[s0] -> (s0, 33)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto table = randomFloats(330, 17);
  std::vector<int64_t> ids = {3, 0, 9, 9, 5};
  Guarded y(5 * 33);
  EXPECT_EQ(runner.run("embed", {ids.data(), table.data(), y.data()}, {5}, {1, 5, 1}), 0u);
  std::vector<double> want;
  for (int64_t id : ids)
    want.insert(want.end(), &table[id * 33], &table[id * 33] + 33);
  expectClose(y, want, 0);
  ids[3] = 10;
  EXPECT_EQ(runner.run("embed", {ids.data(), table.data(), y.data()}, {5}, {1, 5, 1}), (1ull << 32) | 7);
  ids[3] = -1;
  EXPECT_EQ(runner.run("embed", {ids.data(), table.data(), y.data()}, {5}, {1, 5, 1}), (1ull << 32) | 7);
  y.expectIntact();
}

TEST_P(TypeKernels, IntegersBooleansAndDoubles) {
  Runner runner(R"(
tile.kernel @mixed(%x: !tile.buffer<i64, () -> (77)>, %m: !tile.buffer<i8, () -> (77)>, %y: !tile.buffer<f64, () -> (77)>,
    %b: !tile.buffer<i8, () -> (77)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (77) map (d0) -> (d0) : !tile.buffer<i64, () -> (77)> -> tensor<77xi64>
  %mask = tile.load %m[%c0] bounds () -> (77) map (d0) -> (d0) : !tile.buffer<i8, () -> (77)> -> tensor<77xi1>
  %i = tile.coordinate %c0 dim 0 : tensor<77xi64>
  %seven = arith.constant dense<7> : tensor<77xi64>
  %q = arith.floordivsi %v, %seven : tensor<77xi64>
  %d = arith.divsi %v, %i : tensor<77xi64>
  %s = arith.addi %q, %d : tensor<77xi64>
  %f = arith.sitofp %s : tensor<77xi64> to tensor<77xf64>
  %e = math.exp %f : tensor<77xf64>
  %t = math.tanh %e : tensor<77xf64>
  %r = arith.select %mask, %t, %f : tensor<77xi1>, tensor<77xf64>
  %p = arith.cmpi slt, %v, %i : tensor<77xi64>
  tile.store %r, %y[%c0] bounds () -> (77) map (d0) -> (d0) : tensor<77xf64> -> !tile.buffer<f64, () -> (77)>
  tile.store %p, %b[%c0] bounds () -> (77) map (d0) -> (d0) : tensor<77xi1> -> !tile.buffer<i8, () -> (77)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  std::vector<int64_t> x(77);
  std::vector<int8_t> mask(77), less(77 + 1, 42);
  std::vector<double> y(77);
  for (int i = 0; i < 77; ++i)
    x[i] = i * 5 - 190, mask[i] = i % 3 == 0;
  runner.run("mixed", {x.data(), mask.data(), y.data(), less.data()}, {}, {1, 1, 1});
  for (int i = 0; i < 77; ++i) {
    double f = std::floor(x[i] / 7.0) + (i ? x[i] / i : 0);
    EXPECT_NEAR(y[i], mask[i] ? std::tanh(std::exp(f)) : f, 1e-14) << i;
    EXPECT_EQ(less[i], x[i] < i) << i;
  }
  EXPECT_EQ(less[77], 42);
}

/// Rows of 17 halves that are computed one image after the other: the last vector of a row has one lane, and what is
/// stored of it must leave the next row's first element alone.
TEST_P(TypeKernels, StoresOneLaneOfATransposedRow) {
  Runner runner(R"(
tile.kernel @transpose(%x: !tile.buffer<i16, ()[s0] -> (2, 17, s0)>, %y: !tile.buffer<i16, ()[s0] -> (2, s0, 17)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 8, 1, 1)>} {
  %px = tile.program_id 0
  %c0 = arith.constant 0 : index
  %r = tile.size (d0) -> (d0 * 8)(%px)
  %v = tile.load %x[%c0, %r, %c0] bounds ()[s0] -> (2, s0, 17) map (d0, d1, d2) -> (d0, d2, d1)
      : !tile.buffer<i16, ()[s0] -> (2, 17, s0)> -> tensor<2x8x17xi16>
  tile.store %v, %y[%c0, %r, %c0] bounds ()[s0] -> (2, s0, 17) map (d0, d1, d2) -> (d0, d1, d2)
      : tensor<2x8x17xi16> -> !tile.buffer<i16, ()[s0] -> (2, s0, 17)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  constexpr int64_t rows = 20;
  std::vector<int16_t> x(2 * 17 * rows), y(x.size() + 16, 7777), want(y);
  std::iota(x.begin(), x.end(), int16_t(1));
  for (int64_t image = 0; image < 2; ++image)
    for (int64_t c = 0; c < 17; ++c)
      for (int64_t row = 0; row < rows; ++row)
        want[(image * rows + row) * 17 + c] = x[(image * 17 + c) * rows + row];
  runner.run("transpose", {x.data(), y.data()}, {rows}, {3, 1, 1});
  EXPECT_EQ(y, want);
}

TEST_P(TypeKernels, CastsSaturateAndDivisionsByZeroAreZero) {
  Runner runner(R"(
tile.kernel @edges(%x: !tile.buffer<f32, () -> (8)>, %i: !tile.buffer<i32, () -> (8)>, %b: !tile.buffer<i8, () -> (8)>,
    %q: !tile.buffer<i32, () -> (8)>, %r: !tile.buffer<i32, () -> (8)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  %w = arith.fptosi %v : tensor<8xf32> to tensor<8xi32>
  %n = arith.fptoui %v : tensor<8xf32> to tensor<8xi8>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %k = tile.coordinate %c0 dim 0 : tensor<8xi32>
  %two = arith.constant dense<2> : tensor<8xi32>
  %d = arith.subi %k, %two : tensor<8xi32>
  %qq = arith.divsi %w, %d : tensor<8xi32>
  %rr = arith.remsi %w, %d : tensor<8xi32>
  tile.store %w, %i[%c0] bounds () -> (8) map (d0) -> (d0) : tensor<8xi32> -> !tile.buffer<i32, () -> (8)>
  tile.store %n, %b[%c0] bounds () -> (8) map (d0) -> (d0) : tensor<8xi8> -> !tile.buffer<i8, () -> (8)>
  tile.store %qq, %q[%c0] bounds () -> (8) map (d0) -> (d0) : tensor<8xi32> -> !tile.buffer<i32, () -> (8)>
  tile.store %rr, %r[%c0] bounds () -> (8) map (d0) -> (d0) : tensor<8xi32> -> !tile.buffer<i32, () -> (8)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  std::vector<float> x = {NAN, -3e9f, 7.9f, 3e9f, -1.5f, 300, -INFINITY, 200};
  std::vector<int32_t> i(8), q(8), r(8);
  std::vector<uint8_t> b(8);
  runner.run("edges", {x.data(), i.data(), b.data(), q.data(), r.data()}, {}, {1, 1, 1});
  EXPECT_EQ(i, (std::vector<int32_t>{0, INT32_MIN, 7, INT32_MAX, -1, 300, INT32_MIN, 200}));
  EXPECT_EQ(b, (std::vector<uint8_t>{0, 0, 7, 255, 0, 255, 0, 200}));
  EXPECT_EQ(
      q, (std::vector<int32_t>{0, INT32_MIN, 0, INT32_MAX, 0, 100, INT32_MIN / 4, 40})); // divisors -2, -1, 0, 1, ...
  EXPECT_EQ(r, (std::vector<int32_t>{0, 0, 0, 0, -1, 0, 0, 0}));
}

TEST_P(TypeKernels, RefusesWhatItCannotEmit) {
  Runner runner(R"(
tile.kernel @f(%y: !tile.buffer<f32, () -> (2)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  tile.store %v, %y[%c0] bounds () -> (2) map (d0) -> (d0) : tensor<2xf32> -> !tile.buffer<f32, () -> (2)>
  tile.return
})",
                GetParam());
  EXPECT_EQ(runner.error(),
            "kernel 'f': the host backend cannot emit 'arith.constant': only constants of one value are tiles");
}

TEST_P(TypeKernels, RefusesSlicesOfBuffers) {
  Runner runner(R"(
tile.kernel @f(%y: !tile.buffer<f32, () -> (2, 2)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %s = tile.buffer_slice %y[%c0] : !tile.buffer<f32, () -> (2, 2)> -> !tile.buffer<f32, () -> (2)>
  %v = tile.load %s[%c0] bounds () -> (2) map (d0) -> (d0) : !tile.buffer<f32, () -> (2)> -> tensor<2xf32>
  tile.store %v, %s[%c0] bounds () -> (2) map (d0) -> (d0) : tensor<2xf32> -> !tile.buffer<f32, () -> (2)>
  tile.return
})",
                GetParam());
  EXPECT_EQ(runner.error(), "kernel 'f': the host backend cannot emit 'tile.buffer_slice': only arguments are buffers");
}

} // namespace
