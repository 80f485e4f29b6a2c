// A reference kernel's result types, learned by running it on zeros.
//
// With symbolic sizes it runs twice, each symbol with another small number. A result size that stays is a constant; one that equals the
// same symbol both times is that symbol; any other is a fresh symbol, which the call binds (the runtime checks every size it returns).
#include "frontend/HostCall.h"

#include "frontend/TensorData.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Operators whose result sizes depend on the elements of what they read.
constexpr std::string_view dataDependent[] = {"Compress", "NonMaxSuppression", "NonZero", "Unique"};
constexpr double maxProbeElements = 1 << 24;

struct Probe {
  std::vector<int64_t> symbols; // the number that each symbol stands for
  std::vector<Tensor> outputs;
};

bool runProbe(NodeBuilder &b, Probe &probe) {
  std::vector<Tensor> inputs;
  double elements = 0;
  for (ImportedValue *value : b.node.inputs) {
    const Tensor *known = value ? b.state.constantOf(*value) : nullptr;
    if (!value || known) {
      inputs.push_back(known ? *known : Tensor());
      continue;
    }
    Shape shape;
    double count = 1;
    for (AffineExpr size : value->sizes) {
      shape.push_back(std::max<int64_t>(0, graph::evaluate(size, {}, probe.symbols)));
      count *= static_cast<double>(shape.back());
    }
    elements += count;
    if (elements > maxProbeElements)
      return false;
    inputs.push_back(Tensor::allocate(value->type, shape));
    if (const Sizes *contents = b.state.elementsOf(*value); contents && value->type == DType::I64)
      for (auto [i, element] : llvm::enumerate(*contents))
        inputs.back().data<int64_t>()[i] = graph::evaluate(element, {}, probe.symbols);
  }
  ReferenceCall call{.op = b.node.op,
                     .domain = b.node.domain,
                     .opset = b.node.opset,
                     .attributes = &b.node.attributes,
                     .outputCount = b.node.outputs.size()};
  Expected<std::vector<Tensor>> outputs = evaluate(call, inputs);
  if (!outputs)
    return false;
  probe.outputs = std::move(*outputs);
  return true;
}

/// Operators whose first input is a size already.
constexpr std::string_view sized[] = {"BlackmanWindow", "ConstantOfShape", "HammingWindow", "HannWindow", "MelWeightMatrix", "Range"};

/// Whether the result's sizes depend on something that is only known at run time: on data, or on a small integer input (a shape, a count).
bool dependsOnData(NodeBuilder &b) {
  if (llvm::is_contained(dataDependent, b.node.op))
    return true;
  bool first = llvm::is_contained(sized, b.node.op);
  for (size_t i = first ? 0 : 1; i < b.node.inputs.size(); ++i)
    if (b.has(i) && (b.type(i) == DType::I64 || first) && b.rank(i) <= 1 && !b.state.elementsOf(b.input(i)))
      return true;
  return false;
}

AffineExpr sizeFromProbes(ImportState &state, const Probe &first, const Probe &second, size_t output, size_t dim, bool fixed) {
  int64_t a = first.outputs[output].shape()[dim], b = second.outputs[output].shape()[dim];
  if (fixed)
    return state.freshSymbol("u");
  if (a == b)
    return state.number(a);
  for (size_t i = 0; i < first.symbols.size(); ++i)
    if (first.symbols[i] == a && second.symbols[i] == b)
      return getAffineSymbolExpr(i, state.context);
  return state.freshSymbol("u");
}

mlir::Attribute tensorAttribute(OpBuilder &builder, const Tensor &tensor) {
  std::string_view bytes(reinterpret_cast<const char *>(tensor.bytes()), tensor.byteSize());
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

struct ResultFacts {
  DType type;
  Sizes sizes;
};

/// From value_info, where it has rank and type: unknown sizes are fresh symbols.
std::optional<ResultFacts> declaredFacts(ImportState &state, const onnx::ValueInfoProto *info) {
  if (!info || !info->type().has_tensor_type() || !info->type().tensor_type().has_shape() ||
      !findDType(static_cast<DType>(info->type().tensor_type().elem_type())))
    return std::nullopt;
  ResultFacts facts{static_cast<DType>(info->type().tensor_type().elem_type()), {}};
  for (const auto &dim : info->type().tensor_type().shape().dim())
    facts.sizes.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? state.number(dim.dim_value()) : state.freshSymbol("u"));
  return facts;
}

} // namespace

bool buildHostCall(NodeBuilder &b, ArrayRef<const onnx::ValueInfoProto *> declared) {
  ImportState &state = b.state;
  bool unknown = dependsOnData(b);
  Probe probes[2];
  for (size_t i = 0; i < state.symbols().size(); ++i) {
    probes[0].symbols.push_back(3 + 2 * static_cast<int64_t>(i));
    probes[1].symbols.push_back(6 + 5 * static_cast<int64_t>(i));
  }
  bool symbolic = llvm::any_of(
      b.node.inputs, [](ImportedValue *v) { return v && llvm::any_of(v->sizes, [](AffineExpr s) { return !graph::constantSize(s); }); });
  bool probed = runProbe(b, probes[0]) && (symbolic ? runProbe(b, probes[1]) : (probes[1].outputs = probes[0].outputs, true));

  std::vector<ResultFacts> facts;
  for (size_t i = 0; i < b.node.outputs.size(); ++i) {
    const Tensor *first = probed && i < probes[0].outputs.size() ? &probes[0].outputs[i] : nullptr;
    const Tensor *second = probed && i < probes[1].outputs.size() ? &probes[1].outputs[i] : nullptr;
    if (first && second && first->defined() && second->defined() && first->rank() == second->rank()) {
      facts.push_back({first->type(), {}});
      for (int64_t dim = 0; dim < first->rank(); ++dim)
        facts.back().sizes.push_back(sizeFromProbes(state, probes[0], probes[1], i, dim, unknown));
    } else if (auto fromModel = declaredFacts(state, declared[i])) {
      facts.push_back(std::move(*fromModel));
    } else {
      return false;
    }
  }

  SmallVector<Value> operands;
  SmallVector<bool> present;
  for (ImportedValue *value : b.node.inputs) {
    present.push_back(value != nullptr);
    if (value)
      operands.push_back(state.materialize(*value));
  }
  SmallVector<Type> types;
  for (const ResultFacts &result : facts)
    types.push_back(state.tensorType(result.sizes, elementType(state.context, result.type)));
  auto call = graph::HostCallOp::create(state.builder, state.location, types, b.node.op, b.node.domain, b.node.opset, present,
                                        attributesFor(state.builder, b.node.attributes), operands);
  SmallVector<StringRef> inputTypes, outputTypes; // signedness, which IR types do not have
  for (ImportedValue *value : b.node.inputs)
    if (value)
      inputTypes.push_back(name(value->type));
  for (size_t i = 0; i < facts.size(); ++i) {
    outputTypes.push_back(name(facts[i].type));
    if (!b.node.outputs[i])
      continue;
    b.node.outputs[i]->type = facts[i].type;
    b.node.outputs[i]->value = call.getResult(i);
    b.node.outputs[i]->sizes = facts[i].sizes;
  }
  call->setAttr("input_dtypes", state.builder.getStrArrayAttr(inputTypes));
  call->setAttr("output_dtypes", state.builder.getStrArrayAttr(outputTypes));
  return true;
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
      auto row = std::ranges::find_if(dtypeTable,
                                      [&](const DTypeInfo &info) { return StringRef(info.name.data(), info.name.size()) == typeName; });
      auto dims = llvm::cast<DenseI64ArrayAttr>(parts[1]).asArrayRef();
      Tensor tensor = Tensor::allocate(row->type, Shape(dims.begin(), dims.end()));
      std::string bytes = llvm::fromHex(llvm::cast<StringAttr>(parts[2]).getValue());
      std::memcpy(tensor.bytes(), bytes.data(), std::min(bytes.size(), tensor.byteSize()));
      value = std::move(tensor);
    }
  }
  return attributes;
}

} // namespace tilewright
