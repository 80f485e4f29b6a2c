// SPDX-License-Identifier: Apache-2.0
// How far products of f32 are from sums in f64, for each precision, on an imitated GPU.
#include "tests/backend/gpu/SimtMachine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr int rows = 32, columns = 32, depth = 1024;

constexpr const char *product = R"(
module attributes {{tile.matmul_precision = "{precision}"}} {{
  tile.kernel @k(%a: !tile.buffer<f32, () -> (32, 1024)>, %b: !tile.buffer<f32, () -> ({b})>, %y: !tile.buffer<f32, () -> (32, 32)>)
      attributes {{grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [32, 32], reduce = [32], warps = 2, stages = 2>}} {{
    %c0 = arith.constant 0 : index
    %ck = arith.constant 1024 : index
    %step = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> (tensor<32x32xf32>) {{
      %x = tile.load %a[%c0, %k] bounds () -> (32, 1024) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (32, 1024)> -> tensor<32x32xf32>
      %w = tile.load %b[%k, %c0] bounds () -> (1024, 32) map (d0, d1) -> ({map}) : !tile.buffer<f32, () -> ({b})> -> tensor<32x32xf32>
      %d = tile.dot %x, %w, %c : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
      scf.yield %d : tensor<32x32xf32>
    }}
    tile.store %acc, %y[%c0, %c0] bounds () -> (32, 32) map (d0, d1) -> (d0, d1) : tensor<32x32xf32> -> !tile.buffer<f32, () -> (32, 32)>
    tile.return
  }}
}})";

struct Matrices {
  alignas(16) float a[rows * depth], b[depth * columns], y[rows * columns];

  Matrices() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::ranges::generate(a, [&] { return normal(random); });
    std::ranges::generate(b, [&] { return normal(random); });
  }

  void multiply(std::string_view precision, bool transposed) {
    auto text =
        fmt::format(product, fmt::arg("precision", precision), fmt::arg("b", transposed ? "32, 1024" : "1024, 32"),
                    fmt::arg("map", transposed ? "d1, d0" : "d0, d1"));
    auto program = SimtProgram::compile(text, **findTarget("sm_90a"));
    ASSERT_TRUE(program.ok()) << program.status().message();
    (*program)->run("k", {reinterpret_cast<uint64_t>(a), reinterpret_cast<uint64_t>(b), reinterpret_cast<uint64_t>(y)},
                    {1, 1, 1});
  }
};

/// The largest error relative to the sum of the products' magnitudes.
double worstError(std::string_view precision, bool transposed) {
  auto matrices = std::make_unique<Matrices>();
  matrices->multiply(precision, transposed);
  double worst = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double sum = 0, magnitude = 0;
      for (int k = 0; k < depth; ++k) {
        double term = double(matrices->a[i * depth + k]) * matrices->b[transposed ? j * depth + k : k * columns + j];
        sum += term;
        magnitude += std::abs(term);
      }
      worst = std::max(worst, std::abs(matrices->y[i * columns + j] - sum) / magnitude);
    }
  return worst;
}

/// A sum of 1,024 products. tf32 rounds each operand by up to 2^-12 of it.
TEST(MatmulPrecisionTest, ErrorsAreWhatTheDocumentationSays) {
  for (bool transposed : {false, true}) {
    double ieee = worstError("ieee", transposed), three = worstError("tf32x3", transposed),
           one = worstError("tf32", transposed);
    RecordProperty(transposed ? "transposed" : "plain",
                   fmt::format("ieee {:.1e}, tf32x3 {:.1e}, tf32 {:.1e}", ieee, three, one));
    EXPECT_LT(ieee, 4e-7);
    EXPECT_LT(three, 4e-7);
    EXPECT_LT(one, 1e-4);
    EXPECT_GT(one, 1e-5) << "operands were not rounded";
    EXPECT_NE(ieee, three) << "these went through one instruction";
  }
}

/// The row of an infinity is a NaN behind three products, which the documentation says.
TEST(MatmulPrecisionTest, InfinitiesAreNaNBehindThreeProducts) {
  auto matrices = std::make_unique<Matrices>();
  matrices->a[0] = std::numeric_limits<float>::infinity();
  for (auto [precision, isNaN] : {std::pair("ieee", false), {"tf32", false}, {"tf32x3", true}}) {
    matrices->multiply(precision, false);
    EXPECT_EQ(std::isnan(matrices->y[0]), isNaN) << precision;
    EXPECT_EQ(std::isinf(matrices->y[0]), !isNaN) << precision;
    EXPECT_TRUE(std::isfinite(matrices->y[columns])) << precision; // the next row
  }
}

} // namespace
