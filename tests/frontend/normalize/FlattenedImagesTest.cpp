// SPDX-License-Identifier: Apache-2.0
// Products of flattened images with constants: the image is read in the order in which it lies in memory.
#include "tests/frontend/TinyModel.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Normalize.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

class FlattenedImages : public testing::Test {
protected:
  FlattenedImages() : context_(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context_.loadAllAvailableDialects();
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registerFrontendDialects(registry);
    return registry;
  }

  void normalize(TinyModel &m) {
    auto imported = importModelBytes(context_, m.bytes(), ".", {});
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    module_ = std::move(*imported);
    ASSERT_TRUE(succeeded(normalizeGraph(*module_)));
  }

  template <typename Op> int count() {
    int count = 0;
    module_->walk([&](Op) { ++count; });
    return count;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

/// Images of 2x2 pixels with 3 channels, channels last, flattened channels first and multiplied by `weights` [12, 1].
void flattenAndMultiply(TinyModel &m) {
  m.input("x", {"n", 2, 2, 3}).output("y");
  setAttribute(m.node("Transpose", {"x"}, {"planes"}), "perm", std::vector<int64_t>{0, 3, 1, 2});
  m.node("Flatten", {"planes"}, {"rows"});
  m.node("MatMul", {"rows", "weights"}, {"y"});
}

TEST_F(FlattenedImages, AreReadInTheirOrderAndTheConstantIsTurned) {
  TinyModel m;
  onnx::TensorProto *weights = m.initializer("weights", {12, 1}, DType::F32);
  for (int i = 0; i < 12; ++i)
    weights->add_float_data(static_cast<float>(i));
  flattenAndMultiply(m);
  normalize(m);
  EXPECT_EQ(count<graph::TransposeOp>(), 0);
  std::vector<float> values;
  module_->walk([&](graph::ConstantOp op) {
    auto &pool = context_.getLoadedDialect<graph::GraphDialect>()->constants();
    std::span<const std::byte> bytes = pool.get(op.getKey());
    values.resize(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
  });
  // Of channel c and pixel p the weight was 4c + p; now pixels are outermost.
  EXPECT_EQ(values, (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
}

TEST_F(FlattenedImages, AreTurnedThemselvesWhereTheOtherSideIsNoConstant) {
  TinyModel m;
  m.input("weights", {12, 1});
  flattenAndMultiply(m);
  normalize(m);
  EXPECT_EQ(count<graph::TransposeOp>(), 1);
}

TEST_F(FlattenedImages, AnAdaptivePoolingOfAsManyPixelsIsNothing) {
  TinyModel m;
  m.input("x", {"n", 3, 2, 2}).output("y");
  setAttribute(m.node("AveragePool", {"x"}, {"pooled"}), "kernel_shape", std::vector<int64_t>{1, 1});
  m.node("Flatten", {"pooled"}, {"y"});
  normalize(m);
  EXPECT_EQ(count<graph::WindowOp>(), 0);
}

TEST_F(FlattenedImages, WindowsOfOnePixelThatSkipOthersStay) {
  TinyModel m;
  m.input("x", {"n", 3, 4, 4}).output("y");
  onnx::NodeProto *pool = m.node("AveragePool", {"x"}, {"pooled"});
  setAttribute(pool, "kernel_shape", std::vector<int64_t>{1, 1});
  setAttribute(pool, "strides", std::vector<int64_t>{2, 2});
  m.node("Flatten", {"pooled"}, {"y"});
  normalize(m);
  EXPECT_EQ(count<graph::WindowOp>(), 1);
}

} // namespace
