// SPDX-License-Identifier: Apache-2.0
// Operators that ONNX Runtime fuses, but for attention.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// com.microsoft. Its operators are written as sentences of standard ones, in the handlers and in the reference, each
/// by itself.
std::vector<Case> fusedProducts() {
  using List = std::vector<int64_t>;
  Input none{.shape = {}, .absent = true};
  int64_t one = 1;
  std::vector<Case> cases = {
      {"FusedMatMul", {{{2, 4, 3}}, {{5, 4}}}, {{"transA", one}, {"transB", one}, {"alpha", 0.5f}}},
      {"FusedMatMul", {{{3, 2, 4}}, {{2, 4, 5}}}, {{"transBatchA", one}}},
      {"FusedGemm",
       {{{3, 4}}, {{4, 5}}, {{5}}},
       {{"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.3f}}},
      {"GemmFastGelu", {{{3, 4}}, {{4, 5}}, {{5}}}},
      {"FusedConv",
       {{{1, 2, 5, 5}}, {{3, 2, 3, 3}}, {{3}}, {{1, 3, 5, 5}}},
       {{"activation", std::string("Relu")}, {"pads", List{1, 1, 1, 1}}}},
      {"NhwcFusedConv", {{{1, 5, 5, 2}}, {{3, 2, 3, 3}}, {{3}}}, {{"activation", std::string("Sigmoid")}}},
      {"NhwcMaxPool", {{{1, 4, 6, 3}, DType::U8}}, {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}}},
      {"GroupNorm", {{{2, 3, 3, 4}}, {{4}}, {{4}}}, {{"groups", int64_t(2)}, {"activation", one}}},
      {"SkipGroupNorm",
       {{{2, 3, 3, 4}}, {{4}}, {{4}}, {{2, 4}}, {{4}}},
       {{"groups", int64_t(2)}, {"activation", int64_t(0)}},
       17,
       2},
      {"SkipLayerNormalization", {{{2, 3, 4}}, {{3, 4}}, {{4}}, {{4}}, {{4}}}, {{"epsilon", 1e-5f}}},
      {"EmbedLayerNormalization",
       {{{2, 3}, DType::I32, {0, 1, 2, 3, 4, 0}},
        none,
        {{5, 4}},
        {{6, 4}},
        none,
        {{4}},
        {{4}},
        {{2, 3}, DType::I32, {1, 1, 0, 1, 0, 0}}},
       {},
       17,
       2},
      {"BiasSoftmax", {{{2, 3, 4}}, {{3, 4}}}, {{"axis", int64_t(2)}, {"is_inner_broadcast", int64_t(0)}}},
      {"BiasSplitGelu", {{{2, 3, 4}}, {{4}}}},
      {"BiasAdd", {{{2, 3, 4}}, {{4}}, {{2, 3, 4}}}},
      {"QGemm",
       {{{3, 4}, DType::U8}, {{}}, {{}, DType::U8}, {{5, 4}, DType::U8}, {{5}}, {{5}, DType::U8}, {{5}, DType::I32}},
       {{"transB", one}, {"alpha", 0.5f}}},
      {"MatMulIntegerToFloat",
       {{{3, 4}, DType::U8}, {{4, 5}, DType::U8}, {{}}, {{5}}, {{}, DType::U8}, {{5}, DType::U8}, {{5}}}},
      {"DynamicQuantizeMatMul", {{{3, 4}}, {{4, 5}, DType::U8}, {{1}}}},
  };
  cases = ofMicrosoft(std::move(cases));
  cases.push_back({"SimplifiedLayerNormalization", {{{2, 3, 4}}, {{4}}}, {}, 17, 2});
  cases.push_back({"LayerNormalization", {{{2, 3, 4}}, {{4}}, {{4}}}, {}, 11});
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(FusedProducts, HandlersTest, testing::ValuesIn(fusedProducts()), caseName);

} // namespace tilewright::test
