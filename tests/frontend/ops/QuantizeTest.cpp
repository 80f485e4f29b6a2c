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

/// Matrices of four bits, which stay packed: in blocks along either dimension, by columns, and all alike.
std::vector<Case> storedMatrices() {
  auto numbers = [](size_t count, int64_t least) {
    std::vector<int64_t> result(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = static_cast<int64_t>(i * 11 / 3 % 16) + least;
    return result;
  };
  Input signedData{{64, 70}, DType::I4, numbers(4480, -8)}, unsignedData{{64, 70}, DType::U4, numbers(4480, 0)},
      turned{{70, 64}, DType::I4, numbers(4480, -8)};
  int64_t block = 16, rows = 0, columns = 1, half = 10;
  return {
      {"DequantizeLinear",
       {signedData, weights({4, 70}), {{4, 70}, DType::I4, numbers(280, -8)}},
       {{"block_size", block}, {"axis", rows}},
       21},
      {"DequantizeLinear",
       {turned, weights({70, 4}), {{70, 4}, DType::I4, numbers(280, -8)}},
       {{"block_size", block}, {"axis", columns}},
       21},
      {"DequantizeLinear", {unsignedData, weights({4, 70})}, {{"block_size", block}, {"axis", rows}}, 21},
      {"DequantizeLinear", {signedData, weights({70}), {{70}, DType::I4, numbers(70, -8)}}, {{"axis", columns}}, 21},
      {"DequantizeLinear", {turned, weights({70})}, {{"axis", rows}}, 21},
      {"DequantizeLinear", {unsignedData, weights({}), {{}, DType::U4, {5}}}, {}, 21},
      {"DequantizeLinear", {signedData, weights({})}, {}, 21},
      {"DequantizeLinear", {signedData, weights({70})}, {{"axis", columns}, {"output_dtype", half}}, 23},
  };
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(StoredMatrices, HandlersTest, testing::ValuesIn(storedMatrices()), caseName);
INSTANTIATE_TEST_SUITE_P(Quantizations, HandlersTest, testing::ValuesIn(quantizations()), caseName);

} // namespace tilewright::test
