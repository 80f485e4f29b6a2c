// SPDX-License-Identifier: Apache-2.0
// Attention and rotary embedding.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> attentions() {
  return {
      {"Attention", {{{2, 4, 3, 8}}, {{2, 2, 5, 8}}, {{2, 2, 5, 6}}}, {}, 23},
      {"Attention",
       {{{2, 3, 32}}, {{2, 5, 16}}, {{2, 5, 16}}},
       {{"q_num_heads", int64_t(4)}, {"kv_num_heads", int64_t(2)}, {"is_causal", int64_t(1)}},
       23},
      {"Attention", {{{1, 2, 3, 8}}, {{1, 2, 3, 8}}, {{1, 2, 3, 8}}, {{3, 3}, DType::Bool}}, {{"softcap", 2.0f}}, 23},
      {"RotaryEmbedding", {{{2, 3, 4, 8}}, {{2, 4, 4}}, {{2, 4, 4}}}, {}, 23},
      {"RotaryEmbedding",
       {{{2, 4, 24}}, {{6, 2}}, {{6, 2}}, {{2, 4}, DType::I64, {0, 1, 2, 3, 2, 3, 4, 5}}},
       {{"num_heads", int64_t(3)}, {"interleaved", int64_t(1)}, {"rotary_embedding_dim", int64_t(4)}},
       23},
  };
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Attentions, HandlersTest, testing::ValuesIn(attentions()), caseName);

} // namespace tilewright::test
