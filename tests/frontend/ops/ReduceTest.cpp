// SPDX-License-Identifier: Apache-2.0
// Reductions and what is built on them.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

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

INSTANTIATE_TEST_SUITE_P(Reductions, HandlersTest, testing::ValuesIn(reductions()), caseName);

} // namespace tilewright::test
