// SPDX-License-Identifier: Apache-2.0
// Bounds, pads and counts that are inputs: what is read at positions that kernels compute is what the reference reads,
// and positions at which nothing is read are not reported.
#include "tests/e2e/HostContext.h"

#include <algorithm>

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

struct Row {
  const char *name;
  void (*build)(TinyModel &); // of an f32 input x[2, 3] and an int64 input
  std::vector<std::vector<int64_t>> numbers;
};

void addZeros(TinyModel &model) {
  model.integers("zero", {1}, {0});
  model.integers("one", {1}, {1});
  model.floats("other", {2, 3}, {1, 2, 3, 4, 5, 6});
}

void concat(TinyModel &model, const std::vector<std::string> &parts) {
  setAttribute(model.node("Concat", parts, {"y"}), "axis", int64_t(1));
}

const Row rows[] = {
    {"SliceBeforeATensor",
     [](TinyModel &model) {
       model.node("Slice", {"x", "zero", "i", "one"}, {"part"});
       concat(model, {"part", "other"});
     },
     {{3}, {1}, {0}, {-1}}},
    {"SliceBehindATensor",
     [](TinyModel &model) {
       model.integers("end", {1}, {9});
       model.node("Slice", {"x", "i", "end", "one"}, {"part"});
       concat(model, {"other", "part"});
     },
     {{0}, {2}, {3}, {-2}}},
    {"Roll",
     [](TinyModel &model) {
       model.integers("end", {1}, {9});
       model.node("Slice", {"x", "i", "end", "one"}, {"last"});
       model.node("Slice", {"x", "zero", "i", "one"}, {"first"});
       concat(model, {"last", "first"});
     },
     {{0}, {1}, {3}}},
    {"SliceInPadding",
     [](TinyModel &model) {
       model.node("Slice", {"x", "zero", "i", "one"}, {"part"});
       model.integers("pads", {4}, {0, 1, 0, 2});
       model.node("Pad", {"part", "pads"}, {"y"});
     },
     {{3}, {1}, {-1}}},
    {"SliceOfNothing", // the second slice selects from no elements, for which no index is valid
     [](TinyModel &model) {
       model.node("Slice", {"x", "zero", "i", "one"}, {"part"});
       model.node("Neg", {"i"}, {"end"}); // 0 or before the last
       model.node("Slice", {"part", "zero", "end", "one"}, {"less"});
       concat(model, {"less", "other"});
     },
     {{3}, {2}, {1}, {0}}},
    {"PaddedSliceTimesTensor", // all loops have known sizes, what is padded does not
     [](TinyModel &model) {
       model.integers("five", {1}, {5});
       model.node("Slice", {"i", "zero", "one"}, {"end"});
       model.node("Slice", {"i", "one", "five"}, {"pads"});
       model.node("Slice", {"x", "zero", "end", "one"}, {"part"});
       model.node("Pad", {"part", "pads"}, {"padded"});
       model.node("Mul", {"padded", "other"}, {"y"});
     },
     {{2, 0, 1, 0, 0}, {2, 0, 0, 0, 1}, {3, 0, 0, 0, 0}}},
    {"CallOfAnEarlierSize", // the sum makes the last size of TopK's results the Range's
     [](TinyModel &model) {
       model.integers("none", {}, {0});
       model.integers("step", {}, {1});
       model.integers("fifty", {}, {50});
       model.integers("column", {2, 1, 1, 1}, {7, 8});
       model.node("Expand", {"column", "i"}, {"wide"});
       setAttribute(model.node("Split", {"i"}, {"a", "b", "c", "k"}), "axis", int64_t(0));
       model.node("Squeeze", {"k"}, {"n"});
       model.node("Range", {"none", "n", "step"}, {"range"});
       setAttribute(model.node("Cast", {"wide"}, {"floats"}), "to", int64_t(DType::F32));
       model.node("TopK", {"floats", "k"}, {"largest", "at"});
       model.node("Mod", {"at", "fifty"}, {"rest"});
       model.node("Mul", {"n", "rest"}, {"product"});
       model.node("Add", {"product", "range"}, {"y"});
     },
     {{2, 1, 1, 3}, {2, 1, 3, 2}}},
};

class RunTimePositions : public testing::TestWithParam<Row> {};

} // namespace

TEST_P(RunTimePositions, AreThoseOfTheReference) {
  const Row &row = GetParam();
  auto count = static_cast<int>(row.numbers[0].size());
  TinyModel model;
  model.input("x", {2, 3}).input("i", {count}, DType::I64).output("y");
  addZeros(model);
  row.build(model);
  auto reference = contextOf(model, PlanMode::Reference);
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  for (PlanMode mode : {PlanMode::All, PlanMode::None}) {
    auto context = contextOf(model, mode);
    ASSERT_TRUE(context.ok()) << context.status().message();
    for (const std::vector<int64_t> &numbers : row.numbers) {
      SCOPED_TRACE(std::string(name(mode)) + " " + std::to_string(numbers[0]));
      std::vector<Tensor> inputs{sampleTensor(DType::F32, {2, 3}), Tensor::allocate(DType::I64, {count})};
      std::ranges::copy(numbers, inputs[1].data<int64_t>());
      auto want = (*reference)->run(inputs), got = (*context)->run(inputs);
      ASSERT_TRUE(want.ok()) << want.status().message();
      ASSERT_TRUE(got.ok()) << got.status().message();
      expectClose(got->front(), want->front(), "y");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, RunTimePositions, testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.name); });
