// SPDX-License-Identifier: Apache-2.0
// Tile kernels with contractions against plain loops: panels, block schedules, halves, windows.
#include "tests/backend/host/HostKernels.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using ContractionKernels = HostKernels;
HOST_LEVELS(ContractionKernels);

struct MatmulShape {
  int64_t m, n, k;
};

/// Packs n columns into panels of 64, zero where there is none.
std::vector<float> pack(const std::vector<float> &b, int64_t n, int64_t k) {
  std::vector<float> result((n + 63) / 64 * k * 64);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j)
      result[(j / 64 * k + i) * 64 + j % 64] = b[i * n + j];
  return result;
}

std::vector<double> multiply(const std::vector<float> &a, const std::vector<float> &b, MatmulShape s) {
  std::vector<double> c(s.m * s.n);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t k = 0; k < s.k; ++k)
      for (int64_t j = 0; j < s.n; ++j)
        c[i * s.n + j] += double(a[i * s.k + k]) * b[k * s.n + j];
  return c;
}

TEST_P(ContractionKernels, MatmulBiasGeluFromPanels) {
  const char *text = R"(
tile.kernel @f(%a: !tile.buffer<f32, () -> (%M%, %K%)>,
    %b: !tile.buffer<f32, () -> (%P%, %K%, 64)>
        {tile.packed_from = affine_map<(d0, d1, d2) -> (d1, d0 * 64 + d2)>, tile.source = tensor<%K%x%N%xf32>},
    %bias: !tile.buffer<f32, () -> (%N%)>, %y: !tile.buffer<f32, () -> (%M%, %N%)>)
    attributes {grid = affine_map<() -> (%GN%, %GM%, 1)>,
                schedule = #tile.schedule<matmul, tile = [96, 256], reduce = [%K%], registers = [6, 64], pack = 64>} {
  %px = tile.program_id 0
  %py = tile.program_id 1
  %c0 = arith.constant 0 : index
  %r = tile.size (d0) -> (d0 * 96)(%py)
  %c = tile.size (d0) -> (d0 * 256)(%px)
  %zero = arith.constant dense<0.0> : tensor<96x256xf32>
  %ta = tile.load %a[%r, %c0] bounds () -> (%M%, %K%) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (%M%, %K%)> -> tensor<96x%K%xf32>
  %tb = tile.load %b[%c0, %c] bounds () -> (%K%, %N%) map (d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)
      : !tile.buffer<f32, () -> (%P%, %K%, 64)> -> tensor<%K%x256xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<96x%K%xf32>, tensor<%K%x256xf32>, tensor<96x256xf32>
  %b1 = tile.load %bias[%c0, %c] bounds () -> (1, %N%) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (%N%)> -> tensor<1x256xf32>
  %bb = tile.broadcast %b1 : tensor<1x256xf32> -> tensor<96x256xf32>
  %s = arith.addf %d, %bb : tensor<96x256xf32>
  %rt = arith.constant dense<0.707106781> : tensor<96x256xf32>
  %half = arith.constant dense<0.5> : tensor<96x256xf32>
  %one = arith.constant dense<1.0> : tensor<96x256xf32>
  %u = arith.mulf %s, %rt : tensor<96x256xf32>
  %e = math.erf %u : tensor<96x256xf32>
  %f = arith.addf %e, %one : tensor<96x256xf32>
  %g = arith.mulf %s, %half : tensor<96x256xf32>
  %h = arith.mulf %f, %g : tensor<96x256xf32>
  tile.store %h, %y[%r, %c] bounds () -> (%M%, %N%) map (d0, d1) -> (d0, d1) : tensor<96x256xf32> -> !tile.buffer<f32, () -> (%M%, %N%)>
  tile.return
})";
  for (MatmulShape s : {MatmulShape{96, 256, 64}, {100, 300, 77}, {1, 65, 33}, {193, 64, 5}}) {
    int64_t gn = (s.n + 255) / 256, gm = (s.m + 95) / 96;
    Runner runner(fill(text, {{"M", s.m}, {"N", s.n}, {"K", s.k}, {"P", (s.n + 63) / 64}, {"GN", gn}, {"GM", gm}}),
                  GetParam());
    ASSERT_EQ(runner.error(), "");
    auto a = randomFloats(s.m * s.k, 8), b = randomFloats(s.k * s.n, 9), bias = randomFloats(s.n, 10);
    auto packed = pack(b, s.n, s.k);
    Guarded y(s.m * s.n);
    runner.run("f", {a.data(), packed.data(), bias.data(), y.data()}, {}, {gn, gm, 1});
    std::vector<double> want = multiply(a, b, s);
    for (size_t i = 0; i < want.size(); ++i) {
      double v = want[i] + bias[i % s.n];
      want[i] = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    }
    expectClose(y, want, 1e-5);
  }
}

/// A block schedule, as for a GPU: steps over k, plain right side, masks on every edge, run-time sizes.
constexpr const char *blockMatmul = R"(
tile.kernel @f(%a: !tile.buffer<%T%, ()[s0, s1, s2] -> (s0, s2)>, %b: !tile.buffer<%T%, ()[s0, s1, s2] -> (s2, s1)>,
    %y: !tile.buffer<f32, ()[s0, s1, s2] -> (s0, s1)>, %s0: index, %s1: index, %s2: index)
    attributes {grid = affine_map<()[s0, s1, s2] -> (s1 ceildiv 128, s0 ceildiv 64, 1)>} {
  %px = tile.program_id 0
  %py = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %r = tile.size (d0) -> (d0 * 64)(%py)
  %c = tile.size (d0) -> (d0 * 128)(%px)
  %n = tile.size ()[s0, s1, s2] -> (s2)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %n step %c32 iter_args(%sum = %zero) -> tensor<64x128xf32> {
    %ta = tile.load %a[%r, %k] bounds ()[s0, s1, s2] -> (s0, s2) map (d0, d1) -> (d0, d1)
        : !tile.buffer<%T%, ()[s0, s1, s2] -> (s0, s2)> -> tensor<64x32x%T%>
    %tb = tile.load %b[%k, %c] bounds ()[s0, s1, s2] -> (s2, s1) map (d0, d1) -> (d0, d1)
        : !tile.buffer<%T%, ()[s0, s1, s2] -> (s2, s1)> -> tensor<32x128x%T%>
    %next = tile.dot %ta, %tb, %sum : tensor<64x32x%T%>, tensor<32x128x%T%>, tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  tile.store %acc, %y[%r, %c] bounds ()[s0, s1, s2] -> (s0, s1) map (d0, d1) -> (d0, d1)
      : tensor<64x128xf32> -> !tile.buffer<f32, ()[s0, s1, s2] -> (s0, s1)>
  tile.return
})";

std::string withType(std::string text, const std::string &type) {
  for (size_t at; (at = text.find("%T%")) != std::string::npos;)
    text.replace(at, 3, type);
  return text;
}

TEST_P(ContractionKernels, MatmulOfABlockSchedule) {
  Runner runner(withType(blockMatmul, "f32"), GetParam());
  ASSERT_EQ(runner.error(), "");
  for (MatmulShape s : {MatmulShape{64, 128, 32}, {100, 300, 77}, {1, 1, 1}, {65, 129, 0}}) {
    auto a = randomFloats(s.m * s.k, 11), b = randomFloats(s.k * s.n, 12);
    Guarded y(s.m * s.n);
    runner.run("f", {a.data(), b.data(), y.data()}, {s.m, s.n, s.k}, {(s.n + 127) / 128, (s.m + 63) / 64, 1});
    expectClose(y, multiply(a, b, s), 1e-5);
  }
}

TEST_P(ContractionKernels, MatmulOfHalves) {
  for (std::string type : {"f16", "bf16"}) {
    Runner runner(withType(blockMatmul, type), GetParam());
    ASSERT_EQ(runner.error(), "");
    MatmulShape s{70, 130, 45};
    std::vector<float> a = randomFloats(s.m * s.k, 13), b = randomFloats(s.k * s.n, 14);
    auto halve = [&](std::vector<float> &values) {
      std::vector<uint16_t> bits;
      for (float &value : values) {
        if (type == "f16") {
          _Float16 half = static_cast<_Float16>(value);
          value = half;
          bits.push_back(std::bit_cast<uint16_t>(half));
        } else {
          bits.push_back(std::bit_cast<uint32_t>(value) >> 16);
          value = std::bit_cast<float>(uint32_t(bits.back()) << 16);
        }
      }
      return bits;
    };
    auto ha = halve(a), hb = halve(b);
    Guarded y(s.m * s.n);
    runner.run("f", {ha.data(), hb.data(), y.data()}, {s.m, s.n, s.k}, {2, 2, 1});
    expectClose(y, multiply(a, b, s), 1e-5);
  }
}

/// Three batches of 5 blocks of 8 rows. The right side is turned and packed once for a batch, wherever a call begins.
TEST_P(ContractionKernels, RightSideOfABatchIsPackedOnce) {
  const char *text = R"(
tile.kernel @f(%a: !tile.buffer<f32, () -> (3, 37, 48)>, %b: !tile.buffer<f32, () -> (3, 64, 48)>, %y: !tile.buffer<f32, () -> (3, 37, 64)>)
    attributes {grid = affine_map<() -> (15, 1, 1)>, schedule = #tile.schedule<matmul, tile = [1, 8, 64], reduce = [48], registers = [4, 64]>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %r = tile.size (d0) -> ((d0 mod 5) * 8)(%p)
  %n = tile.size (d0) -> (d0 floordiv 5)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x8x64xf32>
  %ta = tile.load %a[%n, %r, %c0] bounds () -> (3, 37, 48) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f32, () -> (3, 37, 48)> -> tensor<1x8x48xf32>
  %tb = tile.load %b[%n, %c0, %c0] bounds () -> (3, 48, 64) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f32, () -> (3, 64, 48)> -> tensor<1x48x64xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<1x8x48xf32>, tensor<1x48x64xf32>, tensor<1x8x64xf32>
  tile.store %d, %y[%n, %r, %c0] bounds () -> (3, 37, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x8x64xf32> -> !tile.buffer<f32, () -> (3, 37, 64)>
  tile.return
})";
  Runner runner(text, GetParam());
  ASSERT_EQ(runner.error(), "");
  constexpr int64_t batches = 3;
  MatmulShape s{37, 64, 48};
  std::vector<float> a, b; // of all batches, the right side turned
  std::vector<double> want;
  for (unsigned n = 0; n < batches; ++n) {
    std::vector<float> left = randomFloats(s.m * s.k, 30 + n), right = randomFloats(s.k * s.n, 40 + n);
    llvm::append_range(a, left);
    for (int64_t j = 0; j < s.n; ++j)
      for (int64_t k = 0; k < s.k; ++k)
        b.push_back(right[k * s.n + j]);
    llvm::append_range(want, multiply(left, right, s));
  }
  Guarded y(batches * s.m * s.n);
  runner.run("f", {a.data(), b.data(), y.data()}, {}, {batches * 5, 1, 1});
  expectClose(y, want, 1e-5);
}

/// A convolution, channels last, by nested loops over its window: the left side is gathered with a guard.
TEST_P(ContractionKernels, ConvolutionWithPadding) {
  Runner runner(R"(
tile.kernel @conv(%x: !tile.buffer<f32, () -> (2, 9, 10, 20)>, %w: !tile.buffer<f32, () -> (3, 3, 20, 70)>,
    %y: !tile.buffer<f32, () -> (2, 9, 10, 70)>) attributes {grid = affine_map<() -> (2, 4, 1)>} {
  %px = tile.program_id 0
  %py = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = tile.size (d0) -> (d0 * 48)(%py)
  %c = tile.size (d0) -> (d0 * 64)(%px)
  %zero = arith.constant dense<0.0> : tensor<48x64xf32>
  %acc = scf.for %i = %c0 to %c3 step %c1 iter_args(%s0 = %zero) -> tensor<48x64xf32> {
    %part = scf.for %j = %c0 to %c3 step %c1 iter_args(%s1 = %s0) -> tensor<48x64xf32> {
      %ta0 = tile.load %x[%r, %i, %j, %c0] bounds () -> (180, 3, 3, 20)
          map (d0, d1, d2, d3) -> (d0 floordiv 90, (d0 floordiv 10) mod 9 + d1 - 1, d0 mod 10 + d2 - 1, d3) guard [1, 2] fill 0.0 : f32
          : !tile.buffer<f32, () -> (2, 9, 10, 20)> -> tensor<48x1x1x20xf32>
      %ta = tile.load %x[%r, %c0] bounds () -> (180, 20) map (d0, d1) -> (d0 floordiv 90, (d0 floordiv 10) mod 9, d0 mod 10, d1)
          : !tile.buffer<f32, () -> (2, 9, 10, 20)> -> tensor<48x20xf32>
      %tb = tile.load %w[%c0, %c] bounds () -> (20, 70) map (d0, d1) -> (0, 0, d0, d1)
          : !tile.buffer<f32, () -> (3, 3, 20, 70)> -> tensor<20x64xf32>
      %next = tile.dot %ta, %tb, %s1 : tensor<48x20xf32>, tensor<20x64xf32>, tensor<48x64xf32>
      scf.yield %next : tensor<48x64xf32>
    }
    scf.yield %part : tensor<48x64xf32>
  }
  tile.store %acc, %y[%r, %c] bounds () -> (180, 70) map (d0, d1) -> (d0 floordiv 90, (d0 floordiv 10) mod 9, d0 mod 10, d1)
      : tensor<48x64xf32> -> !tile.buffer<f32, () -> (2, 9, 10, 70)>
  tile.return
})",
                GetParam());
  ASSERT_EQ(runner.error(), "");
  auto x = randomFloats(3600, 15), w = randomFloats(3 * 3 * 20 * 70, 16);
  Guarded y(180 * 70);
  runner.run("conv", {x.data(), w.data(), y.data()}, {}, {2, 4, 1});
  std::vector<float> first(w.begin(), w.begin() + 20 * 70);
  std::vector<double> want = multiply(x, first, {180, 70, 20});
  for (double &value : want)
    value *= 9;
  expectClose(y, want, 1e-5);
}

/// Windows of 3x3 over images of %H% by %W%, 16 channels last, read from where they are: rows that are inside of the
/// image, rows at its sides, and taps above and below it.
TEST_P(ContractionKernels, WindowsOfManyChannelsReadInPlace) {
  const char *text = R"(
tile.kernel @conv(%x: !tile.buffer<f32, () -> (2, %H%, %WC%)>, %w: !tile.buffer<f32, () -> (1, 3, 48, 64)>
        {tile.packed_from = affine_map<(d0, d1, d2, d3) -> (d1, d2 floordiv 16, d2 mod 16, d0 * 64 + d3)>, tile.source = tensor<3x3x16x64xf32>},
    %y: !tile.buffer<f32, () -> (%M%, 64)>) attributes {grid = affine_map<() -> (%GM%, 1, 1)>,
      schedule = #tile.schedule<matmul, tile = [48, 64], reduce = [1, 48], registers = [6, 64], pack = 64, in_place = true>} {
  %px = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = tile.size (d0) -> (d0 * 48)(%px)
  %zero = arith.constant dense<0.0> : tensor<1x48x64xf32>
  %acc = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> tensor<1x48x64xf32> {
    %ta = tile.load %x[%i, %r, %c0] bounds () -> (3, %M%, 48)
        map (d0, d1, d2) -> (d1 floordiv %HW%, (d1 floordiv %W%) mod %H% + d0 - 1, d2 + (d1 mod %W%) * 16 - 16) guard [1, 2] fill 0.0 : f32
        : !tile.buffer<f32, () -> (2, %H%, %WC%)> -> tensor<1x48x48xf32>
    %tb = tile.load %w[%i, %c0, %c0] bounds () -> (3, 48, 64) map (d0, d1, d2) -> (d2 floordiv 64, d0, d1, d2 mod 64)
        : !tile.buffer<f32, () -> (1, 3, 48, 64)> -> tensor<1x48x64xf32>
    %next = tile.dot %ta, %tb, %s : tensor<1x48x48xf32>, tensor<1x48x64xf32>, tensor<1x48x64xf32>
    scf.yield %next : tensor<1x48x64xf32>
  }
  tile.store %acc, %y[%c0, %r, %c0] bounds () -> (1, %M%, 64) map (d0, d1, d2) -> (d1, d2) : tensor<1x48x64xf32> -> !tile.buffer<f32, () -> (%M%, 64)>
  tile.return
})";
  for (auto [height, width] : {std::pair<int64_t, int64_t>{9, 20}, {5, 3}, {1, 1}, {2, 31}}) {
    int64_t m = 2 * height * width, programs = (m + 47) / 48;
    Runner runner(
        fill(text,
             {{"H", height}, {"W", width}, {"WC", width * 16}, {"HW", height * width}, {"M", m}, {"GM", programs}}),
        GetParam());
    ASSERT_EQ(runner.error(), "");
    auto x = randomFloats(m * 16, 21), w = randomFloats(3 * 48 * 64, 22);
    Guarded y(m * 64);
    runner.run("conv", {x.data(), w.data(), y.data()}, {}, {programs, 1, 1});
    std::vector<double> want(m * 64);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t tap = 0; tap < 9; ++tap) {
        int64_t image = row / (height * width), top = row / width % height + tap / 3 - 1,
                left = row % width + tap % 3 - 1;
        if (top < 0 || top >= height || left < 0 || left >= width)
          continue;
        for (int64_t c = 0; c < 16; ++c)
          for (int64_t n = 0; n < 64; ++n)
            want[row * 64 + n] +=
                double(x[((image * height + top) * width + left) * 16 + c]) * w[(tap * 16 + c) * 64 + n];
      }
    expectClose(y, want, 1e-5);
  }
}

} // namespace
