// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> recurrences() {
  std::vector<Case> cases;
  for (auto [op, gates, outputs] : {std::tuple("RNN", 1, 2), std::tuple("GRU", 3, 2), std::tuple("LSTM", 4, 3)}) {
    auto inputs = [&, gates = gates](int64_t directions) {
      return std::vector<Input>{
          {{5, 2, 3}}, {{directions, gates * 4, 3}}, {{directions, gates * 4, 4}}, {{directions, gates * 8}}};
    };
    cases.push_back({op, inputs(1), {{"hidden_size", int64_t(4)}}, 17, outputs});
    cases.push_back({op, inputs(1), {{"hidden_size", int64_t(4)}, {"direction", std::string("reverse")}}, 17, outputs});
    cases.push_back(
        {op, inputs(2), {{"hidden_size", int64_t(4)}, {"direction", std::string("bidirectional")}}, 17, outputs});
  }
  cases.push_back({"GRU",
                   {{{5, 2, 3}}, {{1, 12, 3}}, {{1, 12, 4}}, {{1, 24}}},
                   {{"hidden_size", int64_t(4)}, {"linear_before_reset", int64_t(1)}},
                   17,
                   2});
  cases.push_back({"LSTM",
                   {{{2, 5, 3}}, {{1, 16, 3}}, {{1, 16, 4}}},
                   {{"hidden_size", int64_t(4)}, {"layout", int64_t(1)}},
                   17,
                   3});
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Recurrences, HandlersTest, testing::ValuesIn(recurrences()), caseName);

} // namespace tilewright::test
