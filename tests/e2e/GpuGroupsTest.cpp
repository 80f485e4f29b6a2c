// SPDX-License-Identifier: Apache-2.0
// What the kernels of a GPU compute, without one: a model is grouped for sm_90a, and its groups are then compiled for
// the host. So rules that only GPUs have (pairs and parts of products, states that are stored twice, windows that are
// copied or turned, columns that are held) are compared with what the host's own groups compute.
#include "tests/ScratchFolder.h"
#include "tests/e2e/HostContext.h"

#include "tools/tilewright/values/Compare.h"

#include <fstream>
#include <sstream>

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

struct Row {
  const char *name, *mark; // what the text of the groups for sm_90a has
  TinyModel (*model)();
  DType type;
  std::vector<Shape> inputs;
};

void weights(TinyModel &m, const std::string &name, const Shape &shape, DType type = DType::F32, uint64_t seed = 7) {
  Tensor values = sampleTensor(type, shape, seed);
  onnx::TensorProto *tensor = m.initializer(name, {shape.begin(), shape.end()}, type);
  tensor->set_raw_data(values.bytes(), values.byteSize());
}

TinyModel convolution(std::vector<Dim> sizes, const Shape &filter, const char *op = "Conv") {
  TinyModel m;
  m.input("x", std::move(sizes)).output("y");
  weights(m, "w", filter);
  onnx::NodeProto *node = m.node(op, {"x", "w"}, {"z"});
  if (op == std::string("Conv"))
    setAttribute(node, "pads", std::vector<int64_t>(2 * (filter.size() - 2), 1));
  m.node("Relu", {"z"}, {"y"});
  return m;
}

/// A convolution that is padded unevenly.
TinyModel unevenConvolution(DType type, std::vector<Dim> sizes, const Shape &filter, int64_t stride,
                            int64_t groups = 1) {
  TinyModel m(18);
  m.input("x", std::move(sizes), type).output("y");
  weights(m, "w", filter, type);
  onnx::NodeProto *node = m.node("Conv", {"x", "w"}, {"z"});
  setAttribute(node, "pads", std::vector<int64_t>{filter.back() / 2, 1, 0, filter.back() - 1});
  setAttribute(node, "strides", std::vector<int64_t>{stride, stride});
  setAttribute(node, "group", groups);
  m.node("Relu", {"z"}, {"y"});
  return m;
}

/// Each image is convolved with weights of its own, as images of one convolution's groups. A ConvTranspose's
/// weights are [C, O, 3, 3].
TinyModel modulated(const char *op, DType type, int images, int channels, int results) {
  TinyModel m(18);
  bool isTransposed = op != std::string("Conv");
  m.input("x", {images, channels, 7, 9}, type).output("y");
  auto shape = [&](const char *name, std::vector<int64_t> sizes) {
    onnx::TensorProto *tensor = m.initializer(name, {static_cast<int64_t>(sizes.size())}, DType::I64);
    for (int64_t size : sizes)
      tensor->add_int64_data(size);
  };
  shape("style", isTransposed ? std::vector<int64_t>{images, channels, 1, 1, 1}
                              : std::vector<int64_t>{images, 1, channels, 1, 1});
  shape("one", {1, images * channels, 7, 9}), shape("each", {images, results, isTransposed ? 14 : 7, -1});
  shape("joined", {images * (isTransposed ? channels : results), isTransposed ? results : channels, 3, 3});
  Shape filter = isTransposed ? Shape{channels, results, 3, 3} : Shape{results, channels, 3, 3};
  weights(m, "w", filter, type);
  m.node("GlobalAveragePool", {"x"}, {"mean"}), m.node("Reshape", {"mean", "style"}, {"s"});
  m.node("Mul", {"w", "s"}, {"own"}), m.node("Reshape", {"own", "joined"}, {"all"});
  m.node("Reshape", {"x", "one"}, {"channels"});
  onnx::NodeProto *node = m.node(op, {"channels", "all"}, {"z"});
  setAttribute(node, "group", int64_t(images)), setAttribute(node, "pads", std::vector<int64_t>(4, 1));
  if (isTransposed) {
    setAttribute(node, "strides", std::vector<int64_t>{2, 2});
    setAttribute(node, "output_padding", std::vector<int64_t>{1, 1});
  }
  m.node("Reshape", {"z", "each"}, {"images"}), m.node("Relu", {"images"}, {"y"});
  return m;
}

/// A softmax over the middle dimension.
TinyModel columnSoftmax() {
  TinyModel m(18);
  m.input("x", {"n", 37, 20}, DType::F16).output("y");
  setAttribute(m.node("Softmax", {"x"}, {"y"}), "axis", int64_t(1));
  return m;
}

/// Each channel of an image with its channels last, relative to its mean and variance.
TinyModel normalizedChannels() {
  TinyModel m;
  m.input("x", {1, 17, 16, 24}).output("y");
  auto mean = [&](const char *from, const char *to) {
    setAttribute(m.node("ReduceMean", {from}, {to}), "axes", std::vector<int64_t>{1, 2});
  };
  mean("x", "mean"), m.node("Sub", {"x", "mean"}, {"centered"});
  m.node("Mul", {"centered", "centered"}, {"square"}), mean("square", "variance");
  m.node("Exp", {"variance"}, {"scale"}), m.node("Div", {"centered", "scale"}, {"y"});
  return m;
}

/// Two products of one left side that meet.
TinyModel pair() {
  TinyModel m(18);
  m.input("x", {21, 48}, DType::F16).output("y");
  weights(m, "v", {48, 40}, DType::F16), weights(m, "w", {48, 40}, DType::F16, 8);
  m.node("MatMul", {"x", "v"}, {"a"}), m.node("MatMul", {"x", "w"}, {"b"});
  m.node("Sigmoid", {"a"}, {"s"}), m.node("Mul", {"s", "b"}, {"y"});
  return m;
}

/// A product of halves that is read in three parts.
TinyModel parts() {
  TinyModel m(18);
  m.input("x", {21, 48}, DType::F16).output("y");
  weights(m, "w", {48, 3 * 24}, DType::F16);
  m.node("MatMul", {"x", "w"}, {"z"});
  onnx::NodeProto *split = m.node("Split", {"z"}, {"a", "b", "c"});
  setAttribute(split, "num_outputs", int64_t(3)), setAttribute(split, "axis", int64_t(-1));
  m.node("Tanh", {"a"}, {"t"}), m.node("Mul", {"t", "b"}, {"u"}), m.node("Add", {"u", "c"}, {"y"});
  return m;
}

TinyModel recurrence(const char *op, int gates) {
  TinyModel m(22);
  m.input("x", {40, 3, 16}, DType::F16).output("y").output("h");
  weights(m, "w", {2, gates * 24, 16}, DType::F16), weights(m, "r", {2, gates * 24, 24}, DType::F16);
  m.initializer("eighth", {}, DType::F16)->add_int32_data(0x3000); // so that gates are neither open nor closed
  m.node("Mul", {"w", "eighth"}, {"small w"}), m.node("Mul", {"r", "eighth"}, {"small r"});
  onnx::NodeProto *node = m.node(op, {"x", "small w", "small r"}, {"y", "h"});
  setAttribute(node, "hidden_size", int64_t(24)), setAttribute(node, "direction", std::string("bidirectional"));
  if (gates == 3) // all gates are of one product
    setAttribute(node, "linear_before_reset", int64_t(1));
  return m;
}

const Row rows[] = {
    {"Images",
     " pixels ",
     [] { return convolution({4, 128, 28, 28}, {128, 128, 3, 3}); },
     DType::F32,
     {{4, 128, 28, 28}}},
    {"WalkedVolumes",
     " pixels ",
     [] { return convolution({2, 64, 6, 14, 13}, {96, 64, 3, 3, 3}); },
     DType::F32,
     {{2, 64, 6, 14, 13}}},
    {"UnknownImages",
     " pixels ",
     [] { return convolution({"n", 64, 14, 14}, {160, 64, 3, 3}); },
     DType::F32,
     {{1, 64, 14, 14}, {3, 64, 14, 14}}},
    {"FirstConvolution",
     " pixels ",
     [] { return unevenConvolution(DType::F16, {"n", 3, 75, 61}, {72, 3, 7, 7}, 2); },
     DType::F16,
     {{1, 3, 75, 61}, {3, 3, 75, 61}}},
    {"FirstConvolutionOfSingles",
     " pixels ",
     [] { return unevenConvolution(DType::F32, {6, 3, 90, 90}, {72, 3, 11, 11}, 4); },
     DType::F32,
     {{6, 3, 90, 90}}},
    {"ImageInBlocks",
     " pixels ",
     [] { return unevenConvolution(DType::F32, {12, 5, 64, 64}, {72, 5, 6, 6}, 3); },
     DType::F32,
     {{12, 5, 64, 64}}},
    {"Groups",
     "tensor<2x3x3x64x64xf16>",
     [] { return unevenConvolution(DType::F16, {"n", 128, 9, 14}, {128, 4, 3, 3}, 1, 32); },
     DType::F16,
     {{1, 128, 9, 14}, {3, 128, 9, 14}}},
    {"GroupsThatFillNoRow",
     "tensor<3x2x5x48x72xf16>",
     [] { return unevenConvolution(DType::F16, {2, 144, 12, 13}, {216, 16, 2, 5}, 1, 9); },
     DType::F16,
     {{2, 144, 12, 13}}},
    {"GroupsOfSingles",
     "tensor<4x3x3x32x48xf32>",
     [] { return unevenConvolution(DType::F32, {16, 128, 40, 41}, {192, 8, 3, 3}, 1, 16); },
     DType::F32,
     {{16, 128, 40, 41}}},
    {"FortyEightChannels",
     " pixels ",
     [] { return convolution({4, 48, 56, 56}, {128, 48, 3, 3}); },
     DType::F32,
     {{4, 48, 56, 56}}},
    {"Sequences", " copied ", [] { return convolution({8, 128, 1000}, {128, 128, 3}); }, DType::F32, {{8, 128, 1000}}},
    {"Volumes",
     " copied ",
     [] { return convolution({2, 36, 12, 12, 12}, {128, 36, 3, 3, 3}); },
     DType::F32,
     {{2, 36, 12, 12, 12}}},
    {"Transposed",
     " pixels ",
     [] { return convolution({4, 128, 28, 28}, {128, 128, 3, 3}, "ConvTranspose"); },
     DType::F32,
     {{4, 128, 28, 28}}},
    {"Modulated",
     "tensor<3x40x64x3x3xf16> -> tensor<3x40x3x3x64xf16>",
     [] { return modulated("Conv", DType::F16, 3, 64, 40); },
     DType::F16,
     {{3, 64, 7, 9}}},
    {"ModulatedSingles",
     "-> tensor<16x512x3x3x64xf32>",
     [] { return modulated("Conv", DType::F32, 16, 64, 512); },
     DType::F32,
     {{16, 64, 7, 9}}},
    {"ModulatedUpsampling",
     ": tensor<3x7x9x64xf16> -> tensor<3x7x9x2x2x64xf16>",
     [] { return modulated("ConvTranspose", DType::F16, 3, 64, 40); },
     DType::F16,
     {{3, 64, 7, 9}}},
    {"ColumnSoftmax", "graph.root<row_reduction>", columnSoftmax, DType::F16, {{1, 37, 20}, {3, 37, 20}}},
    {"NormalizedChannels", "graph.kernel @reducemean_sub_mul_exp", normalizedChannels, DType::F32, {{1, 17, 16, 24}}},
    {"Pair", "contract-pair", pair, DType::F16, {{21, 48}}},
    {"Parts", "contract-parts", parts, DType::F16, {{21, 48}}},
    {"Lstm", "contract-parts", [] { return recurrence("LSTM", 4); }, DType::F16, {{40, 3, 16}}},
    {"Gru", "contract-parts", [] { return recurrence("GRU", 3); }, DType::F16, {{40, 3, 16}}},
};

class GpuGroups : public testing::TestWithParam<Row> {};

TEST_P(GpuGroups, ComputeWhatTheHostsDo) {
  const Row &row = GetParam();
  ScratchFolder folder;
  CompileOptions host = optionsOf(row.model());
  CompileOptions gpu = host;
  gpu.targets = {"sm_90a"}, gpu.dumpFolder = folder / "stages";
  auto compiled = compileModel(gpu);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  CompileOptions resumed;
  resumed.modelPath = folder / "stages/sm_90a-all/2-group.mlir";
  std::stringstream groups;
  groups << std::ifstream(resumed.modelPath).rdbuf();
  EXPECT_NE(groups.str().find(row.mark), std::string::npos);
  for (const Shape &shape : row.inputs) {
    Tensor input = sampleTensor(row.type, shape, 1);
    auto want = runOnHost(host, PlanMode::All, {&input, 1}), got = runOnHost(resumed, PlanMode::All, {&input, 1});
    ASSERT_TRUE(want.ok()) << want.status().message();
    ASSERT_TRUE(got.ok()) << got.status().message();
    for (size_t i = 0; i < want->size(); ++i)
      EXPECT_EQ(compare("output " + std::to_string(i), (*got)[i], (*want)[i]).sentence, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, GpuGroups, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &info) { return std::string(info.param.name); });

} // namespace
