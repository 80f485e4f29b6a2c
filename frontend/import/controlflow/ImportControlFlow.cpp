// SPDX-License-Identifier: Apache-2.0
// If, Loop, Scan and SequenceMap: which importer takes which operator, and what they share.
//
// Each body is imported into a module of its own, which receives the values it uses from the surrounding graph as
// arguments:
//
//   model                                   module
//     If(c) then { Add(x, y) } else { x }     @main      %r = flow.if %c then @body_0 sizes (s0) (%x, %y)
//                                                                  else @body_1 sizes (s0) (%x)
//                                             @body_0    @main(%x, %y)    its own symbols, of which s0 is the first
//                                             @body_1    @main(%x)
#include "frontend/import/controlflow/ImportBody.h"

using namespace mlir;

namespace tilewright {
namespace {

bool hasAttribute(const onnx::NodeProto &proto, std::string_view name) {
  return llvm::any_of(proto.attribute(), [&](const auto &attribute) { return attribute.name() == name; });
}

} // namespace

bool ModelImporter::importControlFlow(const onnx::NodeProto &proto, int64_t opset, Scope &scope) {
  static constexpr std::string_view operators[] = {"If", "Loop", "Scan", "SequenceMap"};
  if (!llvm::is_contained(operators, proto.op_type()))
    return false;
  if (scope.depth >= maxDepth)
    malformed("branches, loops and functions are nested more than {} deep", maxDepth);
  for (const std::string &input : proto.input())
    if (!input.empty() && isPoisoned(lookup(input, scope, "it"))) {
      poisonOutputs(proto, scope);
      return true;
    }
  if (proto.op_type() == "If")
    importIf(proto, scope);
  else if (proto.op_type() == "Loop")
    importLoop(proto, scope);
  else if (proto.op_type() == "SequenceMap")
    importSequenceMap(proto, scope);
  else if (opset < 9 && !hasAttribute(proto, "scan_input_axes"))
    importBatchedScan(proto, scope);
  else
    importScan(proto, scope);
  return true;
}

void ModelImporter::poisonOutputs(const onnx::NodeProto &proto, Scope &scope) {
  for (const std::string &output : proto.output())
    if (!output.empty())
      define(output, state.newValue(output), scope);
}

const onnx::GraphProto &ModelImporter::graphAttribute(const onnx::NodeProto &proto, std::string_view name) const {
  auto found = llvm::find_if(proto.attribute(),
                             [&](const auto &attribute) { return attribute.name() == name && attribute.has_g(); });
  if (found == proto.attribute().end())
    malformed("expected a graph as its {}, found none", name);
  return found->g();
}

const onnx::NodeProto &ModelImporter::generateNode(const char *op, const std::vector<std::string> &inputs,
                                                   const std::string &output) {
  onnx::NodeProto &node = generated->emplace_back();
  node.set_op_type(op), node.set_name(output);
  node.mutable_input()->Assign(inputs.begin(), inputs.end());
  node.add_output(output);
  return node;
}

} // namespace tilewright
