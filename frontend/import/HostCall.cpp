// SPDX-License-Identifier: Apache-2.0
// Emits graph.host_call, and converts attributes between the ONNX node, the IR and the reference.
#include "frontend/import/HostCall.h"

#include "frontend/import/HostCallResults.h"
#include "runtime/artifact/StringConstants.h"

using namespace mlir;

namespace tilewright {
namespace {

mlir::Attribute tensorAttribute(OpBuilder &builder, const Tensor &tensor) {
  std::vector<std::byte> strings =
      tensor.type() == DType::String ? runtime::encodeStrings(tensor) : std::vector<std::byte>();
  std::string_view bytes(reinterpret_cast<const char *>(tensor.bytes()), tensor.byteSize());
  if (tensor.type() == DType::String)
    bytes = {reinterpret_cast<const char *>(strings.data()), strings.size()};
  return builder.getArrayAttr({builder.getStringAttr(name(tensor.type())), builder.getDenseI64ArrayAttr(tensor.shape()),
                               builder.getStringAttr(llvm::toHex(bytes))});
}

DictionaryAttr attributesFor(OpBuilder &builder, const Attributes &attributes) {
  SmallVector<NamedAttribute> named;
  for (const auto &[key, value] : attributes) {
    mlir::Attribute attribute = std::visit(
        [&](const auto &v) -> mlir::Attribute {
          using Kind = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<Kind, int64_t>)
            return builder.getI64IntegerAttr(v);
          else if constexpr (std::is_same_v<Kind, float>)
            return builder.getF32FloatAttr(v);
          else if constexpr (std::is_same_v<Kind, std::string>)
            return builder.getStringAttr(v);
          else if constexpr (std::is_same_v<Kind, std::vector<int64_t>>)
            return builder.getDenseI64ArrayAttr(v);
          else if constexpr (std::is_same_v<Kind, std::vector<float>>)
            return builder.getDenseF32ArrayAttr(v);
          else if constexpr (std::is_same_v<Kind, std::vector<std::string>>)
            return builder.getDictionaryAttr(
                builder.getNamedAttr("strings", builder.getStrArrayAttr(SmallVector<StringRef>(v.begin(), v.end()))));
          else
            return tensorAttribute(builder, v);
        },
        value);
    named.push_back(builder.getNamedAttr(key, attribute));
  }
  return builder.getDictionaryAttr(named);
}

} // namespace

Status buildHostCall(NodeBuilder &b, ArrayRef<const onnx::ValueInfoProto *> declared) {
  ImportState &state = b.state;
  std::vector<ResultType> results;
  if (Status inferred = inferResults(b, declared, results); !inferred)
    return inferred;

  SmallVector<Value> operands;
  SmallVector<bool> present;
  for (ImportedValue *value : b.node.inputs) {
    present.push_back(value != nullptr);
    if (value)
      operands.push_back(state.materialize(*value));
  }
  SmallVector<Type> types;
  for (const ResultType &result : results)
    types.push_back(state.tensorType(result.sizes, elementType(state.context, result.type)));
  auto call = graph::HostCallOp::create(state.builder, state.location, types, b.node.op, b.node.domain, b.node.opset,
                                        present, attributesFor(state.builder, b.node.attributes), operands);
  SmallVector<StringRef> inputTypes, outputTypes; // with signedness, which IR types do not have
  for (ImportedValue *value : b.node.inputs)
    if (value)
      inputTypes.push_back(name(value->type));
  for (size_t i = 0; i < results.size(); ++i) {
    outputTypes.push_back(name(results[i].type));
    if (!b.node.outputs[i])
      continue;
    b.node.outputs[i]->type = results[i].type;
    b.node.outputs[i]->value = call.getResult(i);
    b.node.outputs[i]->sizes = results[i].sizes;
    b.node.outputs[i]->element = results[i].element;
  }
  call->setAttr("input_dtypes", state.builder.getStrArrayAttr(inputTypes));
  call->setAttr("output_dtypes", state.builder.getStrArrayAttr(outputTypes));
  return {};
}

Attributes referenceAttributes(graph::HostCallOp call) {
  Attributes attributes;
  for (NamedAttribute named : call.getNodeAttributes()) {
    tilewright::Attribute &value = attributes[named.getName().str()];
    mlir::Attribute given = named.getValue();
    if (auto integer = llvm::dyn_cast<IntegerAttr>(given))
      value = integer.getInt();
    else if (auto real = llvm::dyn_cast<FloatAttr>(given))
      value = static_cast<float>(real.getValueAsDouble());
    else if (auto text = llvm::dyn_cast<StringAttr>(given))
      value = text.str();
    else if (auto integers = llvm::dyn_cast<DenseI64ArrayAttr>(given))
      value = std::vector<int64_t>(integers.asArrayRef().begin(), integers.asArrayRef().end());
    else if (auto reals = llvm::dyn_cast<DenseF32ArrayAttr>(given))
      value = std::vector<float>(reals.asArrayRef().begin(), reals.asArrayRef().end());
    else if (auto strings = llvm::dyn_cast<DictionaryAttr>(given)) {
      std::vector<std::string> list;
      for (mlir::Attribute text : strings.getAs<ArrayAttr>("strings"))
        list.push_back(llvm::cast<StringAttr>(text).str());
      value = std::move(list);
    } else {
      auto parts = llvm::cast<ArrayAttr>(given);
      StringRef typeName = llvm::cast<StringAttr>(parts[0]).getValue();
      auto dims = llvm::cast<DenseI64ArrayAttr>(parts[1]).asArrayRef();
      std::string bytes = llvm::fromHex(llvm::cast<StringAttr>(parts[2]).getValue());
      if (parseDType(typeName) == DType::String) {
        value = runtime::decodeStrings(std::as_bytes(std::span(bytes)), Shape(dims.begin(), dims.end()));
        continue;
      }
      Tensor tensor = Tensor::allocate(parseDType(typeName), Shape(dims.begin(), dims.end()));
      std::memcpy(tensor.bytes(), bytes.data(), std::min(bytes.size(), tensor.byteSize()));
      value = std::move(tensor);
    }
  }
  return attributes;
}

} // namespace tilewright
