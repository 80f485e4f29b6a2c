// SPDX-License-Identifier: Apache-2.0
// Resize by scales, against what ONNX Runtime computes: of known sizes, of symbolic sizes, and by scales that are only
// known at run time.
#include "tests/frontend/TinyModel.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// A row of the numbers 0, 1, ..., `size` - 1.
struct RowCase {
  std::string mode, transform, nearest;
  int64_t size;
  float scale;
  std::vector<float> expected;
};

std::ostream &operator<<(std::ostream &out, const RowCase &test) {
  return out << test.mode << " " << test.transform << " " << test.nearest << " " << test.size << " * " << test.scale;
}

const std::vector<RowCase> rows = {
    // 10 / 0.1f is 100, and 10 * 0.7f is 7.
    {"nearest", "asymmetric", "floor", 50, 0.1f, {0, 10, 20, 30, 40}},
    {"nearest", "half_pixel", "round_prefer_floor", 10, 0.7f, {0, 2, 3, 4, 6, 7, 9}},
    {"linear", "asymmetric", "floor", 10, 0.7f, {0, 10 / 7.0f, 20 / 7.0f, 30 / 7.0f, 40 / 7.0f, 50 / 7.0f, 60 / 7.0f}},
    // 2 / (2.0f / 7) is 6.9999995, but 12.499999 is in the middle of 12 and 13.
    {"nearest", "asymmetric", "floor", 11, 2.0f / 7, {0, 3, 6}},
    {"nearest", "asymmetric", "round_prefer_ceil", 14, 0.72f, {0, 1, 3, 4, 6, 7, 8, 10, 11, 13}},
    {"nearest", "half_pixel_symmetric", "ceil", 20, 0.45f, {1, 3, 6, 8, 10, 12, 14, 17, 19}},
    // Corners are aligned by the size of the result where size * scale is not whole.
    {"nearest", "align_corners", "round_prefer_floor", 4, 1.7f, {0, 1, 1, 2, 2, 3}},
    {"nearest", "align_corners", "floor", 4, 0.7f, {0, 3}},
    {"linear", "align_corners", "floor", 4, 1.7f, {0, 0.6f, 1.2f, 1.8f, 2.4f, 3}},
    {"linear", "align_corners", "floor", 5, 1.5f, {0, 2 / 3.0f, 4 / 3.0f, 2, 8 / 3.0f, 10 / 3.0f, 4}},
    {"cubic", "align_corners", "floor", 4, 1.7f, {0, 0.504f, 1.248f, 1.752f, 2.496f, 3}},
};

/// A model whose size is `size`, with constant scales or scales that are an input, gives what is expected.
void expectRow(const RowCase &test, Dim size, bool isConstant) {
  TinyModel model(19);
  model.input("x", {1, 1, 1, size}).output("y");
  const std::vector<float> scales{1, 1, 1, test.scale};
  std::vector<Tensor> inputs{Tensor::allocate(DType::F32, {1, 1, 1, test.size})};
  for (int64_t i = 0; i < test.size; ++i)
    inputs[0].data<float>()[i] = static_cast<float>(i);
  if (isConstant) {
    model.floats("scales", {4}, scales);
  } else {
    model.input("scales", {4});
    inputs.push_back(Tensor::allocate(DType::F32, {4}));
    std::ranges::copy(scales, inputs[1].data<float>());
  }
  onnx::NodeProto *node = model.node("Resize", {"x", "", "scales"}, {"y"});
  setAttribute(node, "mode", test.mode), setAttribute(node, "coordinate_transformation_mode", test.transform);
  setAttribute(node, "nearest_mode", test.nearest);
  mlir::MLIRContext context;
  auto module = importModelBytes(context, model.bytes(), ".", {});
  ASSERT_TRUE(module.ok()) << module.status().message();
  auto got = graph::interpret(**module, inputs);
  ASSERT_TRUE(got.ok()) << got.status().message();
  Tensor expected = Tensor::allocate(DType::F32, {1, 1, 1, static_cast<int64_t>(test.expected.size())});
  std::ranges::copy(test.expected, expected.data<float>());
  expectClose((*got)[0], expected, "y");
}

struct ResizeTest : testing::TestWithParam<RowCase> {};

TEST_P(ResizeTest, OfKnownSize) { expectRow(GetParam(), static_cast<int>(GetParam().size), true); }
TEST_P(ResizeTest, OfSymbolicSize) { expectRow(GetParam(), "n", true); }
TEST_P(ResizeTest, ByScalesOfRunTime) { expectRow(GetParam(), static_cast<int>(GetParam().size), false); }

INSTANTIATE_TEST_SUITE_P(Rows, ResizeTest, testing::ValuesIn(rows));

/// ONNX's own tests, whose scales are inputs, interpolate to scales below 1 by size * scale - 1. PyTorch and ONNX
/// Runtime do not.
TEST(ResizeScales, AlignCornersOfSmallerResultsAsTheirSourceDoes) {
  expectRow({"linear", "align_corners", "floor", 4, 0.6f, {0, 3}}, 4, true);
  expectRow({"linear", "align_corners", "floor", 4, 0.6f, {0, 3 / 1.4f}}, 4, false);
}

} // namespace
