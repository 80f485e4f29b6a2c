// SPDX-License-Identifier: Apache-2.0
// What counts as the same output.
#include "tools/tilewright/values/Compare.h"

#include <gtest/gtest.h>

#include <limits>

using namespace tilewright;

namespace {

Tensor floats(std::initializer_list<float> values) {
  Tensor tensor = Tensor::allocate(DType::F32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

bool same(std::initializer_list<float> actual, std::initializer_list<float> expected) {
  return compare("y", floats(actual), floats(expected)).same;
}

TEST(Compare, SmallElementsAreOffByWhatLargeOnesAre) {
  EXPECT_TRUE(same({35, -0.0050f}, {35, -0.0048f}));
  EXPECT_FALSE(same({35, -0.0060f}, {35, -0.0048f}));
  EXPECT_FALSE(same({35.1f, 0}, {35, 0}));
}

TEST(Compare, SmallTensorsKeepTheirTolerance) {
  EXPECT_FALSE(same({0.35f, -0.0050f}, {0.35f, -0.0048f}));
  EXPECT_TRUE(same({0.35f, -0.004805f}, {0.35f, -0.0048f}));
}

TEST(Compare, InfinitiesAreNoMeasure) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(same({infinity, 1}, {infinity, 1}));
  EXPECT_FALSE(same({infinity, 1.1f}, {infinity, 1}));
  EXPECT_FALSE(same({-infinity, 1}, {infinity, 1}));
  EXPECT_FALSE(same({5, 1}, {infinity, 1}));
  EXPECT_FALSE(same({infinity, 1}, {5, 1}));
}

} // namespace
