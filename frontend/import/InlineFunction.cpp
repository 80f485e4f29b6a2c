// SPDX-License-Identifier: Apache-2.0
// Local functions: operators that the model defines itself. Each call is replaced by the function's nodes.
#include "frontend/import/ModelImporter.h"
#include "frontend/ops/OpTable.h"

using namespace mlir;

namespace tilewright {
namespace {

/// The limit for all calls together: thirty functions that each call the next one twice make 2^30 nodes.
constexpr int64_t maxInlinedNodes = 200000;

} // namespace

/// The function that defines a node's operator, if the model has one. For the fused operators of these two domains a
/// handler or reference kernel is preferred to the function body that exporters add as a fallback.
const onnx::FunctionProto *ModelImporter::functionOf(const onnx::NodeProto &proto, const std::string &domain,
                                                     const Scope &scope) const {
  auto function = functions.find({domain, proto.op_type(), proto.overload()});
  if (function == functions.end())
    return nullptr;
  auto opset = scope.opsets->find(domain);
  bool known =
      (domain == "com.microsoft" || domain == "ai.onnx.ml") && opset != scope.opsets->end() &&
      (findHandler(domain, proto.op_type(), opset->second) || hasReference(proto.op_type(), domain, opset->second));
  return known ? nullptr : function->second;
}

void ModelImporter::inlineFunction(const onnx::NodeProto &proto, const onnx::FunctionProto &function, Scope &scope) {
  if (llvm::is_contained(inlining, &function))
    malformed("the local function '{}' calls itself", function.name());
  if (scope.depth >= maxDepth)
    malformed("branches and functions are nested more than {} deep", maxDepth);
  *inlinedNodes += std::max(1, function.node_size());
  if (*inlinedNodes > maxInlinedNodes)
    malformed("the model's functions call each other so often that they make more than {} nodes", maxInlinedNodes);
  if (proto.input_size() > function.input_size() || proto.output_size() > function.output_size())
    malformed("expected at most {} inputs and {} outputs of the local function '{}', got {} and {}",
              function.input_size(), function.output_size(), function.name(), proto.input_size(), proto.output_size());
  Opsets imports;
  for (const auto &import : function.opset_import())
    imports[canonicalDomain(import.domain())] = import.version();
  Scope inner;
  inner.opsets = imports.empty() ? scope.opsets : &imports;
  inner.prefix = nodeName(proto, scope) + "/", inner.depth = scope.depth + 1;
  for (const auto &attribute : function.attribute_proto()) // defaults
    inner.references[attribute.name()] = &attribute;
  for (const auto &attribute : proto.attribute()) {
    if (attribute.ref_attr_name().empty())
      inner.references[attribute.name()] = &attribute;
    else if (auto outer = scope.references.find(attribute.ref_attr_name()); outer != scope.references.end())
      inner.references[attribute.name()] = outer->second;
  }
  for (int i = 0; i < function.input_size(); ++i) { // one that the caller leaves out is absent in the body too
    bool given = i < proto.input_size() && !proto.input(i).empty();
    define(function.input(i), given ? lookup(proto.input(i), scope, "it") : nullptr, inner);
  }
  inlining.push_back(&function);
  importNodes(function.node(), inner);
  inlining.pop_back();
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty())
      continue;
    ImportedValue *value = lookup(function.output(i), inner, "the function");
    if (!value)
      malformed("the local function '{}' returns its input '{}', which the caller leaves out", function.name(),
                function.output(i));
    define(proto.output(i), value, scope);
  }
}

} // namespace tilewright
