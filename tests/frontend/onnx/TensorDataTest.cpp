// SPDX-License-Identifier: Apache-2.0
// Elements of narrow and of complex types.
#include "frontend/onnx/TensorData.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

onnx::TensorProto proto(DType type, std::initializer_list<int64_t> dims) {
  onnx::TensorProto tensor;
  tensor.set_data_type(static_cast<int>(type));
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  return tensor;
}

template <typename T> std::vector<int> decoded(const onnx::TensorProto &tensor) {
  Expected<Tensor> result = decodeTensor(tensor, "w", {});
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (!result.ok())
    return {};
  return {result->data<T>(), result->data<T>() + result->count()};
}

std::string refusal(const onnx::TensorProto &tensor) { return decodeTensor(tensor, "w", {}).status().message(); }

TEST(TensorData, TakesPackedIntegersApart) {
  onnx::TensorProto four = proto(DType::I4, {3}), two = proto(DType::U2, {5}), typed = proto(DType::U4, {3}),
                    narrow = proto(DType::I2, {3});
  four.set_raw_data("\xf1\x08"); // 1, -1, -8
  EXPECT_EQ(decoded<int8_t>(four), (std::vector<int>{1, -1, -8}));
  two.set_raw_data("\xe4\x02"); // 0, 1, 2, 3, 2
  EXPECT_EQ(decoded<uint8_t>(two), (std::vector<int>{0, 1, 2, 3, 2}));
  typed.add_int32_data(0xf1), typed.add_int32_data(8);
  EXPECT_EQ(decoded<uint8_t>(typed), (std::vector<int>{1, 15, 8}));
  narrow.set_raw_data("\x1e"); // -2, -1, 1
  EXPECT_EQ(decoded<int8_t>(narrow), (std::vector<int>{-2, -1, 1}));
}

TEST(TensorData, ReadsComplexNumbersAndBytes) {
  onnx::TensorProto complex = proto(DType::C64, {2}), wide = proto(DType::C128, {1}), eight = proto(DType::F8E5M2, {2});
  for (float part : {1.0f, 2.0f, 3.0f, 4.0f})
    complex.add_float_data(part);
  Expected<Tensor> pairs = decodeTensor(complex, "w", {});
  ASSERT_TRUE(pairs.ok()) << pairs.status().message();
  EXPECT_EQ(std::vector<float>(pairs->data<float>(), pairs->data<float>() + 4), (std::vector<float>{1, 2, 3, 4}));
  wide.add_double_data(1.5), wide.add_double_data(-2);
  Expected<Tensor> one = decodeTensor(wide, "w", {});
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one->data<double>()[1], -2);
  eight.add_int32_data(0x3c), eight.add_int32_data(0xbc);
  EXPECT_EQ(decoded<uint8_t>(eight), (std::vector<int>{0x3c, 0xbc}));
}

TEST(TensorData, TakesAnEmptyFieldOfRawBytesForNone) {
  onnx::TensorProto one = proto(DType::I64, {1});
  one.add_int64_data(7), one.set_raw_data("");
  EXPECT_EQ(decoded<int64_t>(one), std::vector<int>{7});
  one.set_raw_data("12345678");
  EXPECT_NE(refusal(one).find("more than one place"), std::string::npos);
}

TEST(TensorData, CountsPackedBytes) {
  onnx::TensorProto raw = proto(DType::I4, {3}), typed = proto(DType::U2, {5}), complex = proto(DType::C64, {2});
  raw.set_raw_data("abc");
  EXPECT_NE(refusal(raw).find("expected 2 bytes"), std::string::npos) << refusal(raw);
  typed.add_int32_data(1);
  EXPECT_NE(refusal(typed).find("expected 2 elements in int32_data"), std::string::npos) << refusal(typed);
  complex.add_float_data(1);
  EXPECT_NE(refusal(complex).find("expected 4 elements in float_data"), std::string::npos) << refusal(complex);
}

/// Elements 1 and 5 of [2, 3] are 7 and 8; `indices` has its shape in `shape`.
onnx::SparseTensorProto sparse(std::initializer_list<int64_t> shape, std::initializer_list<int64_t> indices) {
  onnx::SparseTensorProto tensor;
  *tensor.mutable_values() = proto(DType::F32, {2});
  tensor.mutable_values()->set_name("w");
  tensor.mutable_values()->add_float_data(7), tensor.mutable_values()->add_float_data(8);
  *tensor.mutable_indices() = proto(DType::I64, shape);
  for (int64_t index : indices)
    tensor.mutable_indices()->add_int64_data(index);
  tensor.add_dims(2), tensor.add_dims(3);
  return tensor;
}

TEST(TensorData, SparseTensorsBecomeDense) {
  for (const onnx::SparseTensorProto &tensor : {sparse({2}, {1, 5}), sparse({2, 2}, {0, 1, 1, 2})}) {
    Expected<Tensor> dense = decodeSparseTensor(tensor, {});
    ASSERT_TRUE(dense.ok()) << dense.status().message();
    EXPECT_EQ(dense->shape(), (Shape{2, 3}));
    EXPECT_EQ(std::vector<float>(dense->data<float>(), dense->data<float>() + 6),
              (std::vector<float>{0, 7, 0, 0, 0, 8}));
  }
}

TEST(TensorData, RefusesSparseTensors) {
  auto refuses = [](const onnx::SparseTensorProto &tensor, const std::string &part) {
    std::string message = decodeSparseTensor(tensor, {}).status().message();
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refuses(sparse({2}, {1, 6}), "element 1 is outside of the tensor");
  refuses(sparse({2}, {-1, 5}), "element 0 is outside of the tensor");
  refuses(sparse({2, 2}, {0, 3, 1, 2}), "element 0 is outside of the tensor");
  refuses(sparse({2}, {5, 1}), "element 1 is not behind the one before it");
  refuses(sparse({2}, {5, 5}), "element 1 is not behind the one before it");
  refuses(sparse({1}, {5}), "expected int64 indices of shape [2] or [2, 2], found int64 [1]");
  onnx::SparseTensorProto large = sparse({2}, {1, 5}), square = sparse({2}, {1, 5});
  large.set_dims(0, int64_t(1) << 30);
  refuses(large, "has 12884901888 bytes as a dense one, at most 1073741824 are supported");
  square.mutable_values()->add_dims(1);
  refuses(square, "expected a list of numbers as its values");
}

} // namespace
} // namespace tilewright
