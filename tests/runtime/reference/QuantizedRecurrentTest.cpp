// SPDX-License-Identifier: Apache-2.0
// If bytes represent the input exactly, DynamicQuantizeLSTM equals LSTM with the dequantized weights.
#include "tests/runtime/reference/Evaluate.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

TEST(ReferenceQuantizedRecurrent, IsTheStandardOperatorOfItsWeights) {
  constexpr int64_t hidden = 2, gates = 4 * hidden, width = 2;
  Tensor bytes = Tensor::allocate(DType::U8, {1, width, gates}),
         weights = Tensor::allocate(DType::F32, {1, gates, width});
  for (int64_t k = 0; k < width; ++k)
    for (int64_t g = 0; g < gates; ++g) {
      auto byte = static_cast<uint8_t>((k * gates + g) * 37 % 256);
      bytes.data<uint8_t>()[k * gates + g] = byte;
      weights.data<float>()[g * width + k] = (byte - 128) / 64.0f;
    }
  Tensor x = floats({1, 1, width}, {0, 255.0 / 128}),
         still = Tensor::allocate(DType::U8, {1, hidden, gates}); // bytes that represent 0
  Tensor scale = vector({1.0 / 64}), zero = tensor(DType::U8, {1}, {128}), none = tensor(DType::U8, {1}, {0});
  Attributes attributes = {{"hidden_size", hidden}};
  auto expected = Node{"LSTM", 14, attributes, 3}({x, weights, Tensor::allocate(DType::F32, {1, gates, hidden})});
  auto found = Node{"DynamicQuantizeLSTM", 1, attributes, 3, "com.microsoft"}(
      {x, bytes, still, Tensor(), Tensor(), Tensor(), Tensor(), Tensor(), scale, zero, scale, none});
  ASSERT_TRUE(expected.ok() && found.ok()) << found.status().message();
  for (size_t i = 0; i < 3; ++i) {
    expectTensor((*found)[i], (*expected)[i]);
    EXPECT_NE((*expected)[i].data<float>()[0], 0.0f);
  }
}

} // namespace
