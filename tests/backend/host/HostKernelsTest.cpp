// Hand-written tile kernels against plain loops, at both levels: ragged edges, every root, dtypes, gathers, guards,
// loops that carry tiles.
#include "tests/backend/host/Runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<float> randomFloats(size_t count, unsigned seed, float scale = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-scale, scale);
  std::vector<float> result(count);
  for (float &value : result)
    value = distribution(generator);
  return result;
}

/// `%NAME%` in a kernel's text becomes a number.
std::string fill(std::string text, std::initializer_list<std::pair<const char *, int64_t>> values) {
  for (auto [name, value] : values)
    for (std::string key = "%" + std::string(name) + "%"; text.find(key) != std::string::npos;)
      text.replace(text.find(key), key.size(), std::to_string(value));
  return text;
}

constexpr float guardValue = 12345.0f;

/// An output with guard elements around it.
struct Guarded {
  explicit Guarded(size_t count) : storage(count + 128, guardValue), count(count) {}
  float *data() { return storage.data() + 64; }
  float operator[](size_t i) const { return storage[64 + i]; }
  void expectIntact() const {
    for (size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(storage[i], guardValue) << "written before the output";
      ASSERT_EQ(storage[64 + count + i], guardValue) << "written " << i << " beyond the output";
    }
  }
  std::vector<float> storage;
  size_t count;
};

void expectClose(const Guarded &got, const std::vector<double> &want, double tolerance) {
  got.expectIntact();
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << "element " << i;
}

class HostKernels : public testing::TestWithParam<HostOptions> {};

//===- Pointwise --------------------------------------------------------------------------------------------------===//

TEST_P(HostKernels, PointwiseWithRaggedRuntimeSizes) {
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

TEST_P(HostKernels, TransposesThroughGathersAndScatters) {
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

TEST_P(HostKernels, CollapsedMapsWithUnalignedDivisions) {
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

//===- Rows -------------------------------------------------------------------------------------------------------===//

TEST_P(HostKernels, SoftmaxOfWholeRows) {
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

TEST_P(HostKernels, SoftmaxInStepsWithCarriedTiles) {
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

TEST_P(HostKernels, ReducesAnOuterDimension) {
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

//===- Contractions -----------------------------------------------------------------------------------------------===//

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

TEST_P(HostKernels, MatmulBiasGeluFromPanels) {
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

TEST_P(HostKernels, MatmulOfABlockSchedule) {
  Runner runner(withType(blockMatmul, "f32"), GetParam());
  ASSERT_EQ(runner.error(), "");
  for (MatmulShape s : {MatmulShape{64, 128, 32}, {100, 300, 77}, {1, 1, 1}, {65, 129, 0}}) {
    auto a = randomFloats(s.m * s.k, 11), b = randomFloats(s.k * s.n, 12);
    Guarded y(s.m * s.n);
    runner.run("f", {a.data(), b.data(), y.data()}, {s.m, s.n, s.k}, {(s.n + 127) / 128, (s.m + 63) / 64, 1});
    expectClose(y, multiply(a, b, s), 1e-5);
  }
}

TEST_P(HostKernels, MatmulOfHalves) {
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

/// A convolution, channels last, by nested loops over its window: the left side is gathered with a guard.
TEST_P(HostKernels, ConvolutionWithPadding) {
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

//===- Gathers, checks, other types -------------------------------------------------------------------------------===//

TEST_P(HostKernels, GatherChecksItsIndices) {
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

TEST_P(HostKernels, IntegersBooleansAndDoubles) {
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

TEST_P(HostKernels, CastsSaturateAndDivisionsByZeroAreZero) {
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

TEST_P(HostKernels, RefusesWhatItCannotEmit) {
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

INSTANTIATE_TEST_SUITE_P(Levels, HostKernels, testing::ValuesIn(hostLevels()),
                         [](const auto &info) { return info.param.cpu == "x86-64-v4" ? "v4" : "v3"; });

} // namespace
