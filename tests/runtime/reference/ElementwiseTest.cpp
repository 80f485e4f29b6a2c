// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels: values, broadcasting, types, NaN, and the corners of integer arithmetic.
#include "tests/runtime/reference/Evaluate.h"

#include "runtime/reference/Half.h"

#include <cmath>
#include <limits>

using namespace tilewright;
using namespace tilewright::test;

static const double NaN = std::nan(""), infinity = HUGE_VAL;

TEST(ReferenceElementwise, ComputesFunctionsOfFloats) {
  expectOutputs({"Exp"}, {vector({0, 1, -infinity})}, {vector({1, M_E, 0})});
  expectOutputs({"Sigmoid"}, {vector({0, 1000, -1000})}, {vector({0.5, 1, 0})});
  expectOutputs({"Softplus"}, {vector({0, 1000, -1000})}, {vector({std::log(2.0), 1000, 0})});
  expectOutputs({"Round"}, {vector({0.5, 1.5, 2.5, -0.5, -2.6})}, {vector({0, 2, 2, 0, -3})});
  expectOutputs({"Erf"}, {vector({0, 0.5})}, {vector({0, 0.5204998778})});
  expectOutputs({"HardSwish"}, {vector({-4, -1, 0, 1, 4})}, {vector({0, -1.0 / 3, 0, 2.0 / 3, 4})});
  expectOutputs({"Mish", 18}, {vector({0, 1})}, {vector({0, 0.8650983883})});
}

TEST(ReferenceElementwise, RoundsHalfTypesOnce) {
  expectOutputs({"Sqrt"}, {tensor(DType::F16, {2}, {2, 65504})},
                {tensor(DType::F16, {2}, {1.4140625, 255.875})}); // by way of float: 256
  expectOutputs({"Add"}, {tensor(DType::BF16, {2}, {1, 256}), tensor(DType::BF16, {2}, {0.00390625, 1})},
                {tensor(DType::BF16, {2}, {1, 256})}); // ties to even
}

TEST(ReferenceElementwise, KeepsEveryHalf) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float value = reference::fromHalf(static_cast<uint16_t>(bits)),
          expected = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    if (expected == expected) {
      ASSERT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(expected)) << bits;
      ASSERT_EQ(reference::toHalf(value), bits);
    } else {
      ASSERT_TRUE(value != value) << bits;
    }
  }
  EXPECT_EQ(reference::toBFloat(1 + 0x1p-8 + 0x1p-40), 0x3f81); // by way of float: a tie, 0x3f80
  EXPECT_EQ(reference::toBFloat(1e300), 0x7f80);
}

TEST(ReferenceElementwise, ReadsAttributes) {
  expectOutputs({"LeakyRelu", 16, {{"alpha", 0.5f}}}, {vector({-2, 3})}, {vector({-1, 3})});
  expectOutputs({"LeakyRelu"}, {vector({-2})}, {vector({-0.02})});
  expectOutputs({"Elu"}, {vector({-1, 2})}, {vector({std::expm1(-1.0), 2})});
  expectOutputs({"Gelu", 20}, {vector({1})}, {vector({0.8413447461})});
  expectOutputs({"Gelu", 20, {{"approximate", "tanh"}}}, {vector({1})}, {vector({0.8411919906})});
  expectOutputs({"IsInf", 17, {{"detect_negative", int64_t{0}}}}, {vector({infinity, -infinity, NaN})},
                {tensor(DType::Bool, {3}, {1, 0, 0})});
  expectOutputs({"Shrink", 9, {{"lambd", 1.5f}, {"bias", 1.0f}}}, {vector({-2, 0, 2})}, {vector({-1, 0, 1})});
  expectMalformed({"Gelu", 20, {{"approximate", "cubic"}}}, {vector({1})},
                  "expected approximate to be none or tanh, found 'cubic'");
  expectMalformed({"LeakyRelu", 16, {{"alpha", int64_t{1}}}}, {vector({1})}, "attribute 'alpha' has a kind");
}

TEST(ReferenceElementwise, ClipsByAttributesAndInputs) {
  expectOutputs({"Clip", 7, {{"min", -1.0f}}}, {vector({-5, 5, NaN})}, {vector({-1, 5, NaN})});
  expectOutputs({"Clip", 13}, {vector({-5, 5}), Tensor(), scalar(2)}, {vector({-5, 2})});
  expectOutputs({"Clip", 13}, {vector({0}), scalar(3), scalar(2)}, {vector({2})});
  expectMalformed({"Clip", 13}, {vector({0}), vector({1, 2})},
                  "expected a scalar limit of float32, found float32 of shape [2]");
}

TEST(ReferenceElementwise, Broadcasts) {
  expectOutputs({"Sub"}, {floats({2, 1}, {10, 20}), vector({1, 2, 3})}, {floats({2, 3}, {9, 8, 7, 19, 18, 17})});
  expectOutputs({"Mul"}, {scalar(3), vector({1, 2})}, {vector({3, 6})});
  expectOutputs({"Add"}, {floats({0, 2}, {}), vector({1, 2})}, {floats({0, 2}, {})});
  expectMalformed({"Add"}, {vector({1, 2}), vector({1, 2, 3})}, "shapes [2] and [3] do not broadcast together");
  expectMalformed({"Add"}, {vector({1}), ints({1}, {1})}, "expected operands of one type, found float32 and int64");
  expectMalformed({"Add"}, {tensor(DType::Bool, {1}, {1}), tensor(DType::Bool, {1}, {1})},
                  "does not take operands of bool");
  expectMalformed({"PRelu"}, {vector({1}), vector({1, 2})}, "shape [2] does not broadcast to [1]");
}

TEST(ReferenceElementwise, WrapsAndNeverTraps) {
  double smallest = std::numeric_limits<int32_t>::min();
  expectOutputs({"Div"}, {tensor(DType::I32, {4}, {7, -7, 5, smallest}), tensor(DType::I32, {4}, {2, 2, 0, -1})},
                {tensor(DType::I32, {4}, {3, -3, 0, smallest})});
  expectOutputs({"Mod"}, {indices({7, -7, 7, 5}), indices({3, 3, -3, 0})}, {indices({1, 2, -2, 0})});
  expectOutputs({"Mod", 13, {{"fmod", int64_t{1}}}}, {vector({-4.3, 7.2}), vector({2.1, -3.4})}, {vector({-0.1, 0.4})});
  expectOutputs({"Mul"}, {tensor(DType::U8, {1}, {200}), tensor(DType::U8, {1}, {2})}, {tensor(DType::U8, {1}, {144})});
  expectOutputs({"Abs"}, {tensor(DType::I8, {2}, {-128, -3})}, {tensor(DType::I8, {2}, {-128, 3})});
  expectOutputs({"BitShift", 11, {{"direction", "LEFT"}}},
                {tensor(DType::U8, {3}, {16, 4, 1}), tensor(DType::U8, {3}, {1, 2, 9})},
                {tensor(DType::U8, {3}, {32, 16, 0})});
  expectOutputs({"BitwiseNot", 18}, {tensor(DType::U8, {2}, {0, 15})}, {tensor(DType::U8, {2}, {255, 240})});
}

TEST(ReferenceElementwise, PropagatesNaN) {
  expectOutputs({"Max"}, {vector({NaN, 1, 2}), vector({0, NaN, 3})}, {vector({NaN, NaN, 3})});
  expectOutputs({"Min"}, {vector({NaN, 1, 2}), vector({0, NaN, 3})}, {vector({NaN, NaN, 2})});
  expectOutputs({"Relu"}, {vector({NaN, -1})}, {vector({NaN, 0})});
  expectOutputs({"Sign"}, {vector({NaN, -2, 0})}, {vector({NaN, -1, 0})});
}

TEST(ReferenceElementwise, MixesTypesInPowersAndCasts) {
  expectOutputs({"Pow"}, {vector({2, 9}), indices({3, 2})}, {vector({8, 81})});
  expectOutputs({"Pow"}, {indices({2, -1, 1}), indices({10, -3, -5})}, {indices({1024, -1, 1})});
  expectOutputs({"Cast", 13, {{"to", int64_t{2}}}}, {vector({-3, 2.9, 300, NaN})},
                {tensor(DType::U8, {4}, {0, 2, 255, 0})});
  expectOutputs({"Cast", 13, {{"to", int64_t{9}}}}, {vector({0, 0.5, NaN})}, {tensor(DType::Bool, {3}, {0, 1, 1})});
  expectOutputs({"Where"}, {tensor(DType::Bool, {2}, {1, 0}), scalar(1), vector({7, 8})}, {vector({1, 8})});
  expectOutputs({"Mean"}, {vector({1, 2}), vector({3, 4}), vector({5, 9})}, {vector({3, 5})});
}

TEST(ReferenceElementwise, KnowsWhatItHas) {
  EXPECT_TRUE(hasReference("Add", "", 7));
  EXPECT_TRUE(hasReference("Add", "ai.onnx", 17));
  EXPECT_FALSE(hasReference("Acosh", "", 8));
  EXPECT_FALSE(hasReference("Gelu", "", 17));
  EXPECT_TRUE(hasReference("Gelu", "com.microsoft", 1));
  EXPECT_FALSE(hasReference("Loop", "", 17));
  EXPECT_FALSE(hasReference("Add", "", 1000));
  Expected<std::vector<Tensor>> outputs = Node{"ImageDecoder", 20}({});
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.status().code(), Code::Unsupported);
  expectMalformed({"Add"}, {vector({1})}, "expected input 1, found 1 inputs");
}

namespace tilewright::test {

TEST(ReferenceElementwise, ShiftsSignsAndBeyondTheWidth) {
  Node left{"BitShift", 28, {{"direction", std::string("LEFT")}}},
      right{"BitShift", 28, {{"direction", std::string("RIGHT")}}};
  Tensor x = tensor(DType::I8, {4}, {-128, -1, 64, 3}), by = tensor(DType::I8, {4}, {1, 9, -1, 2});
  expectOutputs(right, {x, by}, {tensor(DType::I8, {4}, {-64, -1, 0, 0})});
  expectOutputs(left, {x, by}, {tensor(DType::I8, {4}, {0, 0, 0, 12})});
  expectOutputs(right, {tensor(DType::U8, {2}, {255, 255}), tensor(DType::U8, {2}, {7, 8})},
                {tensor(DType::U8, {2}, {1, 0})});
}

TEST(ReferenceElementwise, TakesTheFloorOfQuotients) {
  expectOutputs({"Mod", 28}, {vector({-4.3, 7.2, 5, -5}), vector({2.1, -3.4, 8, INFINITY})},
                {vector({2.0, -3.0, 5, INFINITY})});
  expectOutputs({"Mod", 28, {{"fmod", int64_t{1}}}}, {vector({-4.3}), vector({2.1})}, {vector({-0.1})});
}

/// Before opset 7, the right operand is broadcast only with broadcast = 1, from an axis on.
TEST(ReferenceElementwise, BroadcastsAsOldModelsSay) {
  Attributes along{{"broadcast", int64_t{1}}, {"axis", int64_t{0}}};
  expectOutputs({"Add", 6, along}, {floats({2, 2}, {1, 2, 3, 4}), vector({10, 20})},
                {floats({2, 2}, {11, 12, 23, 24})});
  expectOutputs({"Mul", 1, {{"broadcast", int64_t{1}}}}, {floats({2, 2}, {1, 2, 3, 4}), vector({10, 20})},
                {floats({2, 2}, {10, 40, 30, 80})});
  expectMalformed({"Add", 6}, {floats({2, 2}, {1, 2, 3, 4}), vector({10, 20})}, "broadcast is 0");
  expectOutputs({"ImageScaler", 1, {{"scale", 2.0f}, {"bias", std::vector<float>{1, -1}}}}, {counting({1, 2, 1, 2})},
                {floats({1, 2, 1, 2}, {1, 3, 3, 5})});
  expectOutputs({"Cast", 1, {{"to", std::string("INT32")}}}, {vector({2.7})}, {tensor(DType::I32, {1}, {2})});
}

/// The numbers are those of NumPy: RandomState(0).random_sample(4) is 0.5488, 0.7152, 0.6028, 0.5449.
TEST(ReferenceRandom, DrawsAsNumPyDoes) {
  expectOutputs({"RandomUniform", 1, {{"shape", std::vector<int64_t>{4}}, {"seed", 0.0f}}}, {},
                {vector({0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969})});
  expectOutputs({"Dropout", 13, {{"seed", int64_t{0}}}, 2},
                {vector({1, 2, 3, 4}), scalar(0.6), tensor(DType::Bool, {}, {1})},
                {vector({0, 5, 7.5, 0}), tensor(DType::Bool, {4}, {0, 1, 1, 0})});
}

} // namespace tilewright::test
