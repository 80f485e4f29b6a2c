// SPDX-License-Identifier: Apache-2.0
// Models that compute the same fused, unfused and by the reference, and whose groups for a GPU do so on the host: each
// is the smallest of those with which some of these once differed, or with which compiling failed.
#include "tests/ScratchFolder.h"
#include "tests/e2e/HostContext.h"

#include "tools/tilewright/values/Compare.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

struct Row {
  const char *name;
  TinyModel (*model)();
  DType type;
  Shape input;
  bool isNegative = false; // all of its elements
};

/// The largest element of a part, which is 0 if what lies beside the part counts.
TinyModel largestOfPart() {
  TinyModel m(20);
  m.input("x", {3, 2, "L"}, DType::F16).output("y");
  m.integers("axis", {1}, {-1}), m.integers("shape", {2}, {2, -1});
  onnx::NodeProto *split = m.node("Split", {"x"}, {"b", "c"});
  setAttribute(split, "num_outputs", int64_t(2)), setAttribute(split, "axis", int64_t(-1));
  m.node("Reshape", {"b", "shape"}, {"e"}), m.node("ReduceMax", {"e", "axis"}, {"y"});
  return m;
}

/// Of five columns of the filter two see padding alone. What is left is no multiple of four, and behind it, in the
/// filter, is not zero.
TinyModel filterBesidePadding() {
  TinyModel m(20);
  m.input("x", {4, 1, 3}, DType::U8).output("y");
  onnx::TensorProto *filter = m.initializer("w", {16, 1, 5}, DType::U8);
  for (int i = 0; i < 16 * 5; ++i)
    filter->add_int32_data(i % 7 + 1);
  m.initializer("zero", {}, DType::U8)->add_int32_data(2);
  setAttribute(m.node("ConvInteger", {"x", "w", "zero"}, {"y"}), "pads", std::vector<int64_t>{1, 1});
  return m;
}

/// A transposed convolution with strides that do not divide its result's sizes, 11 and 23.
TinyModel transposedToOddSizes() {
  TinyModel m(17);
  m.input("x", {"n", 8, 6, "w"}).output("y");
  std::vector<float> filter, bias;
  for (int i = 0; i < 8 * 5 * 3 * 3; ++i)
    filter.push_back(static_cast<float>(i % 11 - 5));
  for (int i = 0; i < 5; ++i)
    bias.push_back(static_cast<float>(i));
  m.floats("f", {8, 5, 3, 3}, filter), m.floats("b", {5}, bias);
  onnx::NodeProto *node = m.node("ConvTranspose", {"x", "f", "b"}, {"z"});
  setAttribute(node, "strides", std::vector<int64_t>{2, 2});
  setAttribute(node, "pads", std::vector<int64_t>{1, 1, 1, 1});
  m.node("Relu", {"z"}, {"y"});
  return m;
}

/// A window that no kernel for GPUs has loops for, beside an operation that reads the same.
TinyModel besideLargeWindow() {
  TinyModel m(20);
  m.input("x", {1, 1, 520, 520}).output("y").output("z");
  m.node("Relu", {"x"}, {"z"});
  setAttribute(m.node("AveragePool", {"x"}, {"y"}), "kernel_shape", std::vector<int64_t>{513, 513});
  return m;
}

/// Constant outputs whose sizes only the input tells.
TinyModel equalToItself() {
  TinyModel m(18);
  m.input("x", {8, "N"}, DType::I64).output("y").output("z");
  m.node("GreaterOrEqual", {"x", "x"}, {"y"}), m.node("BitwiseXor", {"x", "x"}, {"z"});
  return m;
}

/// Brain floats that are repeated along rows, and moved otherwise.
TinyModel repeatedBrains() {
  TinyModel m(22);
  m.input("x", {8, 6, 1, 1}, DType::BF16).output("y").output("z");
  m.integers("shape", {4}, {8, 6, 6, 8});
  m.node("Expand", {"x", "shape"}, {"y"});
  setAttribute(m.node("Transpose", {"y"}, {"z"}), "perm", std::vector<int64_t>{3, 1, 0, 2});
  return m;
}

const Row rows[] = {{"LargestOfPart", largestOfPart, DType::F16, {3, 2, 6}, /*isNegative=*/true},
                    {"FilterBesidePadding", filterBesidePadding, DType::U8, {4, 1, 3}},
                    {"TransposedToOddSizes", transposedToOddSizes, DType::F32, {2, 8, 6, 12}},
                    {"BesideLargeWindow", besideLargeWindow, DType::F32, {1, 1, 520, 520}},
                    {"EqualToItself", equalToItself, DType::I64, {8, 5}},
                    {"RepeatedBrains", repeatedBrains, DType::BF16, {8, 6, 1, 1}}};

class Modes : public testing::TestWithParam<Row> {
protected:
  void expectAsReference(const char *what, const Expected<std::vector<Tensor>> &got) const {
    ASSERT_TRUE(got.ok()) << what << ": " << got.status().message();
    for (size_t i = 0; i < reference->size(); ++i)
      EXPECT_EQ(compare("output " + std::to_string(i), (*got)[i], (*reference)[i]).sentence, "") << what;
  }

  Expected<std::vector<Tensor>> reference = Status();
};

TEST_P(Modes, ComputeWhatTheReferenceDoes) {
  const Row &row = GetParam();
  Tensor input = sampleTensor(row.type, row.input);
  for (int64_t i = 0; row.isNegative && i < input.count(); ++i)
    input.data<uint16_t>()[i] |= 0x8000;
  CompileOptions host = optionsOf(row.model());
  reference = runOnHost(host, PlanMode::Reference, {&input, 1});
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  expectAsReference("fused", runOnHost(host, PlanMode::All, {&input, 1}));
  expectAsReference("unfused", runOnHost(host, PlanMode::None, {&input, 1}));
  ScratchFolder folder;
  CompileOptions gpu = host, resumed;
  gpu.targets = {"sm_90a"}, gpu.dumpFolder = folder / "stages";
  auto compiled = compileModel(gpu);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  resumed.modelPath = folder / "stages/sm_90a-all/2-group.mlir";
  expectAsReference("groups of a GPU", runOnHost(resumed, PlanMode::All, {&input, 1}));
}

INSTANTIATE_TEST_SUITE_P(Rows, Modes, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &info) { return std::string(info.param.name); });

} // namespace
