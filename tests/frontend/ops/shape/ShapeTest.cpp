// SPDX-License-Identifier: Apache-2.0
// Handlers that move elements: reshapes, slices, pads, gathers.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> shapes() {
  using List = std::vector<int64_t>;
  constexpr int64_t toEnd = std::numeric_limits<int64_t>::max(), toStart = std::numeric_limits<int64_t>::min();
  return {
      {"Reshape", {{{2, 3, 4}}, {{2}, DType::I64, {0, -1}}}},
      {"Flatten", {{{2, 3, 4}}}, {{"axis", int64_t(2)}}},
      {"Squeeze", {{{2, 1, 3, 1}}, {{1}, DType::I64, {-1}}}},
      {"Unsqueeze", {{{2, 3}}, {{2}, DType::I64, {0, -1}}}},
      {"Transpose", {{{2, 3, 4}}}},
      {"Transpose", {{{2, 3, 4}}}, {{"perm", List{1, 2, 0}}}},
      {"Slice", {{{8, 10}}, {{2}, DType::I64, {1, -3}}, {{2}, DType::I64, {toEnd, -1}}}},
      {"Slice",
       {{{8, 10}},
        {{1}, DType::I64, {-1}},
        {{1}, DType::I64, {toStart}},
        {{1}, DType::I64, {1}},
        {{1}, DType::I64, {-3}}}},
      {"Slice",
       {{{8, 10}}, {{1}, DType::I64, {7}}, {{1}, DType::I64, {1}}, {{1}, DType::I64, {0}}, {{1}, DType::I64, {-2}}}},
      {"Slice", {{{8, 10}}}, {{"starts", List{2}}, {"ends", List{100}}, {"axes", List{1}}}, 9},
      {"Split", {{{7, 4}}}, {{"axis", int64_t(1)}}, 17, 2},
      {"Split", {{{7, 4}}}, {{"num_outputs", int64_t(3)}}, 18, 3},
      {"Split", {{{7, 4}}, {{2}, DType::I64, {5, 2}}}, {}, 17, 2},
      {"Concat", {{{2, 3}}, {{2, 1}}, {{2, 5}}}, {{"axis", int64_t(-1)}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {1, 0, 2, 3}}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {1, 2, 0, 2}}}, {{"mode", std::string("reflect")}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {1, 2, 0, 2}}}, {{"mode", std::string("edge")}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {-1, 2, 0, -1}}}},
      {"Crop", {{{2, 3, 8, 9}}}, {{"border", List{1, 2, 3, 1}}}, 7},
      {"Crop", {{{2, 3, 8, 9}}}, {{"border", List{1, 2, 0, 0}}, {"scale", List{4, 5}}}, 7},
      {"Expand", {{{3, 1}}, {{3}, DType::I64, {2, 1, 4}}}},
      {"Tile", {{{3, 2}}, {{2}, DType::I64, {2, 3}}}},
      {"DepthToSpace", {{{2, 8, 3, 4}}}, {{"blocksize", int64_t(2)}}},
      {"DepthToSpace", {{{2, 8, 3, 4}}}, {{"blocksize", int64_t(2)}, {"mode", std::string("CRD")}}},
      {"SpaceToDepth", {{{2, 2, 4, 6}}}, {{"blocksize", int64_t(2)}}},
      {"Trilu", {{{4, 5}}}, {{"upper", int64_t(0)}}},
      {"EyeLike", {{{4, 5}}}, {{"k", int64_t(1)}}},
      {"Gather", {{{5, 4}}, {{2, 2}, DType::I64, {0, 4, -1, 2}}}, {{"axis", int64_t(0)}}},
      {"Gather", {{{5, 4}}, {{2}, DType::I64, {1, 3}}}, {{"axis", int64_t(1)}}},
      {"GatherElements", {{{3, 3}}, {{2, 3}, DType::I64, {1, 2, 0, -1, 0, 0}}}, {{"axis", int64_t(0)}}},
      {"GatherND", {{{3, 4, 2}}, {{2, 2}, DType::I64, {1, 2, -1, 0}}}},
      {"GatherND", {{{2, 3, 4}}, {{2, 1}, DType::I64, {1, 2}}}, {{"batch_dims", int64_t(1)}}},
      {"ScatterND", {{{7, 3}}, {{2, 1}, DType::I64, {2, 3}}, {{2, 3}}}},
      {"ScatterND", {{{7, 3}, DType::F16}, {{3, 1}, DType::I64, {-1, 0, 4}}, {{3, 3}, DType::F16}}},
      {"ScatterND", {{{4, 5}, DType::I32}, {{2, 2, 2}, DType::I64, {0, 1, 3, -1, 2, 2, 1, 0}}, {{2, 2}, DType::I32}}},
      {"ScatterND", {{{4, 3, 2}}, {{1, 3}, DType::I64, {3, 2, 1}}, {{1}}}},
      {"ScatterND", {{{4, 2}}, {{2, 1}, DType::I64, {1, 1}}, {{2, 2}}}},
      {"ScatterElements", {{{3, 4}}, {{2, 2}, DType::I64, {1, -1, 0, 2}}, {{2, 2}}}, {{"axis", int64_t(1)}}},
      {"ScatterElements", {{{3, 3}}, {{2, 3}, DType::I64, {1, 0, 2, 0, 2, 1}}, {{2, 3}}}, {{"axis", int64_t(0)}}},
      {"CumSum", {{{3, 4}}, {{}, DType::I64, {1}}}},
      {"CumSum", {{{3, 4}}, {{}, DType::I64, {0}}}, {{"exclusive", int64_t(1)}, {"reverse", int64_t(1)}}},
      {"Dropout", {{{3, 4}}}, {}, 11},
  };
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Shapes, HandlersTest, testing::ValuesIn(shapes()), caseName);

} // namespace tilewright::test
