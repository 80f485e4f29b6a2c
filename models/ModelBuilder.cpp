// SPDX-License-Identifier: Apache-2.0
// Appends nodes and initializers to a ModelProto.
#include "models/ModelBuilder.h"

#include "models/Random.h"
#include "runtime/Tensor.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace tilewright::models {

constexpr int64_t opset = 17;
constexpr int64_t irVersion = 8;

/// Rounds to the nearest f16, ties to even. Does not handle overflow, which weights are far from.
static uint16_t toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = (bits >> 16) & 0x8000;
  float magnitude = std::fabs(value);
  if (magnitude < 0x1p-14f) // subnormal halves are multiples of 2^-24
    return sign | static_cast<uint16_t>(std::lrint(magnitude * 0x1p24f));
  uint32_t rounded = (bits & 0x7fffffff) + 0xfff + ((bits >> 13) & 1);
  uint32_t half = (rounded >> 13) - (112u << 10);
  return sign | static_cast<uint16_t>(half < 0x7c00 ? half : 0x7c00);
}

ModelBuilder::ModelBuilder(std::string name, DType type) : type_(type) {
  model_.set_ir_version(irVersion);
  model_.set_producer_name("tilewright-models");
  model_.mutable_graph()->set_name(std::move(name));
  model_.add_opset_import()->set_version(opset);
}

onnx::ValueInfoProto ModelBuilder::valueInfo(std::string name, const std::vector<Dimension> &shape) const {
  onnx::ValueInfoProto info;
  info.set_name(std::move(name));
  auto *tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type_));
  for (const Dimension &dimension : shape) {
    auto *added = tensor->mutable_shape()->add_dim();
    if (const auto *size = std::get_if<int64_t>(&dimension))
      added->set_dim_value(*size);
    else
      added->set_dim_param(std::get<std::string>(dimension));
  }
  return info;
}

Value ModelBuilder::input(std::string name, const std::vector<Dimension> &shape) {
  *model_.mutable_graph()->add_input() = valueInfo(name, shape);
  return {std::move(name)};
}

void ModelBuilder::output(std::string name, const Value &value, const std::vector<Dimension> &shape) {
  // Rename the value instead of adding an Identity node, which would be an additional kernel in an unfused run.
  for (onnx::NodeProto &node : *model_.mutable_graph()->mutable_node()) {
    for (std::string &made : *node.mutable_output())
      if (made == value.name)
        made = name;
    for (std::string &used : *node.mutable_input())
      if (used == value.name)
        used = name;
  }
  *model_.mutable_graph()->add_output() = valueInfo(std::move(name), shape);
}

onnx::TensorProto &ModelBuilder::addInitializer(const std::string &name, const std::vector<int64_t> &shape,
                                                DType type) {
  onnx::TensorProto &tensor = *model_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int32_t>(type));
  for (int64_t dimension : shape)
    tensor.add_dims(dimension);
  tensor.mutable_raw_data()->reserve(elementCount(shape) * elementBytes(type));
  return tensor;
}

void ModelBuilder::appendElement(std::string &bytes, double value) const {
  if (type_ == DType::F16) {
    uint16_t half = toHalf(static_cast<float>(value));
    bytes.append(reinterpret_cast<const char *>(&half), sizeof half);
  } else {
    float single = static_cast<float>(value);
    bytes.append(reinterpret_cast<const char *>(&single), sizeof single);
  }
}

Value ModelBuilder::weight(std::string name, const std::vector<int64_t> &shape, double deviation, double mean) {
  std::string &bytes = *addInitializer(name, shape, type_).mutable_raw_data();
  Random random(name);
  for (int64_t i = 0, count = elementCount(shape); i < count; ++i)
    appendElement(bytes, mean + deviation * random.normal());
  return {std::move(name)};
}

Value ModelBuilder::uniform(std::string name, const std::vector<int64_t> &shape, double low, double high) {
  std::string &bytes = *addInitializer(name, shape, type_).mutable_raw_data();
  Random random(name);
  for (int64_t i = 0, count = elementCount(shape); i < count; ++i)
    appendElement(bytes, low + (high - low) * random.uniform());
  return {std::move(name)};
}

Value ModelBuilder::scalar(std::string name, double value) {
  appendElement(*addInitializer(name, {}, type_).mutable_raw_data(), value);
  return {std::move(name)};
}

Value ModelBuilder::integers(std::string name, std::vector<int64_t> values) {
  onnx::TensorProto &tensor = addInitializer(name, {static_cast<int64_t>(values.size())}, DType::I64);
  tensor.mutable_raw_data()->append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(int64_t));
  return {std::move(name)};
}

static void setAttribute(onnx::AttributeProto &attribute, const AttributeValue &value) {
  if (const auto *integer = std::get_if<int64_t>(&value)) {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto *real = std::get_if<float>(&value)) {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(*real);
  } else if (const auto *text = std::get_if<std::string>(&value)) {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(*text);
  } else {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t each : std::get<std::vector<int64_t>>(value))
      attribute.add_ints(each);
  }
}

Value ModelBuilder::op(std::string_view type, std::vector<Value> inputs,
                       std::initializer_list<NamedAttribute> attributes, std::string name) {
  onnx::NodeProto &node = *model_.mutable_graph()->add_node();
  if (name.empty())
    name = fmt::format("{}_{}", type, model_.graph().node_size());
  node.set_op_type(std::string(type));
  node.set_name(name);
  for (Value &input : inputs)
    node.add_input(std::move(input.name));
  node.add_output(name);
  for (const auto &[key, value] : attributes) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(key);
    setAttribute(attribute, value);
  }
  return {std::move(name)};
}

Value ModelBuilder::linear(const std::string &name, const Value &x, int64_t in, int64_t out) {
  Value product = op("MatMul", {x, weight(name + ".weight", {in, out}, 1 / std::sqrt(in))}, {}, name + ".matmul");
  return op("Add", {product, weight(name + ".bias", {out}, 0.1)}, {}, name + ".add");
}

Value ModelBuilder::layerNorm(const std::string &name, const Value &x, int64_t size) {
  Value scale = weight(name + ".scale", {size}, 0.1, 1.0), bias = weight(name + ".bias", {size}, 0.1);
  return op("LayerNormalization", {x, scale, bias}, {{"axis", int64_t(-1)}, {"epsilon", 1e-5f}}, name);
}

Value ModelBuilder::gelu(const std::string &name, const Value &x) {
  Value divided = op("Div", {x, scalar(name + ".root2", std::sqrt(2.0))}, {}, name + ".div");
  Value erf = op("Erf", {divided}, {}, name + ".erf");
  Value plusOne = op("Add", {erf, scalar(name + ".one", 1)}, {}, name + ".plus1");
  Value product = op("Mul", {x, plusOne}, {}, name + ".mul");
  return op("Mul", {product, scalar(name + ".half", 0.5)}, {}, name + ".half_of");
}

Status ModelBuilder::write(const std::string &path) const {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!model_.SerializeToCodedStream(&coded))
      return {Code::Internal, fmt::format("model '{}' lacks a field that ONNX requires", model_.graph().name())};
  }
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    return {Code::Io, fmt::format("cannot write {} bytes to {}: {}", bytes.size(), path, std::strerror(errno))};
  return {};
}

} // namespace tilewright::models
