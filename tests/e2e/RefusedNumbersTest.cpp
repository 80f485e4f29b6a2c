// SPDX-License-Identifier: Apache-2.0
// Axes, shapes and bounds known only at run time: the compiled plan refuses invalid ones with a sentence that names the
// node, and then still runs valid ones.
#include "tests/e2e/HostContext.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

using Numbers = std::vector<int64_t>;

struct Case {
  std::string op;
  std::vector<Dim> data; // the shape of the data; empty if the operator has only lists of numbers
  size_t lists;          // how many inputs are lists of numbers
  std::vector<Numbers> good;
  std::vector<std::pair<std::vector<Numbers>, std::string>> bad; // and a part of the sentence
  size_t outputs = 1;
  std::string mode = "";
};
std::ostream &operator<<(std::ostream &out, const Case &test) { return out << test.op; }

class RefusedNumbers : public testing::TestWithParam<std::tuple<Case, PlanMode>> {
protected:
  Tensor vectorOf(const Numbers &numbers) {
    Tensor tensor = Tensor::allocate(DType::I64, {static_cast<int64_t>(numbers.size())});
    std::ranges::copy(numbers, tensor.data<int64_t>());
    return tensor;
  }
};

} // namespace

TEST_P(RefusedNumbers, HaveASentence) {
  const auto &[test, mode] = GetParam();
  TinyModel model(18);
  std::vector<std::string> inputs, outputs;
  Shape shape;
  if (!test.data.empty()) {
    model.input(inputs.emplace_back("x"), test.data);
    for (const Dim &dim : test.data)
      shape.push_back(std::get<int>(dim));
  }
  for (size_t i = 0; i < test.lists; ++i) {
    std::vector<Dim> dims;
    if (test.op != "Range")
      dims.push_back(static_cast<int>(test.good[i].size()));
    model.input(inputs.emplace_back("n" + std::to_string(i)), dims, DType::I64);
  }
  for (size_t i = 0; i < test.outputs; ++i)
    model.output(outputs.emplace_back("y" + std::to_string(i)));
  onnx::NodeProto *node = model.node(test.op, inputs, outputs);
  if (!test.mode.empty())
    setAttribute(node, "mode", test.mode);
  auto context = hostContext(optionsOf(model), mode);
  ASSERT_TRUE(context.ok()) << context.status().message();
  auto run = [&](const std::vector<Numbers> &lists) {
    std::vector<Tensor> all;
    if (!test.data.empty())
      all.push_back(sampleTensor(DType::F32, shape));
    for (const Numbers &list : lists) {
      all.push_back(vectorOf(list));
      if (test.op == "Range")
        all.back() = all.back().reshaped({});
    }
    return (*context)->run(all);
  };
  for (const auto &[lists, sentence] : test.bad) {
    auto refused = run(lists);
    ASSERT_FALSE(refused.ok()) << testing::PrintToString(lists);
    EXPECT_EQ(refused.status().code(), Code::Malformed);
    EXPECT_NE(refused.status().message().find(sentence), std::string::npos) << refused.status().message();
    EXPECT_NE(refused.status().message().find("node 'y0'"), std::string::npos) << refused.status().message();
    auto good = run(test.good);
    EXPECT_TRUE(good.ok()) << good.status().message();
  }
  EXPECT_EQ((*context)->counters().hostCalls, 0u);
}

static const std::string axesOf3 = "expected distinct axes from -3 to 2", negative = "expected sizes of at least 0";

INSTANTIATE_TEST_SUITE_P(
    , RefusedNumbers,
    testing::Combine(
        testing::Values(Case{"ReduceSum",
                             {2, 3, 4},
                             1,
                             {{0, 1}},
                             {{{{0, 3}}, axesOf3}, {{{1, 1}}, axesOf3}, {{{-1, 2}}, axesOf3}, {{{-4, 0}}, axesOf3}}},
                        Case{"Reshape",
                             {2, 3},
                             1,
                             {{3, 2}},
                             {{{{5, 1}}, "as many elements"},
                              {{{-1, -1}}, "at most one size of -1"},
                              {{{4, -1}}, "as many elements"},
                              {{{-2, -3}}, negative}}},
                        Case{
                            "Expand", {2, 3}, 1, {{1, 3}}, {{{{2, 4}}, "broadcasts to"}, {{{-1, 3}}, "broadcasts to"}}},
                        Case{"Squeeze",
                             {1, 3},
                             1,
                             {{0}},
                             {{{{1}}, "expected dimension 1 = 1"}, {{{2}}, "expected distinct axes from -2 to 1"}}},
                        Case{"Unsqueeze", {3}, 1, {{0, 1}}, {{{{0, 0}}, axesOf3}, {{{0, 3}}, axesOf3}}},
                        Case{"Slice",
                             {7},
                             4,
                             {{0}, {3}, {0}, {1}},
                             {{{{0}, {3}, {0}, {0}}, "steps other than 0"}, {{{0}, {3}, {1}, {1}}, "from -1 to 0"}}},
                        Case{"Pad", {3}, 1, {{1, 1}}, {{{{-2, -2}}, negative}}},
                        Case{"Pad", {3}, 1, {{1, 1}}, {{{{-5, 4}}, "elements to pad with"}}, 1, "edge"},
                        Case{"Split", {7}, 1, {{3, 4}}, {{{{3, 3}}, "the sum of the parts"}, {{{9, -2}}, negative}}, 2},
                        Case{"Range", {}, 3, {{0}, {3}, {1}}, {{{{0}, {3}, {0}}, "a delta other than 0"}}},
                        Case{"TopK", {3}, 1, {{2}}, {{{{4}}, "k of at most 3"}, {{{-1}}, negative}}, 2}),
        testing::Values(PlanMode::All, PlanMode::None)));
