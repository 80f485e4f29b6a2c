// SPDX-License-Identifier: Apache-2.0
// Weights quantized in blocks.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Scales are constants, as in any quantized model: random ones may be next to 0, and a step of the result anywhere.
std::vector<Case> fusedQuantizations() {
  auto bytesOf = [](size_t count) {
    std::vector<int64_t> bytes(count);
    for (size_t i = 0; i < count; ++i)
      bytes[i] = static_cast<int64_t>(i * 37 % 256);
    return bytes;
  };
  std::vector<int64_t> bytes = bytesOf(5 * 2 * 8);
  int64_t k = 32, n = 5, block = 16, bits = 4, odd = 30, columns = 70, two = 2, eight = 8;
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
      {"MatMulNBits", // several panels of columns, the last one not whole
       {{{3, 32}}, {{70, 2, 8}, DType::U8, bytesOf(1120)}, {{70, 2}}, {{70, 1}, DType::U8, bytesOf(70)}},
       {{"K", k}, {"N", columns}, {"block_size", block}, {"bits", bits}}},
      {"MatMulNBits",
       {{{1, 32}}, {{70, 2, 4}, DType::U8, bytesOf(560)}, {{70, 2}}},
       {{"K", k}, {"N", columns}, {"block_size", block}, {"bits", two}}},
      {"MatMulNBits",
       {{{40, 32}}, {{70, 2, 16}, DType::U8, bytesOf(2240)}, {{70, 2}}, {{70, 2}, DType::U8, bytesOf(140)}},
       {{"K", k}, {"N", columns}, {"block_size", block}, {"bits", eight}}},
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
