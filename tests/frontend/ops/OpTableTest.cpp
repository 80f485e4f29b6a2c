// SPDX-License-Identifier: Apache-2.0
// The order of the table of operators, and lookup in it.
#include "frontend/ops/OpTable.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

TEST(OpTableTest, IsOrderedSoThatLookupMayHalve) {
  auto key = [](const OpRow &row) { return std::tuple(row.domain, row.op, row.since); };
  for (size_t i = 1; i < opTable().size(); ++i)
    EXPECT_LT(key(opTable()[i - 1]), key(opTable()[i])) << opTable()[i].op;
}

TEST(OpTableTest, FindsTheNewestRowThatHolds) {
  EXPECT_NE(findHandler("", "Clip", 10), findHandler("", "Clip", 11));
  EXPECT_EQ(findHandler("", "Clip", 13), findHandler("", "Clip", 11));
  EXPECT_EQ(findHandler("", "Gelu", 19), nullptr);
  EXPECT_EQ(findHandler("nowhere", "Add", 13), nullptr);
}

} // namespace
