// SPDX-License-Identifier: Apache-2.0
// com.microsoft: small cases whose results can be followed by hand. tests/oracle/contrib.py compares many more with
// ONNX Runtime.
#include "tests/runtime/reference/Evaluate.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

using Ints = std::vector<int64_t>;

static Node fused(std::string_view op, Attributes attributes = {}, size_t outputs = 1) {
  return {op, 1, std::move(attributes), outputs, "com.microsoft"};
}
static Tensor bytes(Shape shape, std::initializer_list<double> values) {
  return tensor(DType::U8, std::move(shape), values);
}
static Tensor signedBytes(Shape shape, std::initializer_list<double> values) {
  return tensor(DType::I8, std::move(shape), values);
}
static Tensor int32s(Shape shape, std::initializer_list<double> values) {
  return tensor(DType::I32, std::move(shape), values);
}

TEST(ReferenceFused, Products) {
  Tensor a = floats({1, 2}, {1, 2}), b = floats({1, 2}, {3, 4});
  expectOutputs(fused("FusedMatMul", {{"transB", int64_t(1)}, {"alpha", 0.5f}}), {a, b}, {floats({1, 1}, {5.5})});
  // transBatchA: [rows, batch, depth]
  expectOutputs(fused("FusedMatMul", {{"transBatchA", int64_t(1)}}),
                {floats({1, 2, 1}, {1, 2}), floats({2, 1, 1}, {3, 4})}, {floats({2, 1, 1}, {3, 8})});
  expectOutputs(fused("FusedGemm", {{"transB", int64_t(1)}, {"activation", "Relu"}}),
                {a, floats({2, 2}, {3, 4, -3, 0}), vector({1, 1})}, {floats({1, 2}, {12, 0})});
  expectOutputs(fused("FusedGemm", {{"transB", int64_t(1)}, {"activation", "LeakyRelu"}, {"activation_alpha", 0.5f}}),
                {a, floats({1, 2}, {-3, 0})}, {floats({1, 1}, {-1.5})});
  EXPECT_EQ(fused("FusedGemm", {{"activation", "Cube"}})({a, floats({2, 1}, {1, 1})}).status().code(),
            Code::Unsupported);
}

TEST(ReferenceFused, Images) {
  Tensor x = floats({1, 1, 1, 2}, {1, -2}), two = floats({1, 1, 1, 1}, {2}), z = floats({1, 1, 1, 2}, {1, 1});
  expectOutputs(fused("FusedConv", {{"activation", "Relu"}}), {x, two, vector({1}), z}, {floats({1, 1, 1, 2}, {4, 0})});
  expectOutputs(fused("FusedConv", {{"activation", "Clip"}, {"activation_params", std::vector<float>{-1, 1}}}),
                {x, two}, {floats({1, 1, 1, 2}, {1, -1})});
  expectOutputs(fused("NhwcMaxPool", {{"kernel_shape", Ints{1, 2}}}), {bytes({1, 1, 2, 2}, {1, 8, 5, 2})},
                {bytes({1, 1, 1, 2}, {5, 8})});
  expectOutputs(fused("GroupNorm", {{"groups", int64_t(1)}, {"epsilon", 0.0f}}),
                {floats({1, 1, 1, 2}, {1, 3}), vector({1, 2}), vector({0, 1})}, {floats({1, 1, 1, 2}, {-1, 3})});
  expectOutputs(fused("SkipGroupNorm", {{"groups", int64_t(1)}, {"epsilon", 0.0f}}, 2),
                {floats({1, 1, 1, 2}, {1, 1}), vector({1, 1}), vector({0, 0}), floats({1, 2}, {0, 1}), vector({0, 1})},
                {floats({1, 1, 1, 2}, {-1, 1}), floats({1, 1, 1, 2}, {1, 3})});
  expectOutputs(fused("CropAndResize"),
                {floats({1, 1, 1, 3}, {1, 2, 4}), floats({1, 4}, {0, 0, 0, 1}), int32s({1}, {0}), int32s({2}, {1, 2})},
                {floats({1, 1, 1, 2}, {1, 4})});
  expectMalformed(fused("FusedConv"), {x, two, Tensor(), floats({1}, {1})},
                  "expected a tensor to add of shape [1, 1, 1, 2]");
}

TEST(ReferenceFused, Rows) {
  Tensor x = vector({3, 4}), one = vector({1, 1});
  double root = std::sqrt(12.5);
  expectOutputs({"SimplifiedLayerNormalization", 17, {{"epsilon", 0.0f}}, 2}, {x, one},
                {vector({3 / root, 4 / root}), vector({1 / root})});
  Tensor table = floats({2, 2}, {0, 0, 1, 3});
  expectOutputs(fused("EmbedLayerNormalization", {{"epsilon", 0.0f}}, 3),
                {int32s({1, 1}, {1}), Tensor(), table, table, Tensor(), one, vector({0, 5}), int32s({1, 1}, {1})},
                {floats({1, 1, 2}, {-1, 6}), int32s({1}, {1}), floats({1, 1, 2}, {1, 3})});
  expectOutputs(fused("BiasSoftmax", {{"axis", int64_t(1)}}), {floats({1, 2}, {1, 0}), vector({-1, 0})},
                {floats({1, 2}, {0.5, 0.5})});
  expectOutputs(fused("BiasAdd"), {floats({1, 1, 2}, {1, 2}), vector({10, 20}), floats({1, 1, 2}, {5, 5})},
                {floats({1, 1, 2}, {16, 27})});
  expectOutputs(fused("BiasSplitGelu"), {floats({1, 1, 2}, {3, 0}), vector({0, 0})}, {floats({1, 1, 1}, {0})});
}

TEST(ReferenceFused, SmallOnes) {
  expectOutputs(fused("Inverse"), {floats({2, 2}, {0, 2, 4, 0})}, {floats({2, 2}, {0, 0.25, 0.5, 0})});
  expectOutputs(fused("ExpandDims"), {vector({1, 2}), int32s({}, {-1})}, {floats({2, 1}, {1, 2})});
  expectOutputs(fused("Pad"), {vector({1}), ints({1, 2}, {1, 0}), vector({7})}, {vector({7, 1})});
  expectOutputs(fused("Unique", {}, 3), {vector({2, 1, 2})}, {vector({2, 1}), indices({0, 1, 0}), indices({2, 1})});
  expectOutputs(fused("NGramRepeatBlock", {{"ngram_size", int64_t(2)}}),
                {ints({1, 3}, {1, 2, 1}), floats({1, 3}, {0, 0, 0})}, {floats({1, 3}, {0, 0, -HUGE_VAL})});
  expectMalformed(fused("Inverse"), {vector({1})}, "expected square matrices");
}

TEST(ReferenceFused, Attention) {
  // One head of size 1; the projection is x * (0, 1, 10): all keys are equal to a query of 0.
  Tensor x = floats({1, 2, 1}, {1, 2}), weights = floats({1, 3}, {0, 1, 10}), bias = vector({0, 0, 0});
  Attributes heads{{"num_heads", int64_t(1)}};
  expectOutputs(fused("Attention", heads), {x, weights, bias}, {floats({1, 2, 1}, {15, 15})});
  expectOutputs(fused("Attention", heads), {x, weights, bias, int32s({1}, {1})}, {floats({1, 2, 1}, {10, 10})});
  Attributes causal = heads;
  causal["unidirectional"] = int64_t(1);
  expectOutputs(fused("Attention", causal, 2), {x, weights, bias, Tensor(), floats({2, 1, 1, 1, 1}, {0, 30})},
                {floats({1, 2, 1}, {20, 20}), floats({2, 1, 1, 3, 1}, {0, 1, 2, 30, 10, 20})});
  Tensor q = floats({1, 2, 1}, {0, 0}), k = floats({1, 2, 1}, {1, 2}), v = floats({1, 2, 1}, {10, 20});
  expectOutputs(fused("MultiHeadAttention", heads), {q, k, v}, {floats({1, 2, 1}, {15, 15})});
  expectOutputs(fused("MultiHeadAttention", heads), {q, k, v, Tensor(), int32s({1, 2}, {0, 1})},
                {floats({1, 2, 1}, {20, 20})});
  expectOutputs(fused("MultiHeadAttention", heads), {floats({1, 1, 1, 3, 1}, {0, 1, 7})}, {floats({1, 1, 1}, {7})});
  expectMalformed(fused("Attention", heads), {x, weights, bias, int32s({3}, {1, 1, 1})},
                  "expected 1 lengths or 2 bounds, found 3");
}

TEST(ReferenceFused, GroupQueryAttentionKeepsItsCache) {
  Attributes heads{{"num_heads", int64_t(1)}, {"kv_num_heads", int64_t(1)}};
  Tensor zero = floats({1, 1, 1}, {0}), key = floats({1, 1, 1}, {5}), value = floats({1, 1, 1}, {40}),
         last = int32s({1}, {2}), total = int32s({}, {3});
  // A buffer of 4 with two elements: the third is written, the fourth stays zero and unseen.
  Tensor keys = floats({1, 1, 4, 1}, {1, 2, 9, 9}), values = floats({1, 1, 4, 1}, {10, 20, 9, 9});
  std::vector<Tensor> present{floats({1, 1, 4, 1}, {1, 2, 5, 0}), floats({1, 1, 4, 1}, {10, 20, 40, 0})};
  expectOutputs(fused("GroupQueryAttention", heads, 3), {zero, key, value, keys, values, last, total},
                {floats({1, 1, 1}, {70.0 / 3}), present[0], present[1]});
  Attributes window = heads;
  window["local_window_size"] = int64_t(2);
  expectOutputs(fused("GroupQueryAttention", window, 3), {zero, key, value, keys, values, last, total},
                {floats({1, 1, 1}, {30}), present[0], present[1]});
  Attributes smooth = heads;
  smooth["smooth_softmax"] = int64_t(1);
  expectOutputs(fused("GroupQueryAttention", smooth, 3), {zero, key, value, keys, values, last, total},
                {floats({1, 1, 1}, {70.0 / 4}), present[0], present[1]});
  expectMalformed(fused("GroupQueryAttention", heads, 3), {zero, key, value, keys, values, int32s({1}, {7}), total},
                  "lengths below 4");
}

TEST(ReferenceFused, RotaryEmbedding) {
  Tensor cosines = floats({2, 1}, {1, 0}), sines = floats({2, 1}, {0, 1});
  expectOutputs(fused("RotaryEmbedding"), {floats({1, 2, 2}, {1, 0, 1, 0}), indices({0}), cosines, sines},
                {floats({1, 2, 2}, {1, 0, 0, 1})});
  expectOutputs(fused("RotaryEmbedding"), {floats({1, 1, 2}, {1, 0}), ints({1, 1}, {1}), cosines, sines},
                {floats({1, 1, 2}, {0, 1})});
}

TEST(ReferenceFused, QuantizedElementwise) {
  Tensor half = scalar(0.5), one = scalar(1), zero = bytes({}, {0}), ten = bytes({}, {10});
  expectOutputs(fused("QLinearAdd"), {bytes({2}, {2, 4}), half, zero, bytes({1}, {20}), one, ten, half, zero},
                {bytes({2}, {22, 24})});
  expectOutputs(fused("QLinearMul"), {bytes({2}, {2, 4}), half, zero, bytes({1}, {13}), one, ten, one, ten},
                {bytes({2}, {13, 16})});
  expectOutputs(fused("QLinearSigmoid"), {bytes({1}, {10}), half, ten, scalar(0.25), zero}, {bytes({1}, {2})});
  expectOutputs(fused("QLinearLeakyRelu", {{"alpha", 0.5f}}), {bytes({2}, {6, 12}), one, ten, one, ten},
                {bytes({2}, {8, 12})});
  expectOutputs(fused("QLinearSoftmax"), {bytes({1, 2}, {7, 7}), one, ten, scalar(1.0 / 256), zero},
                {bytes({1, 2}, {128, 128})});
  expectOutputs(fused("QLinearWhere"),
                {tensor(DType::Bool, {2}, {1, 0}), bytes({1}, {4}), half, zero, bytes({1}, {12}), one, ten, half, zero},
                {bytes({2}, {4, 4})});
  expectOutputs(fused("QLinearConcat", {{"axis", int64_t(0)}}),
                {half, zero, bytes({1}, {2}), half, zero, bytes({1}, {12}), one, ten}, {bytes({2}, {2, 4})});
  expectOutputs(fused("QLinearGlobalAveragePool"), {bytes({1, 1, 1, 2}, {10, 14}), one, ten, one, zero},
                {bytes({1, 1, 1, 1}, {2})});
  expectOutputs(fused("QLinearAveragePool", {{"kernel_shape", Ints{1, 2}}}),
                {bytes({1, 1, 1, 2}, {10, 14}), one, ten, one, zero}, {bytes({1, 1, 1, 1}, {2})});
  expectOutputs(fused("QLinearReduceMean", {{"axes", Ints{0}}}), {bytes({2}, {10, 14}), one, ten, one, zero},
                {bytes({1}, {2})});
}

TEST(ReferenceFused, QuantizedProducts) {
  Tensor a = bytes({1, 2}, {11, 12}), b = signedBytes({2, 1}, {3, 4}), half = scalar(0.5), ten = bytes({}, {10});
  expectOutputs(fused("QGemm"), {a, half, ten, b, half, signedBytes({}, {0}), int32s({1}, {1})}, {floats({1, 1}, {3})});
  expectOutputs(fused("QGemm"), {a, half, ten, b, half, signedBytes({}, {0}), Tensor(), scalar(0.25), ten},
                {bytes({1, 1}, {21})});
  expectOutputs(fused("MatMulIntegerToFloat"), {a, b, half, half, ten, Tensor(), vector({1})},
                {floats({1, 1}, {3.75})});
  expectOutputs(fused("DynamicQuantizeMatMul"), {floats({1, 2}, {0, 255}), b, vector({0.5})}, {floats({1, 1}, {510})});
  // Two columns of two numbers, block 16: 4-bit numbers 9, 10 and 7, 8; zero point 8.
  Tensor x = floats({1, 2}, {1, 1});
  Attributes sizes{{"K", int64_t(2)}, {"N", int64_t(2)}, {"block_size", int64_t(16)}, {"bits", int64_t(4)}};
  Tensor packed = bytes({2, 1, 8}, {0xa9, 0, 0, 0, 0, 0, 0, 0, 0x87, 0, 0, 0, 0, 0, 0, 0});
  expectOutputs(fused("MatMulNBits", sizes), {x, packed, vector({1, 10})}, {floats({1, 2}, {3, -10})});
  expectOutputs(fused("MatMulNBits", sizes), {x, packed, vector({1, 10}), bytes({2}, {9, 7}), Tensor(), vector({0, 1})},
                {floats({1, 2}, {1, 11})});
  expectMalformed(fused("MatMulNBits", sizes), {x, packed, vector({1})}, "expected 2 scales");
  Attributes odd = sizes;
  odd["block_size"] = int64_t{9};
  expectMalformed(fused("MatMulNBits", odd), {x, packed, vector({1, 10})}, "expected blocks of whole bytes");
  Attributes blocks{{"block_size", int64_t(2)}, {"bits", int64_t(4)}};
  expectOutputs(fused("GatherBlockQuantized", blocks),
                {bytes({2, 1}, {0x98, 0xa7}), indices({1}), floats({2, 1}, {1, 2})}, {floats({1, 2}, {-2, 4})});
}
