// SPDX-License-Identifier: Apache-2.0
// Quantization and dequantization.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> quantizations() {
  return {
      {"QuantizeLinear", {{{3, 4}}, {{}}, {{}, DType::U8}}},
      {"DynamicQuantizeLinear", {{{3, 4}}}, {}, 17, 3},
      {"DequantizeLinear", {{{3, 4}, DType::U8}, {{}}, {{}, DType::U8}}},
      {"DequantizeLinear", {{{2, 3, 4}, DType::U8}, {{3}}, {{3}, DType::U8}}},
  };
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Quantizations, HandlersTest, testing::ValuesIn(quantizations()), caseName);

} // namespace tilewright::test
