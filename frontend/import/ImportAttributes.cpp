// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes, and the tensors in them.
#include "frontend/import/ModelImporter.h"
#include "frontend/import/ObjectTypes.h"
#include "frontend/onnx/TensorData.h"

#include <set>

using namespace mlir;

namespace tilewright {

/// The tensor's bytes are part of the model or of a generated node.
TensorSource ModelImporter::tensorSource() {
  auto owner = std::make_shared<std::pair<decltype(model), decltype(generated)>>(model, generated);
  return {.files = &files, .owner = owner, .randomWeights = state.options.randomWeights};
}

static Tensor orThrow(Expected<Tensor> tensor) {
  if (!tensor)
    throw ImportFailure{tensor.status()};
  return *tensor;
}

Tensor ModelImporter::decode(const onnx::TensorProto &proto, const std::string &name) {
  return orThrow(decodeTensor(proto, name, tensorSource()));
}

Tensor ModelImporter::decode(const onnx::SparseTensorProto &proto) {
  return orThrow(decodeSparseTensor(proto, tensorSource()));
}

Attributes ModelImporter::attributesOf(const onnx::NodeProto &proto, const Scope &scope) {
  Attributes attributes;
  std::set<std::string> seen;
  for (const auto &given : proto.attribute()) {
    const onnx::AttributeProto *attribute = &given;
    if (!seen.insert(given.name()).second)
      malformed("attribute '{}' is given twice", given.name());
    if (!given.ref_attr_name().empty()) {
      auto found = scope.references.find(given.ref_attr_name());
      if (found == scope.references.end())
        continue; // the caller leaves it out, so the operator's default holds
      attribute = found->second;
    }
    const std::string &name = given.name();
    switch (attribute->type()) {
    case onnx::AttributeProto::INT:
      attributes[name] = attribute->i();
      break;
    case onnx::AttributeProto::FLOAT:
      attributes[name] = attribute->f();
      break;
    case onnx::AttributeProto::STRING:
      attributes[name] = attribute->s();
      break;
    case onnx::AttributeProto::INTS:
      attributes[name] = std::vector<int64_t>(attribute->ints().begin(), attribute->ints().end());
      break;
    case onnx::AttributeProto::FLOATS:
      attributes[name] = std::vector<float>(attribute->floats().begin(), attribute->floats().end());
      break;
    case onnx::AttributeProto::STRINGS:
      attributes[name] = std::vector<std::string>(attribute->strings().begin(), attribute->strings().end());
      break;
    case onnx::AttributeProto::TENSOR:
      attributes[name] = decode(attribute->t(), fmt::format("attribute '{}'", name));
      break;
    case onnx::AttributeProto::SPARSE_TENSOR:
      attributes[name] = decode(attribute->sparse_tensor());
      break;
    case onnx::AttributeProto::GRAPH: // read where branches are inlined
      break;
    case onnx::AttributeProto::TYPE_PROTO: // ObjectTypes.cpp reads it
      attributes[std::string(serializedType)] = attribute->tp().SerializeAsString();
      break;
    default:
      unsupported("attribute '{}' has a kind that is not supported ({})", name, static_cast<int>(attribute->type()));
    }
  }
  return attributes;
}

void ModelImporter::importConstant(const onnx::NodeProto &proto, const Attributes &attributes, Scope &scope) {
  if (proto.output_size() != 1 || attributes.size() != 1)
    unsupported("expected one output and one value that is a tensor, a number or a list of numbers, got {} outputs and "
                "{} values",
                proto.output_size(), attributes.size());
  auto vector = [](DType type, const auto &list, bool isScalar) {
    Tensor tensor = Tensor::allocate(type, isScalar ? Shape{} : Shape{static_cast<int64_t>(list.size())});
    std::ranges::copy(list, tensor.template data<std::decay_t<decltype(list[0])>>());
    return tensor;
  };
  auto stringTensor = [](const auto &value) {
    constexpr bool isScalar = std::is_same_v<std::decay_t<decltype(value)>, std::string>;
    std::vector<std::string> list;
    if constexpr (isScalar)
      list = {value};
    else
      list = value;
    Tensor tensor = Tensor::allocate(DType::String, isScalar ? Shape{} : Shape{static_cast<int64_t>(list.size())});
    std::ranges::copy(list, tensor.data<std::string>());
    return tensor;
  };
  auto make = [&](const auto &value) -> Tensor {
    using Kind = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Kind, Tensor>)
      return value;
    else if constexpr (std::is_same_v<Kind, float>)
      return vector(DType::F32, std::array{value}, true);
    else if constexpr (std::is_same_v<Kind, int64_t>)
      return vector(DType::I64, std::array{value}, true);
    else if constexpr (std::is_same_v<Kind, std::vector<float>>)
      return vector(DType::F32, value, false);
    else if constexpr (std::is_same_v<Kind, std::vector<int64_t>>)
      return vector(DType::I64, value, false);
    else
      return stringTensor(value);
  };
  define(proto.output(0), state.newConstant(proto.output(0), std::visit(make, attributes.begin()->second)), scope);
}

} // namespace tilewright
