// SPDX-License-Identifier: Apache-2.0
// The interface of the model: its inputs, initializers and outputs.
#include "frontend/import/ModelImporter.h"
#include "frontend/import/ObjectTypes.h"
#include "frontend/onnx/DimExpression.h"
#include "frontend/onnx/TensorData.h"

#include <map>
#include <set>

using namespace mlir;

namespace tilewright {

/// Of several constants of one name the last one counts, nodes after initializers.
void ModelImporter::importInitializers(const onnx::GraphProto &graph, Scope &scope) {
  std::map<std::string, const onnx::TensorProto *> last; // null: a node
  for (const auto &tensor : graph.initializer())
    last[tensor.name()] = &tensor;
  for (const auto &node : graph.node())
    if (auto found = node.output_size() && isConstantNode(node) ? last.find(node.output(0)) : last.end();
        found != last.end())
      found->second = nullptr;
  for (const auto &tensor : graph.initializer())
    if (last[tensor.name()] == &tensor)
      define(tensor.name(), state.newConstant(tensor.name(), decode(tensor, tensor.name())), scope);
    else
      noteOverruled(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    define(tensor.values().name(), state.newConstant(tensor.values().name(), decode(tensor)), scope);
}

/// Reads --shapes before any input gets its type, because a symbol that one input fixes is fixed everywhere.
void ModelImporter::bindShapeOptions() {
  std::set<std::string> known;
  for (const auto &info : model->graph().input()) {
    auto option = state.options.shapes.find(info.name());
    known.insert(info.name());
    if (option == state.options.shapes.end() || !info.type().tensor_type().has_shape())
      continue;
    const auto &dims = info.type().tensor_type().shape().dim();
    if (dims.size() != static_cast<int>(option->second.size()))
      throw ImportFailure{Status(Code::Usage, fmt::format("--shapes gives input '{}' {} dimensions, the model has {}",
                                                          info.name(), option->second.size(), dims.size()))};
    for (int i = 0; i < dims.size(); ++i) {
      int64_t given = option->second[i];
      if (given < 0)
        throw ImportFailure{Status(
            Code::Usage, fmt::format("--shapes gives input '{}' the size {} in dimension {}", info.name(), given, i))};
      if (dims[i].has_dim_value() && dims[i].dim_value() >= 0 && dims[i].dim_value() != given)
        throw ImportFailure{
            Status(Code::Usage, fmt::format("--shapes gives input '{}' the size {} in dimension {}, the model has {}",
                                            info.name(), given, i, dims[i].dim_value()))};
      if (!isDimName(dims[i].dim_param()) || !state.options.namesAreShared)
        continue;
      auto [entry, isNew] = fixedSymbols.try_emplace(dims[i].dim_param(), given);
      if (!isNew && entry->second != given)
        throw ImportFailure{Status(Code::Usage, fmt::format("--shapes gives '{}' the sizes {} and {}",
                                                            dims[i].dim_param(), entry->second, given))};
    }
  }
  for (const auto &[name, shape] : state.options.shapes)
    if (!known.contains(name))
      throw ImportFailure{
          Status(Code::Usage, fmt::format("--shapes names the input '{}', which the model does not have", name))};
}

void ModelImporter::importInputs(Scope &scope) {
  bindShapeOptions();
  llvm::StringSet<> listed;
  SmallVector<DictionaryAttr> attributes;
  for (const auto &info : model->graph().input()) {
    if (!listed.insert(info.name()).second)
      malformed("the input '{}' is listed twice", info.name());
    if (!scope.values.contains(info.name())) // IR 3 lists initializers as inputs too
      attributes.push_back(importInput(info, scope));
  }
  // Set once for all inputs: building a function type takes time proportional to the number of arguments.
  state.main.setType(state.builder.getFunctionType(state.main.front().getArgumentTypes(), {}));
  state.main.setAllArgAttrs(attributes);
  if (model->graph().output().empty())
    malformed("the model has no outputs");
}

/// Adds an argument to @main's block, and returns the attributes for it.
DictionaryAttr ModelImporter::importInput(const onnx::ValueInfoProto &info, Scope &scope) {
  OnnxTypePtr given = declaredType(state, info.type(), info.name());
  const auto &type = info.type().tensor_type();
  DType dtype = given->type;
  Sizes sizes;
  bool shaped = info.type().has_tensor_type();
  auto option = state.options.shapes.find(info.name());
  if (!shaped && option != state.options.shapes.end())
    throw ImportFailure{Status(Code::Usage, fmt::format("--shapes gives sizes to input '{}', which is a {}",
                                                        info.name(), tilewright::name(dtype)))};
  if (!shaped)
    ; // no sizes
  else if (option != state.options.shapes.end())
    for (int64_t size : option->second)
      sizes.push_back(state.number(size));
  else if (!type.has_shape())
    unsupported("input '{}' has no shape: give one with --shapes {}:...", info.name(), info.name());
  else
    for (int i = 0; i < type.shape().dim_size(); ++i)
      sizes.push_back(inputSize(type.shape().dim(i), info.name(), i));
  std::vector<int64_t> known;
  for (AffineExpr size : sizes)
    known.push_back(graph::constantSize(size).value_or(1));
  if (Expected<int64_t> bytes = checkedByteSize(known, dtype, info.name()); !bytes)
    throw ImportFailure{bytes.status()};

  ImportedValue *value = state.newValue(info.name());
  value->type = dtype, value->sizes = sizes, value->element = given->element;
  value->value =
      state.main.front().addArgument(state.tensorType(sizes, elementType(state.context, dtype)), state.location);
  define(info.name(), value, scope);
  return state.builder.getDictionaryAttr(
      {state.builder.getNamedAttr(graph::nameAttr, state.builder.getStringAttr(info.name())),
       state.builder.getNamedAttr(graph::dtypeAttr, state.builder.getStringAttr(tilewright::name(dtype)))});
}

AffineExpr ModelImporter::inputSize(const onnx::TensorShapeProto::Dimension &dim, const std::string &input,
                                    int64_t position) {
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return state.number(dim.dim_value());
  if (dim.has_dim_value() && dim.dim_value() < -1) // -1 is how some exporters write "unknown"
    malformed("input '{}' has the negative dimension {} at {}", input, dim.dim_value(), position);
  const std::string &text = dim.dim_param();
  if (text.empty() || text == "?" || !state.options.namesAreShared)
    return state.symbol(fmt::format("{}_d{}", input, position));
  if (isDimName(text)) {
    auto fixed = fixedSymbols.find(text);
    return fixed != fixedSymbols.end() ? state.number(fixed->second) : state.symbol(text);
  }
  // Text is an expression only if every name in it is the size of an input, which then binds it.
  auto lookupSymbol = [&](std::string_view name) -> AffineExpr {
    if (auto fixed = fixedSymbols.find(name); fixed != fixedSymbols.end())
      return state.number(fixed->second);
    for (const auto &info : model->graph().input())
      for (const auto &other : info.type().tensor_type().shape().dim())
        if (other.dim_param() == name)
          return state.symbol(name);
    return {};
  };
  AffineExpr expression = parseDimExpression(state.context, text, lookupSymbol);
  if (!expression)
    return state.symbol(text);
  expression = graph::canonicalSize(expression);
  if (graph::constantSize(expression).value_or(0) < 0)
    malformed("input '{}' has the negative dimension {} = {} at {}", input, text, *graph::constantSize(expression),
              position);
  return expression;
}

void ModelImporter::importOutputs(const Scope &scope) {
  SmallVector<ImportedValue *> outputs;
  SmallVector<std::string> names;
  for (const auto &info : model->graph().output()) {
    outputs.push_back(lookup(info.name(), scope, "the graph's output"));
    names.push_back(info.name());
  }
  for (ImportedValue *output : outputs)
    state.materialize(*output);
  labelNewOperations("outputs", "Identity", nullptr);
  state.setOutputs(outputs, names);
}

} // namespace tilewright
