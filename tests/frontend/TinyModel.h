// SPDX-License-Identifier: Apache-2.0
// ONNX models of a few nodes, built in memory for tests.
#pragma once

#include "frontend/import/Importer.h"
#include "runtime/Tensor.h"
#include "runtime/reference/Reference.h"
#include "tests/reference/GraphInterpreter.h"

#include "onnx/onnx.pb.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

namespace tilewright::test {

using Dim = std::variant<int, std::string>;

class TinyModel {
public:
  explicit TinyModel(int opset = 17, int irVersion = 8) {
    proto.set_ir_version(irVersion);
    importDomain("", opset);
    proto.mutable_graph()->set_name("tiny");
  }

  TinyModel &importDomain(const std::string &domain, int opset) {
    auto *import = proto.add_opset_import();
    import->set_domain(domain), import->set_version(opset);
    return *this;
  }

  TinyModel &input(const std::string &name, std::vector<Dim> dims, DType type = DType::F32) {
    describe(proto.mutable_graph()->add_input(), name, dims, type);
    return *this;
  }
  TinyModel &output(const std::string &name) {
    proto.mutable_graph()->add_output()->set_name(name);
    return *this;
  }
  static void describe(onnx::ValueInfoProto *info, const std::string &name, const std::vector<Dim> &dims, DType type) {
    info->set_name(name);
    auto *tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(static_cast<int>(type));
    tensor->mutable_shape();
    for (const Dim &dim : dims)
      if (auto *number = std::get_if<int>(&dim))
        tensor->mutable_shape()->add_dim()->set_dim_value(*number);
      else
        tensor->mutable_shape()->add_dim()->set_dim_param(std::get<std::string>(dim));
  }

  onnx::TensorProto *floats(const std::string &name, std::vector<int64_t> dims, std::vector<float> values) {
    onnx::TensorProto *tensor = initializer(name, dims, DType::F32);
    for (float value : values)
      tensor->add_float_data(value);
    return tensor;
  }
  onnx::TensorProto *integers(const std::string &name, std::vector<int64_t> dims, std::vector<int64_t> values) {
    onnx::TensorProto *tensor = initializer(name, dims, DType::I64);
    for (int64_t value : values)
      tensor->add_int64_data(value);
    return tensor;
  }
  onnx::TensorProto *initializer(const std::string &name, const std::vector<int64_t> &dims, DType type) {
    onnx::TensorProto *tensor = proto.mutable_graph()->add_initializer();
    tensor->set_name(name), tensor->set_data_type(static_cast<int>(type));
    for (int64_t dim : dims)
      tensor->add_dims(dim);
    return tensor;
  }

  /// A node called like its first output.
  onnx::NodeProto *node(const std::string &op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    return fill(proto.mutable_graph()->add_node(), op, inputs, outputs);
  }
  static onnx::NodeProto *fill(onnx::NodeProto *node, const std::string &op, const std::vector<std::string> &inputs,
                               const std::vector<std::string> &outputs) {
    node->set_op_type(op), node->set_name(outputs.empty() ? op : outputs[0]);
    for (const std::string &name : inputs)
      node->add_input(name);
    for (const std::string &name : outputs)
      node->add_output(name);
    return node;
  }

  std::string bytes() const { return proto.SerializeAsString(); }

  onnx::ModelProto proto;
};

inline void setAttribute(onnx::NodeProto *node, const std::string &name, int64_t value) {
  auto *attribute = node->add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::INT), attribute->set_i(value);
}
inline void setAttribute(onnx::NodeProto *node, const std::string &name, float value) {
  auto *attribute = node->add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::FLOAT), attribute->set_f(value);
}
inline void setAttribute(onnx::NodeProto *node, const std::string &name, const std::string &value) {
  auto *attribute = node->add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::STRING), attribute->set_s(value);
}
inline void setAttribute(onnx::NodeProto *node, const std::string &name, const std::vector<int64_t> &values) {
  auto *attribute = node->add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute->add_ints(value);
}
inline void setAttribute(onnx::NodeProto *node, const std::string &name, const std::vector<float> &values) {
  auto *attribute = node->add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::FLOATS);
  attribute->mutable_floats()->Assign(values.begin(), values.end());
}
inline void setAttribute(onnx::NodeProto *node, const std::string &name, const std::vector<std::string> &values) {
  auto *attribute = node->add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::STRINGS);
  attribute->mutable_strings()->Assign(values.begin(), values.end());
}

/// Values that look random, from -2 to 2, the same every time.
inline Tensor sampleTensor(DType type, Shape shape, uint64_t seed = 1) {
  bool areHalves = type == DType::F16 || type == DType::BF16;
  if (areHalves || findDType(type)->bits < 8) { // not every byte is one of them
    Attributes attributes{{"to", static_cast<int64_t>(type)}};
    Tensor whole = sampleTensor(areHalves ? DType::F32 : DType::I32, std::move(shape), seed);
    ReferenceCall call{.op = "Cast", .domain = "", .opset = 28, .attributes = &attributes, .outputCount = 1};
    return evaluate(call, std::span(&whole, 1))->front();
  }
  Tensor tensor = Tensor::allocate(type, std::move(shape));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    double value = static_cast<double>(seed >> 40) / (1 << 22) - 2.0;
    switch (type) {
    case DType::F32:
      tensor.data<float>()[i] = static_cast<float>(value);
      break;
    case DType::F64:
      tensor.data<double>()[i] = value;
      break;
    case DType::I64:
      tensor.data<int64_t>()[i] = static_cast<int64_t>(value * 10);
      break;
    case DType::I32:
      tensor.data<int32_t>()[i] = static_cast<int32_t>(value * 10);
      break;
    case DType::Bool:
      tensor.data<uint8_t>()[i] = value > 0;
      break;
    default:
      tensor.data<uint8_t>()[i] = static_cast<uint8_t>(static_cast<int>(value * 10));
      break; // negative ones wrap
    }
  }
  return tensor;
}

inline void expectClose(const Tensor &got, const Tensor &expected, const std::string &what) {
  ASSERT_EQ(got.type(), expected.type()) << what;
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  for (int64_t i = 0; i < expected.count(); ++i) {
    if (expected.type() == DType::F32) {
      float a = got.data<float>()[i], b = expected.data<float>()[i];
      if (!(std::isnan(a) && std::isnan(b)) && a != b) {
        ASSERT_NEAR(a, b, 1e-5 + 1e-4 * std::fabs(b)) << what << " at " << i;
      }
    } else {
      size_t bytes = elementBytes(expected.type());
      ASSERT_EQ(0, std::memcmp(got.bytes() + i * bytes, expected.bytes() + i * bytes, bytes)) << what << " at " << i;
    }
  }
}

} // namespace tilewright::test
