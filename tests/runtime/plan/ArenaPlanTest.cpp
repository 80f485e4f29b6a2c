// SPDX-License-Identifier: Apache-2.0
// The arena: no two buffers that are live at the same time overlap, for any plan; and the arena has the least size
// where that is known.
#include "runtime/plan/ArenaPlan.h"

#include <gtest/gtest.h>
#include <random>

namespace tilewright::runtime {

TEST(ArenaPlan, BuffersThatLiveAtOnceNeverOverlap) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Lifetime> lifetimes(random() % 60 + 1);
    uint64_t total = 0, largest = 0;
    for (Lifetime &lifetime : lifetimes) {
      lifetime.first = static_cast<int64_t>(random() % 40) - 1;
      lifetime.last = random() % 10 == 0 ? INT64_MAX : lifetime.first + static_cast<int64_t>(random() % 12);
      lifetime.bytes = random() % 3 == 0 ? random() % 64 : random() % 100000;
      total += (lifetime.bytes + 64) / 64 * 64;
      largest = std::max(largest, lifetime.bytes);
    }
    ArenaPlan plan = planArena(lifetimes);
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0u);
      EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.bytes);
      for (size_t j = 0; j < i; ++j) {
        bool together = lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
        bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[j] ||
                     plan.offsets[j] + lifetimes[j].bytes <= plan.offsets[i];
        ASSERT_TRUE(!together || apart) << "trial " << trial << ", buffers " << i << " and " << j;
      }
    }
    EXPECT_LE(plan.bytes, total);
    EXPECT_GE(plan.bytes, largest);
  }
}

TEST(ArenaPlan, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int64_t step = 0; step < 20; ++step)
    chain.push_back({step, step + 1, 4096});
  EXPECT_EQ(planArena(chain).bytes, 2u * 4096);
}

TEST(ArenaPlan, PutsASmallBufferIntoTheSmallestGapThatFits) {
  // Between three long-lived buffers lie gaps of 512 and 256 bytes, where the others lived until the last one came.
  std::vector<Lifetime> lifetimes = {{0, 9, 4096}, {0, 4, 512}, {0, 9, 448}, {0, 4, 256}, {0, 9, 192}, {5, 9, 128}};
  ArenaPlan plan = planArena(lifetimes);
  EXPECT_EQ(plan.offsets[5], plan.offsets[3]);
}

TEST(ArenaPlan, EmptyPlansAndEmptyBuffers) {
  EXPECT_EQ(planArena({}).bytes, 0u);
  std::vector<Lifetime> empties = {{0, 1, 0}, {0, 1, 0}};
  EXPECT_NE(planArena(empties).offsets[0], planArena(empties).offsets[1]); // each has an address of its own
}

} // namespace tilewright::runtime
