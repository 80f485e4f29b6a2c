// SPDX-License-Identifier: Apache-2.0
// GELUs on imitated GPUs, however they are written: their products are folded, and their reciprocals computed in pairs.
#include "tests/backend/gpu/SimtMachine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr size_t count = 4096;

constexpr const char *kernel = R"(
module {{
  tile.kernel @k(%x: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>) attributes {{grid = affine_map<() -> (4, 1, 1)>}} {{
    %p = tile.program_id 0
    %o = tile.size (d0) -> (d0 * 1024)(%p)
    %a = tile.load %x[%o] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
    %half = arith.constant dense<0.5> : tensor<1024xf32>
    %one = arith.constant dense<1.0> : tensor<1024xf32>
    %cube = arith.constant dense<0.044715> : tensor<1024xf32>
    %root = arith.constant dense<0.797884583> : tensor<1024xf32>
    %inner = arith.constant dense<0.707106769> : tensor<1024xf32>
    %divisor = arith.constant dense<1.41421354> : tensor<1024xf32>
    %steep = arith.constant dense<1.0e6> : tensor<1024xf32>
{formula}
    tile.store %r, %y[%o] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
    tile.return
  }}
}})";

/// Tile code of statements such as "r = arith.mulf %a, %b".
std::string lines(const std::vector<std::string> &statements) {
  std::string text;
  for (const std::string &statement : statements)
    text += fmt::format("    %{} : tensor<1024xf32>\n", statement);
  return text;
}

double onePlusTanh(double x) { return 1 + std::tanh(x); }
double byTanh(double x) { return 0.5 * x * onePlusTanh(0.797884560802865356 * (x + 0.044715 * x * x * x)); }
double byErf(double x) { return 0.5 * x * (1 + std::erf(0.707106781186547524 * x)); }
double twiceByErf(double x) { return 2 * byErf(x); }
double steepByErf(double x) { return 0.5 * x * (1 + std::erf(1e6 * x)); }

/// 1 + erf(`inner`) as %g, and what follows from it.
std::vector<std::string> withErfOf(const std::string &inner, std::vector<std::string> rest) {
  rest.insert(rest.begin(), {"z = " + inner, "h = math.erf %z", "g = arith.addf %h, %one"});
  return rest;
}

struct Form {
  const char *name;
  double (*function)(double);
  std::vector<std::string> statements;
  bool isBounded = false; // else it grows with x
};

const Form forms[] = {
    {"TanhOfOnnx",
     byTanh,
     {"s = arith.mulf %a, %a", "t = arith.mulf %s, %a", "u = arith.mulf %t, %cube", "v = arith.addf %a, %u",
      "w = arith.mulf %v, %root", "h = math.tanh %w", "g = arith.addf %h, %one", "b = arith.mulf %a, %half",
      "r = arith.mulf %g, %b"}},
    {"TanhOfGpt2",
     byTanh,
     {"b = arith.mulf %half, %a", "s = arith.mulf %a, %a", "t = arith.mulf %a, %s", "u = arith.mulf %cube, %t",
      "v = arith.addf %u, %a", "w = arith.mulf %root, %v", "h = math.tanh %w", "g = arith.addf %one, %h",
      "r = arith.mulf %b, %g"}},
    {"ErfOfOnnx", byErf, withErfOf("arith.mulf %a, %inner", {"b = arith.mulf %a, %half", "r = arith.mulf %g, %b"})},
    {"ErfOfPyTorch", byErf, withErfOf("arith.mulf %inner, %a", {"b = arith.mulf %a, %g", "r = arith.mulf %b, %half"})},
    {"ErfOfBert", byErf, withErfOf("arith.divf %a, %divisor", {"b = arith.mulf %g, %a", "r = arith.mulf %half, %b"})},
    {"ErfOfSteps", steepByErf,
     withErfOf("arith.mulf %a, %steep", {"b = arith.mulf %half, %a", "r = arith.mulf %b, %g"})},
    {"ErfWithoutHalf", twiceByErf, withErfOf("arith.mulf %a, %inner", {"r = arith.mulf %g, %a"})},
    {"OnePlusTanh", onePlusTanh, {"h = math.tanh %a", "r = arith.addf %h, %one"}, /*isBounded=*/true},
};

class GeluTest : public testing::TestWithParam<std::tuple<const Form *, const char *>> {
protected:
  std::vector<float> run(std::vector<float> x) {
    auto text = fmt::format(kernel, fmt::arg("formula", lines(form().statements)));
    auto program = SimtProgram::compile(text, **findTarget(std::get<1>(GetParam())));
    std::vector<float> y(count);
    EXPECT_TRUE(program.ok()) << program.status().message();
    if (program.ok())
      EXPECT_EQ(
          (*program)->run("k", {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(y.data())}, {4, 1, 1}),
          0u);
    return y;
  }
  const Form &form() const { return *std::get<0>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Of, GeluTest,
                         testing::Combine(testing::Values(&forms[0], &forms[1], &forms[2], &forms[3], &forms[4],
                                                          &forms[5], &forms[6], &forms[7]),
                                          testing::Values("sm_90a", "gfx942")),
                         [](const auto &info) {
                           return fmt::format("{}_{}", std::get<0>(info.param)->name, std::get<1>(info.param));
                         });

/// The error of 1 + erf or 1 + tanh, relative to x where the function grows with it.
TEST_P(GeluTest, IsAsAccurateAsItsSumWithOne) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i)
    x[i] = i % 16 ? normal(random) : std::ldexp(normal(random), static_cast<int>(random() % 80) - 40);
  x[7] = 0;
  std::vector<float> y = run(x);
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    double error = std::abs(y[i] - form().function(x[i]));
    if (!form().isBounded && x[i] != 0)
      error /= std::abs(x[i]);
    if (!(error <= worst)) // a NaN, too
      worst = error;
  }
  RecordProperty("worst", fmt::format("{:.1e}", worst));
  EXPECT_LT(worst, 3e-7);
  EXPECT_GT(worst, 1e-9) << "nothing was computed in single precision";
}

/// Neighbours share a reciprocal, but not a NaN.
TEST_P(GeluTest, NaNsAndInfinitiesStayWhereTheyAre) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(count, 1.0f);
  for (size_t i = 5; i < count; i += 11)
    x[i] = i % 3 ? nan : infinity;
  std::vector<float> y = run(x);
  for (size_t i = 0; i < count; ++i) {
    if (std::isnan(x[i]))
      EXPECT_TRUE(std::isnan(y[i])) << i;
    else if (std::isinf(x[i]))
      EXPECT_EQ(y[i], form().isBounded ? 2 : infinity) << i;
    else
      EXPECT_NEAR(y[i], form().function(1), 1e-6) << i;
  }
}

} // namespace
