// SPDX-License-Identifier: Apache-2.0
// Reductions and what is built on them.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Along dimensions of one block and of several; the last is not full in some, and those of 17 blocks have blocks.
std::vector<Case> cumulations() {
  std::vector<Case> cases;
  for (int64_t exclusive : {0, 1})
    for (int64_t reverse : {0, 1})
      for (int64_t length : {16, 17, 64, 300, 16 * 16 + 1})
        cases.push_back(
            {"CumSum", {{{length, 2}}, {{}, DType::I64, {0}}}, {{"exclusive", exclusive}, {"reverse", reverse}}});
  cases.push_back({"CumSum", {{{200}}, {{1}, DType::I32, {-1}}}});
  cases.push_back({"CumSum", {{{2, 130, 3}, DType::I64}, {{}, DType::I64, {1}}}, {{"reverse", int64_t(1)}}});
  cases.push_back({"CumProd", {{{2, 70}}, {{}, DType::I64, {1}}}, {{"exclusive", int64_t(1)}}, 26});
  return cases;
}

std::vector<Case> reductions() {
  std::vector<Case> cases;
  for (const char *op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSumExp"}) {
    cases.push_back({op, {{{2, 3, 4}}}, {{"axes", std::vector<int64_t>{1}}}});
    cases.push_back({op, {{{2, 3, 4}}}, {{"axes", std::vector<int64_t>{-1, 0}}, {"keepdims", int64_t(0)}}});
    cases.push_back({op, {{{2, 3, 4}}}});
  }
  cases.push_back({"ReduceSum", {{{2, 3, 4}}, {{1}, DType::I64, {2}}}});
  cases.push_back({"ReduceMax", {{{2, 3, 4}, DType::U8}}, {{"axes", std::vector<int64_t>{1}}}});
  cases.push_back({"ReduceMean", {{{2, 3}, DType::I64}}});
  for (const char *op : {"ArgMax", "ArgMin"}) {
    cases.push_back({op, {{{3, 6}}}, {{"axis", int64_t(1)}}});
    cases.push_back({op, {{{6, 3}, DType::I32}}, {{"keepdims", int64_t(0)}, {"select_last_index", int64_t(1)}}});
  }
  for (const char *op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    cases.push_back({op, {{{2, 3, 4}}}});
    cases.push_back({op, {{{2, 3, 4}}}, {{"axis", int64_t(1)}}});
    cases.push_back({op, {{{2, 3, 4}}}, {{"axis", int64_t(1)}}, 11});
  }
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Cumulations, HandlersTest, testing::ValuesIn(cumulations()), caseName);
INSTANTIATE_TEST_SUITE_P(Reductions, HandlersTest, testing::ValuesIn(reductions()), caseName);

} // namespace tilewright::test
