// SPDX-License-Identifier: Apache-2.0
// The worst errors that backend/math/MathFunctions.h states, against libm in a wider type.
#include "tests/backend/host/Runner.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Wide = long double;

struct Function {
  const char *operation;
  Wide (*unary)(Wide);
  Wide (*binary)(Wide, Wide);
  double least, most; // arguments; drawn evenly, and by exponent
  double ulps32, ulps64;
  double absolute32; // an error that is allowed where results are close to zero
};

Wide logarithm2(Wide x) { return std::log2(x); }

const Function functions[] = {
    {"math.exp", std::exp, nullptr, -110, 95, 1.2, 3, 2e-45},
    {"math.exp2", std::exp2, nullptr, -160, 135, 1.2, 3, 0},
    {"math.expm1", std::expm1, nullptr, -110, 95, 2.5, 4, 0},
    {"math.log", std::log, nullptr, 0, 1e38, 1.5, 3, 0},
    {"math.log2", logarithm2, nullptr, 0, 1e38, 1.5, 4, 0},
    {"math.log10", std::log10, nullptr, 0, 1e38, 2.5, 4, 0},
    {"math.log1p", std::log1p, nullptr, -1, 1e30, 2.5, 4, 0},
    {"math.tanh", std::tanh, nullptr, -12, 12, 3.5, 5, 0},
    {"math.erf", std::erf, nullptr, -7, 7, 2.5, 4, 0},
    {"math.erfc", std::erfc, nullptr, -7, 0.4, 2.5, 4, 4e-8},
    {"math.sin", std::sin, nullptr, -1e6, 1e6, 2, 3, 1e-7},
    {"math.cos", std::cos, nullptr, -1e6, 1e6, 2, 3, 1e-7},
    {"math.tan", std::tan, nullptr, -1000, 1000, 4, 5, 1e-7},
    {"math.asin", std::asin, nullptr, -1, 1, 5, 6, 0},
    {"math.acos", std::acos, nullptr, -1, 1, 5, 6, 0},
    {"math.atan", std::atan, nullptr, -1e10, 1e10, 5, 5, 0},
    {"math.sinh", std::sinh, nullptr, -90, 90, 5, 8, 0},
    {"math.cosh", std::cosh, nullptr, -90, 90, 5, 8, 0},
    {"math.asinh", std::asinh, nullptr, -1e38, 1e38, 5, 6, 0},
    {"math.acosh", std::acosh, nullptr, 1, 1e38, 5, 6, 0},
    {"math.atanh", std::atanh, nullptr, -1, 1, 5, 6, 0},
    {"math.atan2", nullptr, std::atan2, -100, 100, 5, 6, 0},
    {"math.powf", nullptr, std::pow, 0, 30, 2, 500, 0},
    {"arith.remf", nullptr, std::fmod, -1000, 1000, 0, 1e9, 0},
};

constexpr int count = 1 << 14;

template <typename Real> std::string kernelText() {
  std::string type = sizeof(Real) == 4 ? "f32" : "f64", text;
  std::string buffer = "!tile.buffer<" + type + ", () -> (16384)>", tile = "tensor<1024x" + type + ">";
  for (const Function &function : functions) {
    std::string name = function.operation;
    std::replace(name.begin(), name.end(), '.', '_');
    text += "tile.kernel @" + name + "(%x: " + buffer + ", %y: " + buffer + ", %z: " + buffer +
            ") attributes {grid = affine_map<() -> (16, 1, 1)>} {\n" +
            "  %p = tile.program_id 0\n  %o = tile.size (d0) -> (d0 * 1024)(%p)\n" +
            "  %a = tile.load %x[%o] bounds () -> (16384) map (d0) -> (d0) : " + buffer + " -> " + tile + "\n" +
            "  %b = tile.load %y[%o] bounds () -> (16384) map (d0) -> (d0) : " + buffer + " -> " + tile + "\n" +
            "  %r = " + function.operation + " %a" + (function.binary ? ", %b" : "") + " : " + tile + "\n" +
            "  tile.store %r, %z[%o] bounds () -> (16384) map (d0) -> (d0) : " + tile + " -> " + buffer +
            "\n  tile.return\n}\n";
  }
  return text;
}

/// Half the arguments are spread evenly, half by exponent around zero (or around the lower end, if that is not
/// negative).
template <typename Real> std::vector<Real> arguments(const Function &function, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> even(function.least, function.most), exponent(-30, std::log2(function.most));
  std::vector<Real> result(count);
  for (int i = 0; i < count; ++i) {
    double small = std::exp2(exponent(generator)), sign = generator() & 1 && function.least < 0 ? -1 : 1;
    result[i] = static_cast<Real>(i % 2 ? even(generator) : sign * (function.least == 1 ? 1 + small : small));
    result[i] = std::clamp(result[i], static_cast<Real>(function.least), static_cast<Real>(function.most));
  }
  return result;
}

template <typename Real> double ulpOf(Wide value) {
  int exponent = std::max(std::ilogb(value), std::numeric_limits<Real>::min_exponent - 1);
  return std::ldexp(1.0, std::max(exponent - std::numeric_limits<Real>::digits + 1, -1074));
}

template <typename Real> void measure(const HostOptions &options) {
  Runner runner(kernelText<Real>(), options);
  ASSERT_EQ(runner.error(), "");
  for (const Function &function : functions) {
    std::string name = function.operation;
    std::replace(name.begin(), name.end(), '.', '_');
    std::vector<Real> x = arguments<Real>(function, 1), y = arguments<Real>(function, 2), z(count);
    runner.run(name, {x.data(), y.data(), z.data()}, {}, {16, 1, 1});
    double worst = 0, allowed = sizeof(Real) == 4 ? function.ulps32 : function.ulps64;
    Real worstAt = 0;
    for (int i = 0; i < count; ++i) {
      Wide want = function.unary ? function.unary(x[i]) : function.binary(x[i], y[i]);
      if (std::isnan(want) || std::isinf(static_cast<Real>(want)) || want == 0) {
        bool same = std::isnan(want) ? std::isnan(z[i]) : z[i] == static_cast<Real>(want);
        EXPECT_TRUE(same) << name << "(" << x[i] << ", " << y[i] << ") = " << z[i] << ", expected " << double(want);
        continue;
      }
      double difference = std::abs(static_cast<double>(z[i] - want));
      if (difference <= function.absolute32 * (sizeof(Real) == 4 ? 1 : std::min(1e-8, function.absolute32)))
        continue;
      if (double ulps = difference / ulpOf<Real>(want); !(ulps <= worst))
        worst = ulps, worstAt = x[i];
    }
    testing::Test::RecordProperty(name + (sizeof(Real) == 4 ? "32" : "64"), std::to_string(worst));
    EXPECT_LE(worst, allowed) << name << " of " << (sizeof(Real) == 4 ? "f32" : "f64") << " at " << worstAt;
  }
}

class MathFunctionErrors : public testing::TestWithParam<HostOptions> {};

TEST_P(MathFunctionErrors, StayBelowTheTableOfF32) { measure<float>(GetParam()); }
TEST_P(MathFunctionErrors, StayBelowTheTableOfF64) { measure<double>(GetParam()); }

TEST_P(MathFunctionErrors, SpecialValues) {
  Runner runner(kernelText<float>(), GetParam());
  ASSERT_EQ(runner.error(), "");
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,    -0.0f,   1.0f,     -1.0f, infinity, -infinity, nan,  1e-40f,
                           -1e-40f, 3.4e38f, -3.4e38f, 2.0f,  -3.0f,    0.5f,      -1e4f};
  for (const Function &function : functions) {
    std::string name = function.operation;
    std::replace(name.begin(), name.end(), '.', '_');
    std::vector<float> x(count), y(count), z(count);
    for (int i = 0; i < count; ++i)
      x[i] = special[i % std::size(special)], y[i] = special[i / std::size(special) % std::size(special)];
    runner.run(name, {x.data(), y.data(), z.data()}, {}, {16, 1, 1});
    for (int i = 0; i < static_cast<int>(std::size(special) * std::size(special)); ++i) {
      bool isHuge = std::abs(x[i]) > 1e30f || std::abs(y[i]) > 1e30f || std::isnan(y[i]);
      bool isUnspecified =
          isHuge && (function.binary || name == "math_sin" || name == "math_cos" || name == "math_tan");
      if (isUnspecified || (name == "arith_remf" && !(std::abs(x[i] / y[i]) < 1e8f)))
        continue;
      double want = static_cast<double>(function.unary ? function.unary(x[i]) : function.binary(x[i], y[i]));
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(z[i])) << name << "(" << x[i] << ", " << y[i] << ") = " << z[i];
      else if (std::isinf(static_cast<float>(want)))
        EXPECT_EQ(z[i], static_cast<float>(want)) << name << "(" << x[i] << ", " << y[i] << ")";
      else
        EXPECT_NEAR(z[i], want, 1e-6 * std::abs(want) + std::max(1e-39, function.absolute32))
            << name << "(" << x[i] << ", " << y[i] << ")";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, MathFunctionErrors, testing::ValuesIn(hostLevels()),
                         [](const auto &info) { return info.param.cpu == "x86-64-v4" ? "v4" : "v3"; });

} // namespace
