// SPDX-License-Identifier: Apache-2.0
// Softmax and normalizations.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> normalizations() {
  Input computed{{3}}, known = weights({3}), knownHalf = weights({3}, DType::F16);
  std::vector<std::pair<std::string, AttributeValue>> epsilon{{"epsilon", 4.0f}}; // variances are random
  return {
      {"BatchNormalization", {{{2, 3, 4, 5}}, computed, computed, computed, computed}, epsilon},
      {"BatchNormalization", {{{2, 3, 4, 5}}, known, known, known, known}, epsilon},
      {"BatchNormalization", {{{2, 3, 4, 5}, DType::F16}, knownHalf, knownHalf, knownHalf, knownHalf}, epsilon},
      {"BatchNormalization", {{{2, 3, 4, 5}, DType::F16}, knownHalf, knownHalf, known, known}, epsilon},
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
