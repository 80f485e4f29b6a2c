// SPDX-License-Identifier: Apache-2.0
// Softmax and normalizations.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> normalizations() {
  return {
      {"LayerNormalization", {{{2, 3, 4}}, {{4}}, {{4}}}, {}, 17, 3},
      {"LayerNormalization", {{{2, 3, 4}}, {{3, 4}}}, {{"axis", int64_t(1)}}},
      {"LayerNormalization", {{{2, 3, 4}, DType::F16}, {{4}}}, {}, 12}, // the result has the type of the scale
      {"InstanceNormalization", {{{2, 3, 4, 5}}, {{3}}, {{3}}}},
      {"GroupNormalization", {{{2, 4, 3, 3}}, {{4}}, {{4}}}, {{"num_groups", int64_t(2)}}, 21},
      {"LRN", {{{1, 6, 3, 3}}}, {{"size", int64_t(3)}, {"alpha", 0.1f}, {"bias", 2.0f}}},
      {"LpNormalization", {{{3, 4}}}, {{"p", int64_t(1)}}},
      {"LpNormalization", {{{3, 4}}}},
      {"MeanVarianceNormalization", {{{2, 3, 4, 4}}}},
      {"SkipSimplifiedLayerNormalization",
       {{{2, 3, 4}}, {{2, 3, 4}}, {{4}}, {{4}}},
       {{"epsilon", 1e-5f}},
       17,
       1,
       "com.microsoft"},
  };
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Normalizations, HandlersTest, testing::ValuesIn(normalizations()), caseName);

} // namespace tilewright::test
