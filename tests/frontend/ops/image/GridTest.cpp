// SPDX-License-Identifier: Apache-2.0
// GridSample, AffineGrid, and Resize to known sizes.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> grids() {
  std::vector<Case> cases;
  for (const char *mode : {"linear", "nearest", "cubic"})
    for (const char *padding : {"zeros", "border", "reflection"})
      for (int64_t alignCorners : {0, 1}) // sampleTensor gives places up to twice the image away
        cases.push_back(
            {"GridSample",
             {{{2, 3, 4, 5}}, {{2, 3, 2, 2}}},
             {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", alignCorners}},
             20});
  cases.push_back({"GridSample", {{{1, 2, 3, 4}}, {{1, 5, 1, 2}}}, {{"mode", std::string("bilinear")}}, 16});
  cases.push_back({"GridSample", {{{1, 2, 3, 4, 5}}, {{1, 2, 3, 2, 3}}}, {}, 20});
  cases.push_back({"GridSample",
                   {{{1, 2, 1, 4}}, {{1, 2, 3, 2}}},
                   {{"padding_mode", std::string("reflection")}, {"align_corners", int64_t(1)}},
                   20});
  cases.push_back({"AffineGrid", {{{2, 2, 3}}, {{4}, DType::I64, {2, 3, 4, 5}}}, {}, 20});
  cases.push_back(
      {"AffineGrid", {{{1, 3, 4}}, {{5}, DType::I64, {1, 2, 3, 1, 4}}}, {{"align_corners", int64_t(1)}}, 20});
  return cases;
}

std::vector<Case> resizes() {
  std::vector<Case> cases;
  Input none;
  none.absent = true;
  for (const char *mode : {"nearest", "linear", "cubic"})
    for (int64_t antialias : {0, 1})
      for (std::vector<int64_t> sizes : {std::vector<int64_t>{1, 2, 7, 3}, {1, 2, 5, 4}, {1, 1, 5, 9}})
        if (mode != std::string("nearest") || !antialias)
          cases.push_back({"Resize",
                           {{{1, 2, 5, 4}}, none, none, {{4}, DType::I64, sizes}},
                           {{"mode", std::string(mode)}, {"antialias", antialias}},
                           19});
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Grids, HandlersTest, testing::ValuesIn(grids()), caseName);
INSTANTIATE_TEST_SUITE_P(Resizes, HandlersTest, testing::ValuesIn(resizes()), caseName);

} // namespace tilewright::test
