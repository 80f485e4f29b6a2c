// SPDX-License-Identifier: Apache-2.0
// Normalization, softmax, recurrence, attention, resizing, detection, losses, order and signals: known small cases.
#include "tests/runtime/reference/Evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

using Ints = std::vector<int64_t>;
static const double NaN = std::nan("");

TEST(ReferenceNormalization, Normalizes) {
  Tensor x = floats({1, 2, 2}, {1, 3, 10, 30}), one = vector({1, 1}), zero = vector({0, 0});
  double unit = 1 / std::sqrt(1 + 1e-5), wide = 10 / std::sqrt(100 + 1e-5);
  expectOutputs({"InstanceNormalization"}, {x, one, zero}, {floats({1, 2, 2}, {-unit, unit, -wide, wide})});
  expectOutputs({"LayerNormalization", 17, {}, 3}, {x, one, vector({0, 5})},
                {floats({1, 2, 2}, {-unit, unit + 5, -wide, wide + 5}), floats({1, 2, 1}, {2, 20}),
                 floats({1, 2, 1}, {unit, wide / 10})});
  expectOutputs({"BatchNormalization"}, {x, vector({2, 1}), vector({1, 0}), vector({1, 10}), vector({4, 100})},
                {floats({1, 2, 2}, {1, 2 * 2 / std::sqrt(4 + 1e-5) + 1, 0, 20 / std::sqrt(100 + 1e-5)})});
  expectOutputs({"BatchNormalization", 15, {{"training_mode", int64_t{1}}, {"momentum", 0.5f}}, 3},
                {x, one, zero, zero, one},
                {floats({1, 2, 2}, {-unit, unit, -wide, wide}), vector({1, 10}), vector({1, 50.5})});
  expectOutputs({"RMSNormalization", 23, {{"epsilon", 0.0f}}}, {vector({3, 4}), one},
                {vector({3 / std::sqrt(12.5), 4 / std::sqrt(12.5)})});
  expectOutputs({"GroupNormalization", 18, {{"num_groups", int64_t{1}}, {"epsilon", 0.0f}}},
                {floats({1, 2, 1}, {1, 3}), vector({2}), vector({1})}, {floats({1, 2, 1}, {-1, 3})});
  expectOutputs({"LpNormalization"}, {floats({2, 2}, {3, 4, 0, 0})}, {floats({2, 2}, {0.6, 0.8, 0, 0})});
  expectOutputs({"LRN", 13, {{"size", int64_t{3}}, {"alpha", 3.0f}, {"beta", 1.0f}}}, {floats({1, 2, 1}, {1, 2})},
                {floats({1, 2, 1}, {1.0 / 6, 2.0 / 6})});
  expectOutputs({"SkipLayerNormalization", 1, {{"epsilon", 0.0f}}, 1, "com.microsoft"},
                {floats({1, 1, 2}, {1, 2}), floats({1, 1, 2}, {1, 4}), one, zero}, {floats({1, 1, 2}, {-1, 1})});
  expectMalformed({"InstanceNormalization"}, {x, vector({1}), zero}, "expected input 1 of shape [2], found [1]");
}

TEST(ReferenceSoftmax, ChangesMeaningAtOpset13) {
  Tensor x = floats({1, 2, 2}, {0, 0, 0, std::log(3.0)});
  expectOutputs({"Softmax", 13}, {x}, {floats({1, 2, 2}, {0.5, 0.5, 0.25, 0.75})});
  expectOutputs({"Softmax", 11}, {x}, {floats({1, 2, 2}, {1.0 / 6, 1.0 / 6, 1.0 / 6, 0.5})});
  expectOutputs({"Softmax", 13}, {vector({-HUGE_VAL, 1000, 1000})}, {vector({0, 0.5, 0.5})});
  expectOutputs({"LogSoftmax", 13}, {vector({0, 0})}, {vector({-std::log(2.0), -std::log(2.0)})});
  expectOutputs({"Hardmax", 13}, {vector({1, 3, 3})}, {vector({0, 1, 0})});
}

TEST(ReferenceRecurrent, StepsThroughTime) {
  Tensor x = floats({2, 1, 1}, {1, 2}), one = floats({1, 1, 1}, {1});
  double first = std::tanh(1.0), second = std::tanh(2 + first);
  Attributes size{{"hidden_size", int64_t{1}}};
  expectOutputs({"RNN", 14, size, 2}, {x, one, one},
                {floats({2, 1, 1, 1}, {first, second}), floats({1, 1, 1}, {second})});
  Attributes reversed = size;
  reversed["direction"] = "reverse";
  double last = std::tanh(2.0);
  expectOutputs({"RNN", 14, reversed}, {x, one, one}, {floats({2, 1, 1, 1}, {std::tanh(1 + last), last})});
  expectOutputs({"RNN", 14, size, 2}, {x, one, one, Tensor(), tensor(DType::I32, {1}, {1})},
                {floats({2, 1, 1, 1}, {first, 0}), floats({1, 1, 1}, {first})});
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  double c = sigmoid(1) * std::tanh(1.0), h = sigmoid(1) * std::tanh(c);
  Tensor weights = floats({1, 4, 1}, {1, 1, 1, 1});
  expectOutputs({"LSTM", 14, size, 3}, {floats({1, 1, 1}, {1}), weights, weights},
                {floats({1, 1, 1, 1}, {h}), floats({1, 1, 1}, {h}), floats({1, 1, 1}, {c})});
  Tensor three = floats({1, 3, 1}, {1, 1, 1});
  expectOutputs({"GRU", 14, size}, {floats({1, 1, 1}, {1}), three, three},
                {floats({1, 1, 1, 1}, {(1 - sigmoid(1)) * std::tanh(1.0)})});
  expectMalformed({"RNN", 14, size}, {x, one, one, Tensor(), tensor(DType::I32, {1}, {3})},
                  "sequence lengths from 0 to 2, found 3");
  expectMalformed({"RNN", 14, {{"activations", std::vector<std::string>{"Cube"}}}}, {x, one, one},
                  "'Cube' is no activation");
  expectMalformed({"LSTM", 14, size}, {x, one, one}, "expected input 1 of shape [1, 4, 1], found [1, 1, 1]");
}

TEST(ReferenceAttention, WeighsValues) {
  Tensor q = floats({1, 1, 2, 1}, {0, 0}), k = floats({1, 1, 2, 1}, {1, 2}), v = floats({1, 1, 2, 1}, {10, 20});
  expectOutputs({"Attention", 23}, {q, k, v}, {floats({1, 1, 2, 1}, {15, 15})});
  expectOutputs({"Attention", 23, {{"is_causal", int64_t{1}}}}, {q, k, v}, {floats({1, 1, 2, 1}, {10, 15})});
  expectOutputs({"Attention", 23}, {q, k, v, tensor(DType::Bool, {2, 2}, {0, 1, 0, 0})},
                {floats({1, 1, 2, 1}, {20, 0})});
  expectOutputs({"RotaryEmbedding", 23}, {floats({1, 1, 1, 2}, {1, 0}), floats({1, 1, 1}, {0}), floats({1, 1, 1}, {1})},
                {floats({1, 1, 1, 2}, {0, 1})});
  expectMalformed({"Attention", 23}, {q, k, floats({1, 1, 1, 1}, {1})}, "do not fit together");
}

TEST(ReferenceResize, Interpolates) {
  Tensor x = vector({1, 2}).reshaped({1, 1, 2}), none;
  auto resize = [](const char *mode, const char *coordinates) {
    return Node{"Resize", 13, {{"mode", mode}, {"coordinate_transformation_mode", coordinates}}};
  };
  Tensor twice = vector({1, 1, 2}), four = indices({1, 1, 4});
  expectOutputs(resize("nearest", "asymmetric"), {x, none, twice}, {floats({1, 1, 4}, {1, 1, 2, 2})});
  expectOutputs(resize("linear", "half_pixel"), {x, none, none, four}, {floats({1, 1, 4}, {1, 1.25, 1.75, 2})});
  expectOutputs(resize("linear", "align_corners"), {x, none, none, four},
                {floats({1, 1, 4}, {1, 4.0 / 3, 5.0 / 3, 2})});
  expectOutputs(resize("cubic", "align_corners"), {vector({1, 1, 1}), none, none, indices({5})},
                {vector({1, 1, 1, 1, 1})});
  expectOutputs({"Upsample", 9}, {x, twice}, {floats({1, 1, 4}, {1, 1, 2, 2})});
  expectOutputs({"Upsample", 7, {{"scales", std::vector<float>{1, 1, 2}}}}, {x}, {floats({1, 1, 4}, {1, 1, 2, 2})});
  expectMalformed(resize("linear", "half_pixel"), {x, none, twice, four},
                  "expected either scales or sizes, found both");
  expectMalformed(resize("linear", "sideways"), {x, none, twice}, "'sideways' is no coordinate_transformation_mode");
  expectMalformed(resize("nearest", "asymmetric"), {x, none, vector({1, 1, 0})}, "expected a scale above 0");
  expectOutputs({"GridSample", 16, {{"align_corners", int64_t{1}}}},
                {counting({1, 1, 1, 3}), floats({1, 1, 2, 2}, {-0.5, 0, 3, 0})}, {floats({1, 1, 1, 2}, {0.5, 0})});
  Node cubic{"GridSample", 16, {{"align_corners", int64_t{1}}}};
  cubic.attributes["mode"] = std::string("bicubic"), cubic.attributes["padding_mode"] = std::string("border");
  expectOutputs(cubic, {floats({1, 1, 1, 4}, {1, 2, 4, 8}), floats({1, 1, 3, 2}, {-1.5, 0, 1.25, 0, 4, 0})},
                {floats({1, 1, 1, 3}, {0.96484375, 8.439453125, 8})}); // overshoots near the border
}

/// What ONNX Runtime computes, in float32.
TEST(ReferenceResize, ChoosesNearestNeighboursInFloat32) {
  auto resize = [](const char *coordinates, const char *nearest) {
    return Node{"Resize", 13, {{"coordinate_transformation_mode", coordinates}, {"nearest_mode", nearest}}};
  };
  Tensor none;
  expectOutputs(resize("asymmetric", "floor"), {counting({50}), none, vector({0.1f})}, {vector({0, 10, 20, 30, 40})});
  expectOutputs(resize("half_pixel", "round_prefer_floor"), {counting({10}), none, vector({0.7f})},
                {vector({0, 2, 3, 4, 6, 7, 9})}); // of 7 elements, not 6
  // 6.9999995 is not 7, but 12.499999 is in the middle of 12 and 13.
  expectOutputs(resize("asymmetric", "floor"), {counting({10}), none, vector({2.0f / 7})}, {vector({0, 3})});
  expectOutputs(resize("asymmetric", "floor"), {counting({11}), none, vector({2.0f / 7})}, {vector({0, 3, 6})});
  expectOutputs(resize("asymmetric", "round_prefer_ceil"), {counting({14}), none, vector({0.72f})},
                {vector({0, 1, 3, 4, 6, 7, 8, 10, 11, 13})});
  // An axis that keeps its size is left alone.
  expectOutputs(resize("tf_half_pixel_for_nn", "ceil"), {counting({3}), none, vector({1})}, {counting({3})});
}

TEST(ReferenceResize, AlignsCornersByTheSizeOfTheResult) {
  auto resize = [](const char *mode, int64_t antialias) {
    return Node{
        "Resize",
        19,
        {{"mode", mode}, {"antialias", antialias}, {"coordinate_transformation_mode", std::string("align_corners")}}};
  };
  Tensor none, x = counting({1, 1, 1, 4}), scales = vector({1, 1, 1, 1.7f});
  Tensor fifths = floats({1, 1, 1, 6}, {0, 0.6, 1.2, 1.8, 2.4, 3}); // 4 * 1.7f is not whole
  expectOutputs(resize("linear", 0), {x, none, scales}, {fifths});
  expectOutputs(resize("linear", 1), {x, none, scales}, {fifths});
  expectOutputs(resize("nearest", 0), {x, none, scales}, {floats({1, 1, 1, 6}, {0, 1, 1, 2, 2, 3})});
  // ONNX's own tests interpolate to scales below 1 by 4 * 0.6f - 1.
  Tensor smaller = vector({1, 1, 1, 0.6f});
  expectOutputs(resize("linear", 0), {x, none, smaller}, {floats({1, 1, 1, 2}, {0, 3 / 1.4})});
  expectOutputs(resize("nearest", 0), {x, none, smaller}, {floats({1, 1, 1, 2}, {0, 3})});
}

TEST(ReferenceOrder, SortsAndAccumulates) {
  expectOutputs({"TopK", 11, {}, 2}, {vector({3, 1, 3, 2}), indices({3})}, {vector({3, 3, 2}), indices({0, 2, 3})});
  expectOutputs({"TopK", 11, {{"largest", int64_t{0}}}, 2}, {vector({3, 1, NaN}), indices({2})},
                {vector({1, 3}), indices({1, 0})});
  expectMalformed({"TopK", 11, {}, 2}, {vector({1}), indices({2})}, "expected k from 0 to 1, found 2");

  // Unsorted, in the order in which ONNX Runtime gives them: as a heap where k is small beside the count, as a
  // partition leaves them where not.
  Tensor values = Tensor::allocate(DType::F32, {31});
  for (int i = 0; i < 31; ++i)
    values.data<float>()[i] = static_cast<float>(i * 7 % 31);
  for (const std::vector<int64_t> &order :
       {std::vector<int64_t>{17, 26, 22, 4, 13},
        {15, 30, 2, 3, 4, 29, 26, 7, 8, 25, 24, 11, 12, 13, 22, 21, 16, 17, 20, 6}}) {
    auto found = Node{"TopK", 11, {{"sorted", int64_t{0}}}, 2}({values, indices({static_cast<double>(order.size())})});
    ASSERT_TRUE(found.ok());
    for (size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ((*found)[1].data<int64_t>()[i], order[i]);
  }
  expectOutputs({"ArgMax", 13, {{"keepdims", int64_t{0}}}}, {vector({1, 3, 3})}, {ints({}, {1})});
  expectOutputs({"ArgMin", 13, {{"select_last_index", int64_t{1}}}}, {vector({1, 3, 1})}, {indices({2})});
  expectOutputs({"CumSum"}, {vector({1, 2, 3}), ints({}, {0})}, {vector({1, 3, 6})});
  expectOutputs({"CumSum", 11, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}},
                {vector({1, 2, 3}), ints({}, {0})}, {vector({5, 3, 0})});
  expectOutputs({"Det"}, {floats({2, 2}, {1, 2, 3, 4})}, {scalar(-2)});
}

TEST(ReferenceDetection, SuppressesOverlaps) {
  Tensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11}),
         scores = floats({1, 1, 3}, {0.9, 0.75, 0.6});
  expectOutputs({"NonMaxSuppression", 11}, {boxes, scores, indices({3}), vector({0.5}), vector({0})},
                {ints({2, 3}, {0, 0, 0, 0, 0, 2})});
  expectOutputs({"NonMaxSuppression", 11}, {boxes, scores}, {ints({0, 3}, {})});
}

/// 40 boxes that touch nothing, and copies of two of them with lower scores.
TEST(ReferenceDetection, ComparesWithAllBoxesThatAreKept) {
  Tensor boxes = Tensor::allocate(DType::F32, {1, 42, 4}), kept = Tensor::allocate(DType::I64, {40, 3});
  auto *corner = reinterpret_cast<float *>(boxes.bytes());
  auto *row = reinterpret_cast<int64_t *>(kept.bytes());
  for (int64_t i = 0; i < 42; ++i) {
    auto top = static_cast<float>(2 * (i < 40 ? i : i == 40 ? 3 : 37));
    corner = std::ranges::copy(std::array{top, 0.0f, top + 1, 1.0f}, corner).out;
    if (i < 40)
      row = std::ranges::copy(std::array{int64_t(0), int64_t(0), i}, row).out;
  }
  std::vector<Tensor> inputs = {boxes, counting({1, 1, 42}, 1, -0.01), indices({42}), vector({0.5})};
  expectOutputs({"NonMaxSuppression", 11}, inputs, {kept});
  inputs[3] = vector({-1}); // even boxes that do not touch overlap more than that
  expectOutputs({"NonMaxSuppression", 11}, inputs, {ints({1, 3}, {0, 0, 0})});
}

TEST(ReferenceLoss, AveragesByWeight) {
  Tensor scores = floats({2, 2}, {-1, -2, -3, -4}), targets = indices({0, 1}), weights = vector({1, 3});
  expectOutputs({"NegativeLogLikelihoodLoss", 13}, {scores, targets, weights}, {scalar((1 + 12) / 4.0)});
  expectOutputs({"NegativeLogLikelihoodLoss", 13, {{"reduction", "none"}, {"ignore_index", int64_t{1}}}},
                {scores, targets}, {vector({1, 0})});
  expectOutputs({"SoftmaxCrossEntropyLoss", 13, {}, 2}, {floats({1, 2}, {0, 0}), indices({1})},
                {scalar(std::log(2.0)), floats({1, 2}, {-std::log(2.0), -std::log(2.0)})});
  expectMalformed({"NegativeLogLikelihoodLoss", 13}, {scores, indices({0, 2})},
                  "index 2 is out of range for dimension 1 of size 2");
}

TEST(ReferenceSignal, Transforms) {
  expectOutputs({"DFT", 20}, {floats({2, 1}, {1, 2})}, {floats({2, 2}, {3, 0, -1, 0})});
  expectOutputs({"DFT", 17, {{"axis", int64_t{0}}, {"inverse", int64_t{1}}}}, {floats({2, 2}, {3, 0, -1, 0})},
                {floats({2, 2}, {1, 0, 2, 0})});
  expectOutputs({"STFT", 17}, {counting({1, 4, 1}), ints({}, {2}), Tensor(), ints({}, {2})},
                {floats({1, 2, 2, 2}, {1, 0, -1, 0, 5, 0, -1, 0})});
  expectOutputs({"HannWindow", 17}, {ints({}, {4})}, {vector({0, 0.5, 1, 0.5})});
  expectMalformed({"HannWindow", 17}, {ints({}, {-1})}, "dimensions of 0 or more");
}
