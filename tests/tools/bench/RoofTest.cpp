// SPDX-License-Identifier: Apache-2.0
// The roofline of bench: the slower of moving and computing, at the rate of the smallest memory that holds all bytes.
#include "tools/tilewright/bench/Measure.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

const Peaks peaks{.bytesPerSecond = 1e9,
                  .caches = {{1e3, 8e9}, {1e6, 4e9}},
                  .flopsPerSecond = 1e12,
                  .halfFlopsPerSecond = 1e13,
                  .byteFlopsPerSecond = 1e14};

void expectRoof(double bytes, double flops, size_t elementBytes, const char *name, double milliseconds) {
  Roof roof = roofOf(peaks, bytes, flops, elementBytes);
  EXPECT_STREQ(roof.name, name);
  EXPECT_DOUBLE_EQ(roof.milliseconds, milliseconds);
}

TEST(Roof, MemoryBeyondEveryCache) { expectRoof(2e6, 0, 4, "memory", 2.0); }
TEST(Roof, TheSmallestCacheThatHoldsEverything) {
  expectRoof(1e3, 0, 4, "cache", 1e3 / 8e9 * 1e3);
  expectRoof(1e6, 0, 4, "cache", 0.25);
}
TEST(Roof, ComputeWhereItTakesLonger) { expectRoof(1e3, 1e10, 4, "compute", 10.0); }
TEST(Roof, HalfTypesAndBytesHaveRatesOfTheirOwn) {
  expectRoof(1e3, 1e10, 2, "compute", 1.0);
  expectRoof(1e3, 1e12, 1, "compute", 10.0);
}
TEST(Roof, AnUnknownRateBoundsNothing) {
  Roof roof = roofOf({.bytesPerSecond = 1e9, .caches = {}, .flopsPerSecond = 1e12}, 2e6, 1e12, 1);
  EXPECT_STREQ(roof.name, "memory");
  EXPECT_DOUBLE_EQ(roof.milliseconds, 2.0);
}

} // namespace
