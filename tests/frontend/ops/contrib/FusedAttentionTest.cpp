// SPDX-License-Identifier: Apache-2.0
// Attention as ONNX Runtime's operators have it.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> attentions() {
  Input none{.shape = {}, .absent = true};
  int64_t one = 1, two = 2;
  using List = std::vector<int64_t>;
  return ofMicrosoft({
      {"Attention", {{{2, 3, 4}}, {{4, 24}}, {{24}}, {{2}, DType::I32, {2, 3}}}, {{"num_heads", two}}},
      {"Attention",
       {{{2, 3, 4}}, {{4, 24}}, {{24}}, {{4}, DType::I32, {2, 3, 0, 1}}},
       {{"num_heads", two}, {"mask_filter_value", -50.0f}, {"scale", 0.2f}}},
      {"Attention",
       {{{2, 3, 4}}, {{4, 24}}, {{24}}, none, {{2, 2, 2, 5, 4}}, {{1, 2, 3, 8}}},
       {{"num_heads", two}, {"unidirectional", one}},
       17,
       2},
      {"Attention", {{{2, 3, 4}}, {{4, 20}}, {{20}}}, {{"num_heads", two}, {"qkv_hidden_sizes", List{8, 8, 4}}}},
      {"QAttention",
       {{{2, 3, 4}, DType::U8},
        {{4, 24}, DType::U8},
        {{24}},
        {{}},
        {{24}},
        {{2}, DType::I32, {2, 3}},
        {{}, DType::U8},
        {{24}, DType::U8}},
       {{"num_heads", two}}},
  });
}

std::vector<Case> multiHeadAttentions() {
  Input none{.shape = {}, .absent = true};
  int64_t one = 1, two = 2;
  return ofMicrosoft({
      {"MultiHeadAttention",
       {{{2, 3, 8}}, {{2, 4, 8}}, {{2, 4, 6}}, {{22}}, {{2, 4}, DType::I32, {1, 0, 1, 1, 0, 1, 1, 1}}},
       {{"num_heads", two}}},
      {"MultiHeadAttention", {{{2, 3, 8}}, {{2, 2, 4, 4}}, {{2, 2, 4, 4}}}, {{"num_heads", two}}},
      {"MultiHeadAttention",
       {{{2, 3, 8}}, {{2, 3, 8}}, {{2, 3, 8}}, none, none, none, {{2, 2, 4, 4}}, {{2, 2, 4, 4}}},
       {{"num_heads", two}, {"unidirectional", one}},
       17,
       3},
  });
}

std::vector<Case> groupQueryAttentions() {
  Input none{.shape = {}, .absent = true};
  int64_t one = 1, two = 2;
  return ofMicrosoft({
      {"GroupQueryAttention",
       {{{2, 3, 64}}, none, none, none, none, {{2}, DType::I32, {2, 2}}, {{}, DType::I32, {3}}, {{8, 4}}, {{8, 4}}},
       {{"num_heads", int64_t(4)}, {"kv_num_heads", two}, {"do_rotary", one}},
       17,
       3},
      {"GroupQueryAttention",
       {{{2, 1, 32}},
        {{2, 1, 16}},
        {{2, 1, 16}},
        {{2, 2, 6, 8}},
        {{2, 2, 6, 8}},
        {{2}, DType::I32, {3, 1}},
        {{}, DType::I32, {4}},
        {{8, 4}},
        {{8, 4}}},
       {{"num_heads", int64_t(4)},
        {"kv_num_heads", two},
        {"do_rotary", one},
        {"local_window_size", two},
        {"softcap", 3.0f},
        {"smooth_softmax", one}},
       17,
       3},
      {"GroupQueryAttention",
       {{{1, 2, 16}},
        {{1, 2, 16}},
        {{1, 2, 16}},
        {{1, 2, 3, 8}},
        {{1, 2, 3, 8}},
        {{1}, DType::I32, {4}},
        {{}, DType::I32, {5}},
        none,
        none,
        none,
        {{1, 2, 2, 5}},
        {{2}}},
       {{"num_heads", two}, {"kv_num_heads", two}},
       17,
       3},
  });
}

std::vector<Case> rotaryEmbeddings() {
  int64_t one = 1, two = 2;
  return ofMicrosoft({
      {"RotaryEmbedding", {{{2, 3, 16}}, {{1}, DType::I64, {2}}, {{8, 4}}, {{8, 4}}}, {{"interleaved", one}}},
      {"RotaryEmbedding",
       {{{2, 3, 16}}, {{2, 3}, DType::I64, {0, 1, 2, 5, 6, 7}}, {{8, 2}}, {{8, 2}}},
       {{"num_heads", two}, {"rotary_embedding_dim", int64_t(4)}}},
  });
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(ContribAttentions, HandlersTest, testing::ValuesIn(attentions()), caseName);
INSTANTIATE_TEST_SUITE_P(MultiHeadAttentions, HandlersTest, testing::ValuesIn(multiHeadAttentions()), caseName);
INSTANTIATE_TEST_SUITE_P(GroupQueryAttentions, HandlersTest, testing::ValuesIn(groupQueryAttentions()), caseName);
INSTANTIATE_TEST_SUITE_P(RotaryEmbeddings, HandlersTest, testing::ValuesIn(rotaryEmbeddings()), caseName);

} // namespace tilewright::test
