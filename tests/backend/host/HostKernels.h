// SPDX-License-Identifier: Apache-2.0
// What tests of hand-written tile kernels share: inputs, guarded outputs, and a fixture that runs at every host level.
#pragma once

#include "tests/backend/host/Runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace tilewright::test {

inline std::vector<float> randomFloats(size_t count, unsigned seed, float scale = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-scale, scale);
  std::vector<float> result(count);
  for (float &value : result)
    value = distribution(generator);
  return result;
}

/// `%NAME%` in a kernel's text becomes a number.
inline std::string fill(std::string text, std::initializer_list<std::pair<const char *, int64_t>> values) {
  for (auto [name, value] : values)
    for (std::string key = "%" + std::string(name) + "%"; text.find(key) != std::string::npos;)
      text.replace(text.find(key), key.size(), std::to_string(value));
  return text;
}

inline constexpr float guardValue = 12345.0f;

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

inline void expectClose(const Guarded &got, const std::vector<double> &want, double tolerance) {
  got.expectIntact();
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << "element " << i;
}

/// A test for each level of x86-64 that this machine has: HOST_LEVELS(Suite) after the fixture's using-declaration.
class HostKernels : public testing::TestWithParam<HostOptions> {};

#define HOST_LEVELS(suite)                                                                                             \
  INSTANTIATE_TEST_SUITE_P(Levels, suite, testing::ValuesIn(hostLevels()),                                             \
                           [](const auto &info) { return info.param.cpu == "x86-64-v4" ? "v4" : "v3"; })

} // namespace tilewright::test
