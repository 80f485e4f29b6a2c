// SPDX-License-Identifier: Apache-2.0
// Constants lie in blocks of their own, whatever their sizes are.
#include "backend/plan/PlanConstants.h"

#include "runtime/plan/MemoryRanges.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tilewright;

namespace {

/// A constant larger than a block has one of its own, which ends where it ends: rounding its size up must not make room
/// behind it.
TEST(PlanConstantsTest, KeepsWithinItsBlocks) {
  std::vector<std::span<const std::byte>> entries;
  PlanConstants constants(entries);
  std::vector<std::byte> large((size_t(40) << 20) + 1, std::byte(1)), small(1000, std::byte(2)), odd(33, std::byte(3));
  for (const auto *bytes : {&large, &small, &odd})
    constants.add(*bytes);
  ASSERT_EQ(entries.size(), 3u);
  for (std::span<const std::byte> entry : entries)
    EXPECT_TRUE(liesIn(Backing::HugePages, entry)) << entry.size() << " bytes";
  EXPECT_TRUE(std::ranges::equal(entries[0], large));
  EXPECT_TRUE(std::ranges::equal(entries[1], small));
  EXPECT_TRUE(std::ranges::equal(entries[2], odd));
}

} // namespace
