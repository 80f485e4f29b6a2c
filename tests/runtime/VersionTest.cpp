// SPDX-License-Identifier: Apache-2.0
// The runtime states its version as three numbers.
#include "runtime/Version.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

TEST(Version, IsThreeNumbers) {
  EXPECT_TRUE(std::regex_match(std::string(tilewright::version()), std::regex(R"(\d+\.\d+\.\d+)")));
}
