// SPDX-License-Identifier: Apache-2.0
// Random models with symbolic sizes compute at five sizes what the reference computes, fused and unfused, and never end
// in a bug of ours. TILEWRIGHT_RANDOM_MODELS is how many (100 by default, 10,000 now and then), TILEWRIGHT_RANDOM_FIRST
// the first one's seed, and TILEWRIGHT_RANDOM_KEEP a folder for the models themselves.
#include "tests/fusion/FiveSizes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr unsigned shares = 10; // cases that run side by side
constexpr unsigned operators = 16;

unsigned fromEnvironment(const char *name, unsigned otherwise) {
  const char *text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

void keep(const RandomModel &model, unsigned seed) {
  if (const char *folder = std::getenv("TILEWRIGHT_RANDOM_KEEP"))
    std::ofstream(std::string(folder) + "/random" + std::to_string(seed) + ".onnx", std::ios::binary)
        << model.proto.SerializeAsString();
}

struct RandomModels : testing::TestWithParam<unsigned> {};

TEST_P(RandomModels, RunAtFiveSizes) {
  unsigned each = std::max(1u, fromEnvironment("TILEWRIGHT_RANDOM_MODELS", 100) / shares), refused = 0;
  unsigned first = fromEnvironment("TILEWRIGHT_RANDOM_FIRST", 1) + GetParam() * each;
  for (unsigned seed = first; seed < first + each; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomModel model = randomModel(seed, operators);
    keep(model, seed);
    refused += compareAtFiveSizes(model, seed, false) == Verdict::Refused;
  }
  EXPECT_LE(5 * refused, each + 4) << "nearly all models should compile with symbolic sizes"; // a fifth, or one of few
}

INSTANTIATE_TEST_SUITE_P(Share, RandomModels, testing::Range(0u, shares));

} // namespace
