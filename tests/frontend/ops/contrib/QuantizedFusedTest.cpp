// SPDX-License-Identifier: Apache-2.0
// Weights quantized in blocks.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Scales are constants, as in any quantized model: random ones may be next to 0, and a step of the result anywhere.
std::vector<Case> fusedQuantizations() {
  std::vector<int64_t> bytes(5 * 2 * 8);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<int64_t>(i * 37 % 256);
  int64_t k = 32, n = 5, block = 16, bits = 4, odd = 30;
  std::vector<Case> cases = {
      {"MatMulNBits",
       {{{2, 3, 32}}, {{5, 2, 8}, DType::U8, bytes}, {{5, 2}}},
       {{"K", k}, {"N", n}, {"block_size", block}, {"bits", bits}}},
      {"MatMulNBits",
       {{{3, 30}}, {{5, 2, 8}, DType::U8, bytes}, {{10}}, {{5, 1}, DType::U8, {7, 129, 66, 255, 16}}},
       {{"K", odd}, {"N", n}, {"block_size", block}, {"bits", bits}}},
      {"MatMulNBits",
       {{{3, 32}}, {{5, 2, 8}, DType::U8, bytes}, {{5, 2}}, {{5, 2}}},
       {{"K", k}, {"N", n}, {"block_size", block}, {"bits", bits}}},
      {"GatherBlockQuantized",
       {{{5, 16}, DType::U8, bytes},
        {{2, 2}, DType::I64, {0, 4, 2, 2}},
        {{5, 2}},
        {{5, 1}, DType::U8, {7, 129, 66, 255, 16}}},
       {{"block_size", block}}},
  };
  return ofMicrosoft(std::move(cases));
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(FusedQuantizations, HandlersTest, testing::ValuesIn(fusedQuantizations()), caseName);

} // namespace tilewright::test
