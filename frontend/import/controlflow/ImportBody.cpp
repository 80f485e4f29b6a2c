// SPDX-License-Identifier: Apache-2.0
// Importing the body of a branch or loop into a module of its own.
#include "frontend/import/controlflow/ImportBody.h"

#include "frontend/import/ObjectTypes.h"

using namespace mlir;

namespace tilewright {

std::optional<bool> constantBool(ImportState &state, ImportedValue &value) {
  const Tensor *tensor = state.constantOf(value);
  if (!tensor || tensor->type() != DType::Bool || tensor->count() != 1)
    return std::nullopt;
  return tensor->data<uint8_t>()[0] != 0;
}

void expectCondition(const ImportedValue &value) {
  if (value.type != DType::Bool)
    malformed("expected a condition of bool, got '{}' of {}", value.name, name(value.type));
}

void BodyResults::add(ImportState &state, ImportedValue *value) {
  values.push_back(value);
  types.push_back(state.tensorType(value->sizes, elementType(state.context, value->type)));
  dtypes.push_back(value->type);
}

void BodyResults::attach(ImportState &state, Operation *op) const {
  SmallVector<StringRef> names;
  for (DType type : dtypes)
    names.push_back(name(type));
  op->setAttr("output_dtypes", state.builder.getStrArrayAttr(names));
  for (auto [value, result] : llvm::zip_equal(values, op->getResults()))
    value->value = result;
}

ModelImporter::ModelImporter(const ModelImporter &outer, ImportState &state)
    : state(state), model(outer.model), generated(outer.generated), files(outer.files), opsets(outer.opsets),
      functions(outer.functions), inlining(outer.inlining), inlinedNodes(outer.inlinedNodes),
      foldedOperations(outer.foldedOperations), fixedSymbols(outer.fixedSymbols), declared(outer.declared) {}

/// The scope of a graph inside of another: names of the surrounding graph are visible in it.
ModelImporter::Scope ModelImporter::scopeWithin(const Scope &outer) {
  Scope inner;
  inner.parent = &outer, inner.prefix = outer.prefix, inner.opsets = outer.opsets;
  inner.references = outer.references, inner.depth = outer.depth + 1;
  return inner;
}

std::unique_ptr<ModelImporter::Body> ModelImporter::beginBody(Scope &outer) {
  auto body = std::make_unique<Body>(state);
  body->scope = scopeWithin(outer);
  body->scope.body = body.get();
  return body;
}

/// Makes a value of the surrounding graph available in a body: as a constant or as known contents if possible,
/// otherwise as a new argument.
ImportedValue *ModelImporter::capture(Body &body, ImportedValue &outer) {
  auto [entry, isNew] = body.captured.try_emplace(&outer, nullptr);
  if (!isNew)
    return entry->second;
  ImportState &state = body.state;
  if (const Tensor *tensor = isPoisoned(&outer) ? nullptr : body.outer.constantOf(outer))
    return entry->second = state.newConstant(outer.name, *tensor);
  if (isPoisoned(&outer) || body.outer.elementsOf(outer)) {
    ImportedValue *value = state.newValue(outer.name);
    value->type = outer.type;
    auto resolved = [&](const Sizes &sizes) {
      return Sizes(llvm::map_range(sizes, [&](AffineExpr size) { return state.resolve(size); }));
    };
    value->sizes = resolved(outer.sizes);
    if (outer.elements)
      value->elements = resolved(*outer.elements);
    return entry->second = value;
  }
  body.captures.push_back(body.outer.materialize(outer));
  return entry->second = state.addInput(outer.name, outer.type, outer.sizes, outer.element);
}

/// Imports the nodes of a body, whose inputs have been defined.
void ModelImporter::importBodyNodes(Body &body, const onnx::GraphProto &graph) {
  ModelImporter inner(*this, body.state);
  for (const auto *list : {&graph.value_info(), &graph.output()})
    for (const auto &info : *list)
      inner.declared[info.name()] = &info;
  inner.importInitializers(graph, body.scope);
  inner.importNodes(graph.node(), body.scope);
  for (const auto &output : graph.output())
    body.outputs.push_back(inner.lookup(output.name(), body.scope, "its body"));
}

void ModelImporter::finishBody(Body &body, ArrayRef<ImportedValue *> outputs, ArrayRef<std::string> names) {
  for (ImportedValue *output : outputs)
    body.state.materialize(*output);
  ModelImporter(*this, body.state).labelNewOperations("outputs", "Identity", nullptr);
  body.state.setOutputs(outputs, names);
}

/// The size of a body's result in the surrounding graph: the same expression if that has all its symbols, otherwise a
/// fresh symbol, which is bound at run time.
AffineExpr ModelImporter::sizeOutside(const Body &body, AffineExpr size) {
  return isKnownBy(size, body.given) ? state.resolve(size) : state.freshSymbol("u");
}

} // namespace tilewright
