// SPDX-License-Identifier: Apache-2.0
// Element types of less than 16 bits, and conversions to them.
#include "tests/runtime/reference/Evaluate.h"

#include "runtime/reference/Kernel.h"

#include <cmath>
#include <limits>

namespace tilewright::test {

static constexpr double infinite = std::numeric_limits<double>::infinity(),
                        nan = std::numeric_limits<double>::quiet_NaN();

static Node castTo(DType type, Attributes attributes = {}) {
  attributes["to"] = static_cast<int64_t>(type);
  return {"Cast", 28, std::move(attributes)};
}

static std::vector<int> bytesOf(const Tensor &tensor) {
  std::vector<int> bytes;
  for (size_t i = 0; i < tensor.byteSize(); ++i)
    bytes.push_back(std::to_integer<int>(tensor.bytes()[i]));
  return bytes;
}

/// The bit patterns are those of the tables of ONNX's "Float stored in 8 bits".
TEST(ReferenceTypes, RoundsIntoFloatsOfAByte) {
  Tensor x = tensor(DType::F32, {8}, {0.0, -1, 448, 1e6, -1e6, infinite, 0.0625 * 0.017, 1.0625});
  struct {
    DType type;
    std::vector<int> saturated, beyond;
  } rows[] = {
      {DType::F8E4M3FN, {0, 0xb8, 0x7e, 0x7e, 0xfe, 0x7e, 1, 0x38}, {0, 0xb8, 0x7e, 0x7f, 0xff, 0x7f, 1, 0x38}},
      {DType::F8E4M3FNUZ, {0, 0xc0, 0x7f, 0x7f, 0xff, 0x7f, 1, 0x40}, {0, 0xc0, 0x80, 0x80, 0x80, 0x80, 1, 0x40}},
      {DType::F8E5M2, {0, 0xbc, 0x5f, 0x7b, 0xfb, 0x7b, 0x14, 0x3c}, {0, 0xbc, 0x5f, 0x7c, 0xfc, 0x7c, 0x14, 0x3c}},
      {DType::F8E5M2FNUZ, {0, 0xc0, 0x63, 0x7f, 0xff, 0x7f, 0x18, 0x40}, {0, 0xc0, 0x63, 0x80, 0x80, 0x80, 0x18, 0x40}},
  };
  for (const auto &row : rows) {
    SCOPED_TRACE(name(row.type));
    auto saturated = castTo(row.type)({x}), beyond = castTo(row.type, {{"saturate", int64_t{0}}})({x});
    ASSERT_TRUE(saturated.ok() && beyond.ok());
    EXPECT_EQ(bytesOf(saturated->front()), row.saturated);
    EXPECT_EQ(bytesOf(beyond->front()), row.beyond);
  }
}

/// Every bit pattern of a number survives conversion to double and back.
TEST(ReferenceTypes, KeepsEveryPattern) {
  for (DType type :
       {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ, DType::F8E8M0, DType::F4E2M1}) {
    SCOPED_TRACE(name(type));
    Tensor all = Tensor::allocate(type, {type == DType::F4E2M1 ? 16 : 256});
    for (int64_t i = 0; i < all.count(); ++i)
      all.data<uint8_t>()[i] = static_cast<uint8_t>(i);
    Tensor back = reference::convert(reference::convert(all, DType::F64), type);
    reference::Values<double> values(all);
    int64_t numbers = 0;
    for (int64_t i = 0; i < all.count(); ++i)
      if (std::isfinite(values[i]) && ++numbers &&
          (type != DType::F8E8M0 || i > 0)) // 2^-127 has no leading one in float32, and is rounded up
        EXPECT_EQ(back.data<uint8_t>()[i], i) << values[i];
    EXPECT_GE(numbers, all.count() - 8);
  }
}

TEST(ReferenceTypes, RoundsPowersOfTwo) {
  Tensor x = tensor(DType::F32, {5}, {1, 1.25, 1.5, 0.3, nan});
  auto bits = [&](const char *mode) {
    return bytesOf(castTo(DType::F8E8M0, {{"round_mode", std::string(mode)}})({x})->front());
  };
  EXPECT_EQ(bits("up"), (std::vector<int>{127, 128, 128, 126, 255}));
  EXPECT_EQ(bits("down"), (std::vector<int>{127, 127, 127, 125, 255}));
  EXPECT_EQ(bits("nearest"), (std::vector<int>{127, 127, 128, 125, 255}));
  expectMalformed(castTo(DType::F8E8M0, {{"round_mode", std::string("sideways")}}), {x}, "found 'sideways'");
}

TEST(ReferenceTypes, WrapsNarrowIntegers) {
  Tensor x = tensor(DType::I32, {5}, {7, 8, -9, 3, -3}), reals = tensor(DType::F32, {4}, {8.5, -9, 2.7, nan});
  expectOutputs(castTo(DType::I4), {x}, {tensor(DType::I4, {5}, {7, -8, 7, 3, -3})});
  expectOutputs({"Cast", 28, {{"to", int64_t{7}}}}, *castTo(DType::U4)({x}),
                {tensor(DType::I64, {5}, {7, 8, 7, 3, 13})});
  expectOutputs({"Cast", 28, {{"to", int64_t{7}}}}, *castTo(DType::I2)({x}),
                {tensor(DType::I64, {5}, {-1, 0, -1, -1, 1})});
  expectOutputs({"Cast", 28, {{"to", int64_t{7}}}}, *castTo(DType::I4)({reals}),
                {tensor(DType::I64, {4}, {-8, 7, 2, 0})});
}

TEST(ReferenceTypes, MovesComplexNumbersButDoesNotAddThem) {
  Tensor x = Tensor::allocate(DType::C128, {2, 1});
  x.data<double>()[0] = 1, x.data<double>()[1] = 2, x.data<double>()[2] = 3, x.data<double>()[3] = 4;
  auto turned = Node{"Transpose", 13}({x});
  ASSERT_TRUE(turned.ok()) << turned.status().message();
  EXPECT_EQ(turned->front().shape(), (Shape{1, 2}));
  EXPECT_EQ(bytesOf(turned->front()), bytesOf(x));
  EXPECT_EQ((Node{"Add", 14}({x, x}).status().code()), Code::Unsupported);
}

} // namespace tilewright::test
