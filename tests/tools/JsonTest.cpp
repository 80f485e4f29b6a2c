// SPDX-License-Identifier: Apache-2.0
// Reports of artifacts are printed with an indent, whatever they hold.
#include "tools/tilewright/Json.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(Json, IsIndentedWithALineEnd) { EXPECT_EQ(indented(R"({"a":[1,2]})"), "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n"); }

TEST(Json, WhatIsNoJsonStaysAsItIs) {
  EXPECT_EQ(indented(""), "");
  EXPECT_EQ(indented("no report"), "no report");
}

/// Printing recurses, and would run out of stack.
TEST(Json, WhatIsNestedDeepStaysAsItIs) {
  constexpr size_t depth = 1000000;
  std::string deep = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_TRUE(indented(deep) == deep);
}

} // namespace
} // namespace tilewright
