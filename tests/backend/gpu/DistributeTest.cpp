// Kernels through placing and the distributor, run on the imitated GPU, compared with plain loops.
#include "tests/backend/gpu/SimtMachine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

//===- Buffers --------------------------------------------------------------------------------------------------------===//

uint16_t toBrain(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
uint16_t encode(float x, const std::string &type) { return type == "bf16" ? toBrain(x) : std::bit_cast<uint16_t>(_Float16(x)); }
float decode(uint16_t bits, const std::string &type) {
  return type == "bf16" ? std::bit_cast<float>(uint32_t(bits) << 16) : float(std::bit_cast<_Float16>(bits));
}

/// Numbers as f32, stored as `type`, with guard bytes on both sides.
class Buffer {
public:
  Buffer(std::string type, size_t count) : type_(std::move(type)), bytes_(guard * 2 + count * size() + 64, std::byte{0xa5}), count_(count) {}
  static Buffer random(const std::string &type, size_t count, uint32_t seed) {
    Buffer buffer(type, count);
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (size_t i = 0; i < count; ++i)
      buffer.set(i, distribution(generator));
    return buffer;
  }
  size_t size() const { return type_ == "f32" ? 4 : 2; }
  std::byte *data() { return reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(bytes_.data()) + guard + 63) / 64 * 64); }
  uint64_t address() { return reinterpret_cast<uint64_t>(data()); }
  float at(size_t i) {
    return type_ == "f32" ? reinterpret_cast<float *>(data())[i] : decode(reinterpret_cast<uint16_t *>(data())[i], type_);
  }
  void set(size_t i, float x) {
    if (type_ == "f32")
      reinterpret_cast<float *>(data())[i] = x;
    else
      reinterpret_cast<uint16_t *>(data())[i] = encode(x, type_);
  }
  bool guardsIntact() {
    auto intact = [](std::byte *from, std::byte *to) { return std::all_of(from, to, [](std::byte b) { return b == std::byte{0xa5}; }); };
    return intact(bytes_.data(), data()) && intact(data() + count_ * size(), bytes_.data() + bytes_.size());
  }

private:
  static constexpr size_t guard = 64 << 10; // an injected fault stays inside
  std::string type_;
  std::vector<std::byte> bytes_;
  size_t count_;
};

const TargetDesc &target(const std::string &name) { return **findTarget(name); }

bool hasType(const std::string &type) { return type != "bf16" || __builtin_cpu_supports("avx512bf16"); }

//===- Matrix products ------------------------------------------------------------------------------------------------===//

struct Product {
  int64_t m, n, k, bm, bn, bk, warps, stages;
  std::string type = "f16";
  bool transposedB = false, prologue = false;
};

std::string productKernel(const Product &p) {
  int64_t gm = (p.m + p.bm - 1) / p.bm, gn = (p.n + p.bn - 1) / p.bn;
  std::string b = p.transposedB ? fmt::format("{}, {}", p.n, p.k) : fmt::format("{}, {}", p.k, p.n), a = fmt::format("{}, {}", p.m, p.k);
  auto buffer = [&](const std::string &type, const std::string &sizes) { return fmt::format("!tile.buffer<{}, () -> ({})>", type, sizes); };
  std::string text = fmt::format("tile.kernel @product(%a: {}, %b: {}, %bias: {}, %y: {}) attributes {{grid = affine_map<() -> ({}, {}, 1)>, "
                                 "schedule = #tile.schedule<matmul, tile = [{}, {}], reduce = [{}], warps = {}, stages = {}>}} {{\n",
                                 buffer(p.type, a), buffer(p.type, b), buffer("f32", fmt::to_string(p.n)), buffer("f32", fmt::format("{}, {}", p.m, p.n)), gn, gm, p.bm,
                                 p.bn, p.bk, p.warps, p.stages);
  std::string ta = fmt::format("tensor<{}x{}x{}>", p.bm, p.bk, p.type), tb = fmt::format("tensor<{}x{}x{}>", p.bk, p.bn, p.type), tc = fmt::format("tensor<{}x{}xf32>", p.bm, p.bn);
  text += fmt::format(R"(
    %px = tile.program_id 0
    %py = tile.program_id 1
    %n = tile.size (d0) -> (d0 * {0})(%px)
    %m = tile.size (d0) -> (d0 * {1})(%py)
    %c0 = arith.constant 0 : index
    %ck = arith.constant {2} : index
    %step = arith.constant {3} : index
    %zero = arith.constant dense<0.0> : {4}
    %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> ({4}) {{
      %x = tile.load %a[%m, %k] bounds () -> ({5}) map (d0, d1) -> (d0, d1) : {6} -> {7}
)",
                      p.bn, p.bm, p.k, p.bk, tc, a, buffer(p.type, a), ta);
  std::string lhs = "%x";
  if (p.prologue) { // twice the operand: it can't be copied as it is
    text += fmt::format("      %x2 = arith.addf %x, %x : {}\n", ta);
    lhs = "%x2";
  }
  text += fmt::format(R"(
      %w = tile.load %b[%k, %n] bounds () -> ({0}, {1}) map (d0, d1) -> ({2}) : {3} -> {4}
      %d = tile.dot {5}, %w, %c : {6}, {4}, {7}
      scf.yield %d : {7}
    }}
    %bv = tile.load %bias[%c0, %n] bounds () -> (1, {1}) map (d0, d1) -> (d1) : {8} -> tensor<1x{9}xf32>
    %bb = tile.broadcast %bv : tensor<1x{9}xf32> -> {7}
    %s = arith.addf %acc, %bb : {7}
    tile.store %s, %y[%m, %n] bounds () -> ({10}, {1}) map (d0, d1) -> (d0, d1) : {7} -> {11}
    tile.return
  }})",
                      p.k, p.n, p.transposedB ? "d1, d0" : "d0, d1", buffer(p.type, b), tb, lhs, ta, tc, buffer("f32", fmt::to_string(p.n)), p.bn, p.m,
                      buffer("f32", fmt::format("{}, {}", p.m, p.n)));
  return text;
}

/// Largest error over the scale of the sums; NaN and broken guards count as infinite.
double productError(const Product &p, const std::string &targetName, InjectedFaults faults = {}) {
  auto program = SimtProgram::compile(productKernel(p), target(targetName), faults);
  if (!program) {
    ADD_FAILURE() << program.status().message();
    return INFINITY;
  }
  Buffer a = Buffer::random(p.type, p.m * p.k, 1), b = Buffer::random(p.type, p.k * p.n, 2), bias = Buffer::random("f32", p.n, 3), y("f32", p.m * p.n);
  (*program)->run("product", {a.address(), b.address(), bias.address(), y.address()}, {(p.n + p.bn - 1) / p.bn, (p.m + p.bm - 1) / p.bm, 1});
  double worst = 0;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = bias.at(j);
      for (int64_t k = 0; k < p.k; ++k)
        sum += (p.prologue ? 2.0 : 1.0) * a.at(i * p.k + k) * b.at(p.transposedB ? j * p.k + k : k * p.n + j);
      double error = std::abs(sum - y.at(i * p.n + j)) / std::sqrt(double(p.k));
      worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
    }
  return y.guardsIntact() ? worst : INFINITY;
}

class Products : public testing::TestWithParam<std::tuple<std::string, Product>> {};

TEST_P(Products, MatchPlainLoops) {
  auto &[targetName, product] = GetParam();
  if (!hasType(product.type))
    GTEST_SKIP() << "this CPU does not round to bf16";
  EXPECT_LT(productError(product, targetName), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Gpu, Products,
    testing::Combine(testing::Values("sm_80", "gfx942"),
                     testing::Values(Product{64, 64, 64, 64, 64, 32, 4, 3}, Product{128, 128, 96, 128, 128, 32, 4, 2}, Product{60, 72, 100, 64, 64, 32, 4, 3},
                                     Product{33, 40, 72, 32, 64, 64, 2, 2}, Product{61, 67, 71, 32, 32, 32, 4, 2}, Product{64, 64, 32, 64, 64, 32, 4, 3},
                                     Product{64, 64, 64, 64, 64, 32, 4, 3, "f16", true}, Product{60, 72, 104, 64, 64, 32, 4, 4, "f16", true},
                                     Product{64, 64, 96, 64, 64, 32, 4, 3, "bf16"}, Product{64, 64, 96, 64, 64, 32, 4, 3, "f16", false, true},
                                     Product{16, 64, 96, 16, 64, 32, 1, 2}, Product{64, 64, 64, 64, 64, 16, 4, 2, "f32"}, Product{50, 61, 33, 32, 64, 16, 4, 3, "f32"},
                                     Product{64, 32, 48, 64, 32, 16, 2, 2, "f32", true}, Product{5, 64, 64, 8, 64, 32, 2, 2})),
    [](auto &info) {
      const Product &p = std::get<1>(info.param);
      return fmt::format("{}_{}_{}x{}x{}_{}x{}x{}{}{}", std::get<0>(info.param), p.type, p.m, p.n, p.k, p.bm, p.bn, p.bk, p.transposedB ? "_bt" : "", p.prologue ? "_prologue" : "");
    });

TEST(InjectedFaults, DroppedBarriersAreSeen) { EXPECT_GT(productError({64, 64, 96, 64, 64, 32, 4, 3}, "sm_80", {.dropBarriers = true}), 1e-3); }
TEST(InjectedFaults, DroppedMasksAreSeen) { EXPECT_GT(productError({60, 72, 64, 64, 64, 32, 4, 3}, "sm_80", {.dropMasks = true}), 1e-3); }

//===- Rows and elements ----------------------------------------------------------------------------------------------===//

class Targets : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Gpu, Targets, testing::Values("sm_80", "gfx942"), [](auto &info) { return info.param; });

TEST_P(Targets, SoftmaxOfRows) {
  for (auto [rows, columns, tileRows, tileColumns, warps] : {std::array<int64_t, 5>{5, 1000, 1, 1024, 4}, {13, 37, 4, 64, 4}, {3, 7, 2, 8, 1}, {2, 2048, 1, 2048, 8}}) {
    std::string type = fmt::format("tensor<{}x{}xf32>", tileRows, tileColumns), narrow = fmt::format("tensor<{}x1xf32>", tileRows);
    std::string buffer = fmt::format("!tile.buffer<f32, () -> ({}, {})>", rows, columns), bounds = fmt::format("bounds () -> ({}, {}) map (d0, d1) -> (d0, d1)", rows, columns);
    std::string text = fmt::format(R"(
      tile.kernel @softmax(%x: {2}, %y: {2}) attributes {{grid = affine_map<() -> ({5}, 1, 1)>,
          schedule = #tile.schedule<row_reduction, tile = [{4}], reduce = [{6}], warps = {7}>}} {{
        %p = tile.program_id 0
        %r = tile.size (d0) -> (d0 * {4})(%p)
        %c0 = arith.constant 0 : index
        %v = tile.load %x[%r, %c0] {3} fill 0xFF800000 : f32 : {2} -> {0}
        %m = tile.reduce <max> %v dim 1 : {0} -> {1}
        %mb = tile.broadcast %m : {1} -> {0}
        %d = arith.subf %v, %mb : {0}
        %e = math.exp %d : {0}
        %s = tile.reduce <sum> %e dim 1 : {0} -> {1}
        %sb = tile.broadcast %s : {1} -> {0}
        %q = arith.divf %e, %sb : {0}
        tile.store %q, %y[%r, %c0] {3} : {0} -> {2}
        tile.return
      }})",
                                   type, narrow, buffer, bounds, tileRows, (rows + tileRows - 1) / tileRows, tileColumns, warps);
    auto program = SimtProgram::compile(text, target(GetParam()));
    ASSERT_TRUE(program.ok()) << program.status().message();
    Buffer x = Buffer::random("f32", rows * columns, 7), y("f32", rows * columns);
    (*program)->run("softmax", {x.address(), y.address()}, {(rows + tileRows - 1) / tileRows, 1, 1});
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < columns; ++j)
        sum += std::exp(double(x.at(i * columns + j)));
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_NEAR(y.at(i * columns + j), std::exp(double(x.at(i * columns + j))) / sum, 1e-6) << i << ", " << j << " of " << columns;
    }
    EXPECT_TRUE(y.guardsIntact());
  }
}

TEST_P(Targets, ElementsOfEveryLength) {
  std::string text = R"(
    tile.kernel @scale(%x: !tile.buffer<f16, ()[s0] -> (s0)>, %y: !tile.buffer<f16, ()[s0] -> (s0)>, %s0: index)
        attributes {grid = affine_map<()[s0] -> (s0 ceildiv 512, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [512], warps = 1>} {
      %p = tile.program_id 0
      %o = tile.size (d0) -> (d0 * 512)(%p)
      %v = tile.load %x[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : !tile.buffer<f16, ()[s0] -> (s0)> -> tensor<512xf16>
      %w = arith.addf %v, %v : tensor<512xf16>
      tile.store %w, %y[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : tensor<512xf16> -> !tile.buffer<f16, ()[s0] -> (s0)>
      tile.return
    })";
  auto program = SimtProgram::compile(text, target(GetParam()));
  ASSERT_TRUE(program.ok()) << program.status().message();
  for (int64_t n : {0, 1, 7, 8, 511, 512, 513, 1021, 1024, 1025}) {
    Buffer x = Buffer::random("f16", n, n), y("f16", n);
    (*program)->run("scale", {x.address(), y.address(), static_cast<uint64_t>(n)}, {(n + 511) / 512, 1, 1});
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y.at(i), 2 * x.at(i)) << i << " of " << n;
    EXPECT_TRUE(y.guardsIntact()) << n;
  }
}

/// Transposition, padding by a guard, and coordinates.
TEST_P(Targets, PadsAndTransposes) {
  std::string text = R"(
    tile.kernel @pad(%x: !tile.buffer<f32, () -> (13, 29)>, %y: !tile.buffer<f32, () -> (33, 19)>)
        attributes {grid = affine_map<() -> (2, 2, 1)>, schedule = #tile.schedule<pointwise, tile = [32, 16], warps = 2>} {
      %px = tile.program_id 0
      %py = tile.program_id 1
      %r = tile.size (d0) -> (d0 * 32)(%py)
      %c = tile.size (d0) -> (d0 * 16)(%px)
      %v = tile.load %x[%r, %c] bounds () -> (33, 19) map (d0, d1) -> (d1 - 3, d0 - 2) guard [0, 1] fill 5.0 : f32 : !tile.buffer<f32, () -> (13, 29)> -> tensor<32x16xf32>
      %i = tile.coordinate %c dim 1 : tensor<32x16xi32>
      %f = arith.sitofp %i : tensor<32x16xi32> to tensor<32x16xf32>
      %s = arith.addf %v, %f : tensor<32x16xf32>
      tile.store %s, %y[%r, %c] bounds () -> (33, 19) map (d0, d1) -> (d0, d1) : tensor<32x16xf32> -> !tile.buffer<f32, () -> (33, 19)>
      tile.return
    })";
  auto program = SimtProgram::compile(text, target(GetParam()));
  ASSERT_TRUE(program.ok()) << program.status().message();
  Buffer x = Buffer::random("f32", 13 * 29, 5), y("f32", 33 * 19);
  (*program)->run("pad", {x.address(), y.address()}, {2, 2, 1});
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 19; ++j) {
      int row = j - 3, column = i - 2;
      float expected = (row >= 0 && row < 13 && column >= 0 && column < 29 ? x.at(row * 29 + column) : 5.0f) + j;
      ASSERT_EQ(y.at(i * 19 + j), expected) << i << ", " << j;
    }
  EXPECT_TRUE(y.guardsIntact());
}

/// Rows picked by indices from data: a bad one is reported, and replaced by a legal one.
TEST_P(Targets, GathersAndReports) {
  std::string text = R"(
    tile.kernel @gather(%ids: !tile.buffer<i64, () -> (6)>, %t: !tile.buffer<f16, () -> (10, 64)>, %y: !tile.buffer<f16, () -> (6, 64)>)
        attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [8, 64], warps = 1>} {
      %c0 = arith.constant 0 : index
      %i = tile.load %ids[%c0, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : !tile.buffer<i64, () -> (6)> -> tensor<8x1xi64>
      %s = tile.check %i[%c0, %c0] bounds () -> (6, 1) below () -> (10) site 3 : tensor<8x1xi64>
      %b = tile.broadcast %s : tensor<8x1xi64> -> tensor<8x64xi64>
      %v = tile.load %t[%c0, %c0] at (%b : tensor<8x64xi64>) bounds () -> (6, 64) map (d0, d1, d2) -> (d2, d1) : !tile.buffer<f16, () -> (10, 64)> -> tensor<8x64xf16>
      tile.store %v, %y[%c0, %c0] bounds () -> (6, 64) map (d0, d1) -> (d0, d1) : tensor<8x64xf16> -> !tile.buffer<f16, () -> (6, 64)>
      tile.return
    })";
  auto program = SimtProgram::compile(text, target(GetParam()));
  ASSERT_TRUE(program.ok()) << program.status().message();
  Buffer table = Buffer::random("f16", 640, 5), y("f16", 6 * 64);
  for (bool bad : {false, true}) {
    int64_t ids[6] = {3, 0, 9, bad ? 12 : 9, 1, 7};
    uint64_t error = (*program)->run("gather", {reinterpret_cast<uint64_t>(ids), table.address(), y.address()}, {1, 1, 1});
    EXPECT_EQ(error, bad ? (1ull << 32 | 3) : 0);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 64; ++j)
        ASSERT_EQ(y.at(i * 64 + j), table.at(std::min<int64_t>(ids[i], 9) * 64 + j)) << i << ", " << j;
  }
  EXPECT_TRUE(y.guardsIntact());
}

} // namespace
