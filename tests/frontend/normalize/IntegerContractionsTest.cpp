// SPDX-License-Identifier: Apache-2.0
// Which convolutions of bytes become contractions of bytes.
#include "tests/frontend/TinyModel.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Normalize.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// The number of contractions of bytes for a padded ConvInteger of `channels` with a zero point known at run time.
int contractionsOfBytes(int channels) {
  TinyModel m;
  m.input("x", {1, channels, "h", "w"}).output("y");
  onnx::TensorProto *weights = m.initializer("weights", {4, channels, 3, 3}, DType::I8);
  for (int i = 0; i < 4 * channels * 9; ++i)
    weights->add_int32_data(i % 100 - 50);
  m.node("DynamicQuantizeLinear", {"x"}, {"bytes", "scale", "zero"});
  setAttribute(m.node("ConvInteger", {"bytes", "weights", "zero"}, {"y"}), "pads", std::vector<int64_t>{1, 1, 1, 1});
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = importModelBytes(context, m.bytes(), ".", {});
  EXPECT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(succeeded(normalizeGraph(**module)));
  int count = 0;
  (*module)->walk([&](graph::ContractOp op) {
    count += mlir::cast<mlir::RankedTensorType>(op.getLhs().getType()).getElementType().isInteger(8);
  });
  return count;
}

TEST(IntegerContractions, AnUnknownZeroPointMayFillAWindowOfManyChannels) { EXPECT_EQ(contractionsOfBytes(32), 1); }

TEST(IntegerContractions, FewChannelsStayIn32Bits) { EXPECT_EQ(contractionsOfBytes(3), 0); }

} // namespace
