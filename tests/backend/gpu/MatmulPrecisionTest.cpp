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

constexpr int rows = 64, columns = 64, depth = 1024;

constexpr const char *product = R"(
module attributes {{tile.matmul_precision = "{precision}"}} {{
  tile.kernel @k(%a: !tile.buffer<f32, () -> (64, 1024)>, %b: !tile.buffer<f32, () -> ({b})>, %y: !tile.buffer<f32, () -> (64, 64)>)
      attributes {{grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 2{groups}>}} {{
    %c0 = arith.constant 0 : index
    %ck = arith.constant 1024 : index
    %step = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> (tensor<64x64xf32>) {{
      %x = tile.load %a[%c0, %k] bounds () -> (64, 1024) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 1024)> -> tensor<64x32xf32>
      %w = tile.load %b[%k, %c0] bounds () -> (1024, 64) map (d0, d1) -> ({map}) : !tile.buffer<f32, () -> ({b})> -> tensor<32x64xf32>
      %d = tile.dot %x, %w, %c : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }}
    tile.store %acc, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
    tile.return
  }}
}})";

/// Who splits singles, or rounds them: each warp its fragments, or a role's groups of warps, whose instructions read
/// shared memory; there the copy engine rounds them where both sides run along k.
enum class Form { Warps, Roles };

struct Matrices {
  alignas(16) float a[rows * depth], b[depth * columns], y[rows * columns];

  Matrices() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::ranges::generate(a, [&] { return normal(random); });
    std::ranges::generate(b, [&] { return normal(random); });
  }

  void multiply(std::string_view precision, Form form, bool transposed) {
    auto text =
        fmt::format(product, fmt::arg("precision", precision), fmt::arg("b", transposed ? "64, 1024" : "1024, 64"),
                    fmt::arg("map", transposed ? "d1, d0" : "d0, d1"),
                    fmt::arg("groups", form == Form::Roles ? ", groups = 1" : ""));
    auto program = SimtProgram::compile(text, **findTarget("sm_90a"));
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ((*program)->hasRoles(), form == Form::Roles && precision != "ieee");
    (*program)->run("k", {reinterpret_cast<uint64_t>(a), reinterpret_cast<uint64_t>(b), reinterpret_cast<uint64_t>(y)},
                    {1, 1, 1});
  }
};

/// The largest error relative to the sum of the products' magnitudes.
double worstError(std::string_view precision, Form form, bool transposed) {
  auto matrices = std::make_unique<Matrices>();
  matrices->multiply(precision, form, transposed);
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

class MatmulPrecisionTest : public testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(On, MatmulPrecisionTest, testing::Values(Form::Warps, Form::Roles),
                         [](const auto &info) { return info.param == Form::Warps ? "Warps" : "Roles"; });

/// A sum of 1,024 products. tf32 rounds each operand by up to 2^-12 of it.
TEST_P(MatmulPrecisionTest, ErrorsAreWhatTheDocumentationSays) {
  for (bool transposed : {false, true}) {
    double ieee = worstError("ieee", GetParam(), transposed), three = worstError("tf32x3", GetParam(), transposed),
           one = worstError("tf32", GetParam(), transposed);
    RecordProperty(transposed ? "transposed" : "plain",
                   fmt::format("ieee {:.1e}, tf32x3 {:.1e}, tf32 {:.1e}", ieee, three, one));
    EXPECT_LT(ieee, 4e-7);
    EXPECT_LT(three, 4e-7);
    EXPECT_LT(one, 1e-4);
    EXPECT_GT(one, 1e-5) << "operands were not rounded";
    EXPECT_NE(ieee, three) << "these went through one instruction";
  }
}

/// Of sums whose terms have one sign, nothing averages out: neither what units truncate nor what nobody multiplies.
TEST_P(MatmulPrecisionTest, ErrorsOfOneSignStaySmall) {
  auto matrices = std::make_unique<Matrices>();
  for (float *operand : {matrices->a, matrices->b})
    std::transform(operand, operand + rows * depth, operand, [](float x) { return std::abs(x); });
  matrices->multiply("tf32x3", GetParam(), false);
  double total = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += double(matrices->a[i * depth + k]) * matrices->b[k * columns + j];
      total += (matrices->y[i * columns + j] - sum) / sum;
    }
  RecordProperty("mean", fmt::format("{:.1e}", total / (rows * columns)));
  EXPECT_LT(std::abs(total / (rows * columns)), 3e-7);
}

/// The row of an infinity is a NaN behind three products, which the documentation says.
TEST_P(MatmulPrecisionTest, InfinitiesAreNaNBehindThreeProducts) {
  auto matrices = std::make_unique<Matrices>();
  matrices->a[0] = std::numeric_limits<float>::infinity();
  for (bool transposed : {false, true})
    for (auto [precision, isNaN] : {std::pair("ieee", false), {"tf32", false}, {"tf32x3", true}}) {
      matrices->multiply(precision, GetParam(), transposed);
      EXPECT_EQ(std::isnan(matrices->y[0]), isNaN) << precision;
      EXPECT_EQ(std::isinf(matrices->y[0]), !isNaN) << precision;
      EXPECT_TRUE(std::isfinite(matrices->y[columns])) << precision; // the next row
    }
}

/// Of either side, whatever its bits are.
TEST_P(MatmulPrecisionTest, NaNsStay) {
  for (uint32_t bits : {0x7fc00000u, 0x7fffffffu, 0xffffffffu, 0x7f800001u})
    for (bool transposed : {false, true})
      for (bool isLeft : {true, false})
        for (std::string_view precision : {"tf32x3", "tf32"}) {
          auto matrices = std::make_unique<Matrices>();
          (isLeft ? matrices->a : matrices->b)[0] = std::bit_cast<float>(bits);
          matrices->multiply(precision, GetParam(), transposed);
          EXPECT_TRUE(std::isnan(matrices->y[0])) << std::hex << bits << (isLeft ? " left, " : " right, ") << precision;
        }
}

} // namespace
