// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, convolutions with a state, and moves between space and depth.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> signals() {
  std::vector<Case> cases;
  for (int64_t inverse : {0, 1})
    for (int64_t parts : {1, 2}) {
      cases.push_back({"DFT", {{{2, 6, 3, parts}}}, {{"axis", int64_t(1)}, {"inverse", inverse}}});
      cases.push_back(
          {"DFT", {{{2, 5, parts}}, {{}, DType::I64, {8}}, {{}, DType::I64, {1}}}, {{"inverse", inverse}}, 20});
      cases.push_back({"DFT", {{{2, 9, parts}}, {{}, DType::I64, {4}}}, {{"inverse", inverse}}, 20});
    }
  for (int64_t size : {6, 7})
    cases.push_back({"DFT", {{{2, size, 1}}}, {{"onesided", int64_t(1)}}, 20});
  cases.push_back({"DFT", {{{2, 5, 2}}}, {{"onesided", int64_t(1)}, {"inverse", int64_t(1)}}, 20});
  cases.push_back(
      {"DFT", {{{2, 4, 2}}, {{}, DType::I64, {7}}}, {{"onesided", int64_t(1)}, {"inverse", int64_t(1)}}, 20});
  cases.push_back({"STFT", {{{2, 20, 1}}, {{}, DType::I64, {4}}, {{8}}}});
  cases.push_back(
      {"STFT", {{{2, 20}}, {{}, DType::I64, {3}}, {{7}}, {{}, DType::I64, {7}}}, {{"onesided", int64_t(0)}}});
  for (const char *activation : {"none", "silu"})
    cases.push_back({"CausalConvWithState",
                     {{{2, 3, 5}}, {{3, 1, 4}}, {{3}}, {{2, 3, 3}}},
                     {{"activation", std::string(activation)}},
                     27,
                     2});
  cases.push_back({"CausalConvWithState", {{{2, 3, 5}}, {{3, 1, 4}}}, {}, 27, 2});
  cases.push_back({"SpaceToDepth", {{{2, 3, 4, 6}}}, {{"blocksize", int64_t(2)}, {"mode", std::string("CRD")}}, 28});
  cases.push_back({"SpaceToDepth", {{{2, 3, 4, 6}}}, {{"blocksize", int64_t(2)}}, 28});
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Signals, HandlersTest, testing::ValuesIn(signals()), caseName);

} // namespace tilewright::test
