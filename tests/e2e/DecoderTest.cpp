// SPDX-License-Identifier: Apache-2.0
// A decoder whose caches grow from call to call: one artifact with symbolic sizes serves every length.
#include "tests/e2e/HostContext.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

void withAxis(onnx::NodeProto *node, int64_t axis) { setAttribute(node, "axis", axis); }

/// An attention layer that reads its caches and returns them extended by the new tokens, with positions from a table.
TinyModel decoder() {
  TinyModel m;
  m.input("x", {"b", "s", 8}).input("pastKeys", {"b", 2, "p", 4}).input("pastValues", {"b", 2, "p", 4});
  m.output("y").output("keys").output("values");
  m.integers("heads", {4}, {0, 0, 2, 4}), m.integers("joined", {3}, {0, 0, 8}), m.integers("one", {1}, {1}),
      m.integers("two", {1}, {2});
  m.integers("three", {1}, {3}), m.integers("zero", {1}, {0});
  for (std::string name : {"wq", "wk", "wv", "table"}) {
    bool isTable = name == "table";
    Tensor values = sampleTensor(DType::F32, {isTable ? 64 : 8, 8}, name[1]);
    m.floats(name, {isTable ? 64 : 8, 8},
             std::vector<float>(values.data<float>(), values.data<float>() + values.count()));
  }
  m.floats("scale", {}, {0.5});
  m.node("Shape", {"pastKeys"}, {"pastShape"});
  m.node("Gather", {"pastShape", "two"}, {"past"});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "one"}, {"new"});
  m.node("Add", {"past", "new"}, {"total"});
  m.node("Slice", {"table", "past", "total", "zero"}, {"positions"});
  m.node("Add", {"x", "positions"}, {"h"});
  for (std::string part : {"q", "k", "v"}) {
    m.node("MatMul", {"h", "w" + part}, {part + "0"});
    m.node("Reshape", {part + "0", "heads"}, {part + "1"});
    setAttribute(m.node("Transpose", {part + "1"}, {part}), "perm", std::vector<int64_t>{0, 2, 1, 3});
  }
  withAxis(m.node("Concat", {"pastKeys", "k"}, {"keys"}), 2);
  withAxis(m.node("Concat", {"pastValues", "v"}, {"values"}), 2);
  setAttribute(m.node("Transpose", {"keys"}, {"turned"}), "perm", std::vector<int64_t>{0, 1, 3, 2});
  m.node("MatMul", {"q", "turned"}, {"s0"});
  m.node("Mul", {"s0", "scale"}, {"s1"});
  withAxis(m.node("Softmax", {"s1"}, {"weights"}), -1);
  m.node("MatMul", {"weights", "values"}, {"o0"});
  setAttribute(m.node("Transpose", {"o0"}, {"o1"}), "perm", std::vector<int64_t>{0, 2, 1, 3});
  m.node("Reshape", {"o1", "joined"}, {"y"});
  return m;
}

/// Ten steps with the caches fed back, beginning with empty ones: three tokens first, then one per step.
TEST(Decoder, RunsTenStepsWithItsCachesFedBack) {
  TinyModel model = decoder();
  for (PlanMode mode : {PlanMode::All, PlanMode::None}) {
    auto context = contextOf(model, mode);
    ASSERT_TRUE(context.ok()) << context.status().message();
    Tensor keys = Tensor::allocate(DType::F32, {2, 2, 0, 4}), values = keys;
    for (int step = 0; step < 10; ++step) {
      std::vector<Tensor> inputs{sampleTensor(DType::F32, {2, step ? 1 : 3, 8}, 7 + step), keys, values};
      std::vector<Shape> shapes = {inputs[0].shape(), inputs[1].shape(), inputs[2].shape()};
      auto reference = contextOf(model, PlanMode::Reference, shapes);
      ASSERT_TRUE(reference.ok()) << reference.status().message();
      auto want = (*reference)->run(inputs), got = (*context)->run(inputs);
      ASSERT_TRUE(want.ok()) << want.status().message();
      ASSERT_TRUE(got.ok()) << "step " << step << ": " << got.status().message();
      for (size_t i = 0; i < want->size(); ++i)
        expectClose((*got)[i], (*want)[i], "step " + std::to_string(step) + ", output " + std::to_string(i));
      keys = (*got)[1], values = (*got)[2];
      ASSERT_EQ(keys.shape(), (Shape{2, 2, 3 + step, 4}));
    }
  }
}

} // namespace
