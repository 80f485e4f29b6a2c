// SPDX-License-Identifier: Apache-2.0
// Sizes that a reference kernel determines while the plan runs: steps behind it are bound, checked and placed then.
#include "tests/e2e/HostContext.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

class LateSizes : public testing::TestWithParam<PlanMode> {
protected:
  /// The model's first output, from a plan for every size of its input.
  Expected<Tensor> run(const TinyModel &model, const Tensor &input) {
    auto outputs = runOnHost(optionsOf(model), GetParam(), {&input, 1});
    return outputs ? Expected<Tensor>(outputs->front()) : outputs.status();
  }

  void expectShape(const TinyModel &model, const Tensor &input, const Shape &shape) {
    auto output = run(model, input);
    ASSERT_TRUE(output.ok()) << output.status().message();
    EXPECT_EQ(output->shape(), shape);
  }
};

/// Adds `to`, the positive elements of x, whose number depends on the data.
TinyModel &positives(TinyModel &model, const std::string &to) {
  model.input("x", {"n"}).output("y").floats("nothing", {}, {0});
  model.node("Greater", {"x", "nothing"}, {"isPositive"});
  model.node("Compress", {"x", "isPositive"}, {to});
  return model;
}

/// `count` elements, of which `positive` are positive.
Tensor numbers(int64_t count, int64_t positive) {
  Tensor tensor = Tensor::allocate(DType::F32, {count});
  for (int64_t i = 0; i < count; ++i)
    tensor.data<float>()[i] = i < positive ? 1.0f + static_cast<float>(i) : -1.0f;
  return tensor;
}

} // namespace

TEST_P(LateSizes, OfAnOutputOfUnsignedBytes) {
  TinyModel model;
  model.input("x", {1, 1, "n"}, DType::U8).output("y");
  onnx::NodeProto *pool = model.node("MaxPool", {"x"}, {"y"});
  setAttribute(pool, "kernel_shape", std::vector<int64_t>{2});
  setAttribute(pool, "strides", std::vector<int64_t>{5});
  expectShape(model, sampleTensor(DType::U8, {1, 1, 4}), {1, 1, 1});
  expectShape(model, sampleTensor(DType::U8, {1, 1, 23}), {1, 1, 5});
}

TEST_P(LateSizes, UnderAnotherShape) {
  TinyModel model;
  positives(model, "a").node("Flatten", {"a"}, {"y"});
  expectShape(model, numbers(5, 3), {3, 1});
  expectShape(model, numbers(40, 23), {23, 1});
}

/// Broadcasting needs to know which sizes are 1.
TEST_P(LateSizes, OfCompressAreLateAlongItsAxisOnly) {
  TinyModel model;
  positives(model, "a").floats("row", {1, 6}, std::vector<float>(6, 0.5f));
  model.integers("one", {1}, {1});
  model.node("Unsqueeze", {"x", "one"}, {"column"});
  setAttribute(model.node("Compress", {"column", "isPositive"}, {"chosen"}), "axis", int64_t(0));
  model.node("Add", {"chosen", "row"}, {"y"});
  expectShape(model, numbers(5, 3), {3, 6});
  expectShape(model, numbers(40, 23), {23, 6});
}

TEST_P(LateSizes, OfCompressAreKnownWithItsCondition) {
  TinyModel model;
  model.input("x", {"n", 2}).output("y");
  model.initializer("second", {2}, DType::Bool)->set_raw_data(std::string("\0\1", 2));
  setAttribute(model.node("Compress", {"x", "second"}, {"column"}), "axis", int64_t(-1));
  model.node("Mul", {"x", "column"}, {"y"});
  expectShape(model, sampleTensor(DType::F32, {1, 2}), {1, 2});
  expectShape(model, sampleTensor(DType::F32, {7, 2}), {7, 2});
}

/// The caches are as long as a number that the model computes from its data.
TEST_P(LateSizes, OfCaches) {
  TinyModel model;
  model.importDomain("com.microsoft", 1).input("x", {1, 5, 16}).output("y");
  model.floats("past", {1, 2, 3, 8}, std::vector<float>(48, 0.5f));
  model.initializer("one", {1}, DType::I32)->add_int32_data(1);
  setAttribute(model.node("ReduceMax", {"x"}, {"largest"}), "keepdims", int64_t(0));
  setAttribute(model.node("Cast", {"largest"}, {"total"}), "to", int64_t(DType::I32));
  model.node("Sub", {"total", "one"}, {"last"});
  onnx::NodeProto *node =
      model.node("GroupQueryAttention", {"x", "x", "x", "past", "past", "last", "total"}, {"attended", "y", "values"});
  node->set_domain("com.microsoft");
  setAttribute(node, "num_heads", int64_t(2)), setAttribute(node, "kv_num_heads", int64_t(2));
  for (int64_t total : {8, 11}) {
    Tensor x = sampleTensor(DType::F32, {1, 5, 16});
    x.data<float>()[0] = static_cast<float>(total);
    expectShape(model, x, {1, 2, total, 8});
  }
}

TEST_P(LateSizes, AreGuarded) {
  TinyModel model;
  positives(model, "a").floats("table", {16}, std::vector<float>(16, 0.5f));
  model.integers("zero", {1}, {0});
  model.node("Shape", {"a"}, {"length"});
  model.node("Slice", {"table", "zero", "length"}, {"part"});
  model.node("Add", {"a", "part"}, {"y"});
  expectShape(model, numbers(20, 5), {5});
  auto tooLong = run(model, numbers(40, 23));
  ASSERT_FALSE(tooLong.ok());
  EXPECT_EQ(tooLong.status().code(), Code::Malformed) << tooLong.status().message();
}

/// One operation reads the size of Compress's result, another one computes Compress's input, both from x: they must not
/// be in one kernel.
TEST_P(LateSizes, AreNotReadBeforeTheyAreKnown) {
  TinyModel model;
  model.input("x", {3}).output("y").floats("nothing", {}, {0});
  model.node("Add", {"x", "x"}, {"twice"});
  model.node("Greater", {"x", "nothing"}, {"isPositive"});
  model.node("Compress", {"twice", "isPositive"}, {"a"});
  model.node("Shape", {"a"}, {"shape"});
  setAttribute(model.node("Cast", {"shape"}, {"length"}), "to", int64_t(DType::F32));
  model.node("Mul", {"x", "length"}, {"y"});
  expectShape(model, numbers(3, 2), {3});
}

INSTANTIATE_TEST_SUITE_P(Modes, LateSizes, testing::Values(PlanMode::All, PlanMode::None, PlanMode::Reference),
                         [](const auto &info) { return std::string(name(info.param)); });
