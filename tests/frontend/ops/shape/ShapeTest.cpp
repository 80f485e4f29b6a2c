// SPDX-License-Identifier: Apache-2.0
// Handlers that move elements: reshapes, slices, pads, gathers.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<int64_t> ascending(int64_t from, int64_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

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
      {"Gather", {{{2, 200}}, {{100}, DType::I64, ascending(50, 100)}}, {{"axis", int64_t(1)}}},
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

/// `op` with each reduction that combines what is written with what is there.
void addCombining(std::vector<Case> &cases, Case test) {
  for (const char *reduction : {"add", "mul", "max", "min"}) {
    cases.push_back(test);
    cases.back().attributes.emplace_back("reduction", std::string(reduction));
  }
}

std::vector<Case> scatters() {
  // The corner [1:3, 2:5] of a matrix, first by rows, then with columns in another order.
  std::vector<int64_t> box = {1, 2, 1, 3, 1, 4, 2, 2, 2, 3, 2, 4}, mixed = {1, 4, 1, -3, 2, 4, 2, -3};
  std::vector<Case> cases = {
      {"ScatterND", {{{4, 6}}, {{2, 3, 2}, DType::I64, box}, {{2, 3}}}},
      {"ScatterND", {{{4, 6}}, {{2, 2, 2}, DType::I64, mixed}, {{2, 2}}}},
      {"ScatterND", {{{4, 6}}, {{3, 2, 2}, DType::I64, {1, 2, 2, 2, 1, 3, 2, 3, 1, 4, 2, 4}}, {{3, 2}}}},
      {"ScatterND", {{{4, 6}}, fed({2, 2, 2}, mixed), {{2, 2}}}},
      {"ScatterND", {{{7, 3}}, fed({3, 1}, {5, -7, 2}), {{3, 3}}}},
      {"ScatterND", {{{7, 3}, DType::F16}, fed({1}, {-2}), {{3}, DType::F16}}},
      {"ScatterND", {{{4, 5}, DType::I32}, fed({3, 2}, {0, 1, 3, -1, 2, 2}), {{3}, DType::I32}}},
      {"ScatterND", {{{4, 2}}, fed({3, 1}, {1, 2, -3}), {{3, 2}}}},
      {"ScatterElements", {{{3, 9}}, fed({3, 1}, {4, -1, 0}), {{3, 1}}}, {{"axis", int64_t(1)}}},
      {"ScatterElements", {{{3, 9}}, fed({2, 3}, {4, -1, 0, 8, 2, 2}), {{2, 3}}}, {{"axis", int64_t(1)}}},
      {"ScatterElements", {{{3, 4, 2}}, fed({1, 2, 2}, {2, 0, -1, 1}), {{1, 2, 2}}}, {{"axis", int64_t(0)}}},
      {"ScatterElements", {{{6}, DType::I64}, fed({2}, {5, 0}), {{2}, DType::I64}}},
  };
  for (const char *mode : {"linear", "circular"}) {
    cases.push_back(
        {"TensorScatter", {{{2, 3, 7, 4}}, {{2, 3, 2, 4}}, fed({2}, {5, 0})}, {{"mode", std::string(mode)}}, 24});
    cases.push_back({"TensorScatter",
                     {{{2, 7}, DType::F16}, {{2, 3}, DType::F16}},
                     {{"mode", std::string(mode)}, {"axis", int64_t(1)}},
                     24});
  }
  cases.push_back(
      {"TensorScatter", {{{2, 7, 2}}, {{2, 3, 2}}, fed({2}, {5, 7})}, {{"mode", std::string("circular")}}, 24});
  addCombining(cases, {"ScatterND", {{{4, 6}}, {{2, 3, 2}, DType::I64, box}, {{2, 3}}}, {}, 18});
  addCombining(cases, {"ScatterND", {{{4, 3}}, fed({3, 1}, {1, -3, 0}), {{3, 3}}}, {}, 18});
  addCombining(cases, {"ScatterND", {{{4, 3}}, {{3, 2}, DType::I64, {1, 2, -3, 2, 0, 0}}, {{3}}}, {}, 18});
  addCombining(cases, {"ScatterElements", {{{3, 9}}, fed({3, 1}, {4, -1, 0}), {{3, 1}}}, {{"axis", int64_t(1)}}, 18});
  addCombining(cases,
               {"ScatterElements", {{{2, 5}}, fed({2, 3}, {4, -1, 0, 2, 2, 2}), {{2, 3}}}, {{"axis", int64_t(1)}}, 18});
  const Input flags{{4, 3}, DType::Bool}, rows{{3, 3}, DType::Bool}, row{{3}, DType::Bool};
  addCombining(cases, {"ScatterND", {flags, {{1, 1}, DType::I64, {2}}, {{1, 3}, DType::Bool}}, {}, 18});
  addCombining(cases, {"ScatterND", {flags, fed({3, 1}, {1, -3, 0}), rows}, {}, 18});
  addCombining(cases, {"ScatterND", {flags, {{3, 2}, DType::I64, {1, 2, -3, 2, 0, 0}}, row}, {}, 18});
  addCombining(cases, {"ScatterElements", {flags, {{1, 3}, DType::I64, {1, -1, 0}}, {{1, 3}, DType::Bool}}, {}, 18});
  addCombining(cases, {"ScatterElements", {flags, fed({3, 3}, {1, 1, 2, 3, 1, 0, 2, 0, 0}), rows}, {}, 18});
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Scatters, HandlersTest, testing::ValuesIn(scatters()), caseName);
INSTANTIATE_TEST_SUITE_P(Shapes, HandlersTest, testing::ValuesIn(shapes()), caseName);

TEST(ScatterTest, RefusesConstantIndicesBeyondTheirDimension) {
  using Limits = std::numeric_limits<int64_t>;
  for (int64_t index : {int64_t(4), int64_t(-5), Limits::max(), Limits::min()}) {
    TinyModel model(18, 10);
    model.input("x", {4, 3}).input("updates", {1, 3}).output("y");
    model.integers("indices", {1, 1}, {index});
    model.node("ScatterND", {"x", "indices", "updates"}, {"y"});
    mlir::MLIRContext context;
    ImportReport report;
    auto module = importModelBytes(context, model.bytes(), ".", {}, &report);
    ASSERT_FALSE(module.ok()) << index;
    EXPECT_NE(module.status().message().find("out of range for dimension 0 of size 4"), std::string::npos)
        << module.status().message();
  }
}

} // namespace tilewright::test
