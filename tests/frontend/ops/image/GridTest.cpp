// SPDX-License-Identifier: Apache-2.0
// GridSample, AffineGrid, RoiAlign, and Resize to known sizes.
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

/// Regions reach over the borders of the image: sampleTensor gives corners from -2 to 2, in any order.
std::vector<Case> regions() {
  std::vector<Case> cases;
  for (const char *mode : {"avg", "max"})
    for (const char *transformation : {"half_pixel", "output_half_pixel"})
      for (int64_t samples : {1, 2, 4})
        cases.push_back({"RoiAlign",
                         {{{2, 3, 5, 7}}, {{4, 4}}, {{4}, DType::I64, {1, 0, 1, 0}}},
                         {{"mode", std::string(mode)},
                          {"coordinate_transformation_mode", std::string(transformation)},
                          {"sampling_ratio", samples},
                          {"spatial_scale", 3.0f},
                          {"output_height", int64_t(2)},
                          {"output_width", int64_t(3)}},
                         16});
  for (DType type : {DType::F32, DType::F64})
    cases.push_back({"RoiAlign",
                     {{{1, 2, 1, 4}, type}, {{3, 4}, type}, {{3}, DType::I64, {0, 0, 0}}},
                     {{"sampling_ratio", int64_t(2)}, {"spatial_scale", 1.5f}},
                     10});
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
INSTANTIATE_TEST_SUITE_P(Regions, HandlersTest, testing::ValuesIn(regions()), caseName);
INSTANTIATE_TEST_SUITE_P(Resizes, HandlersTest, testing::ValuesIn(resizes()), caseName);

} // namespace tilewright::test
