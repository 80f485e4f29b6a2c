// SPDX-License-Identifier: Apache-2.0
// SequenceMap, as a loop over the elements of the input sequences.
#include "frontend/import/GeneratedNode.h"
#include "frontend/import/controlflow/ImportBody.h"

using namespace mlir;

namespace tilewright {

/// The loop carries the result sequences and appends to them.
void ModelImporter::importSequenceMap(const onnx::NodeProto &proto, Scope &scope) {
  const onnx::GraphProto &mapped = graphAttribute(proto, "body");
  if (proto.input_size() < 1 || mapped.input_size() != proto.input_size() ||
      mapped.output_size() != proto.output_size())
    malformed("expected a body of {} inputs and {} outputs, got {} and {}", proto.input_size(), proto.output_size(),
              mapped.input_size(), mapped.output_size());
  std::string prefix = nodeName(proto, scope) + "/map/";
  importNode(generateNode("SequenceLength", {proto.input(0)}, prefix + "length"), scope);
  onnx::NodeProto &loop = generated->emplace_back();
  loop.set_op_type("Loop"), loop.set_name(nodeName(proto, scope));
  loop.add_input(prefix + "length"), loop.add_input("");
  onnx::GraphProto &graph = *addAttribute(loop, "body", onnx::AttributeProto::GRAPH)->mutable_g();
  graph = mapped;
  graph.clear_input(), graph.clear_output(), graph.clear_node();
  graph.add_input()->set_name(prefix + "turn"), graph.add_input()->set_name(prefix + "condition");
  graph.add_output()->set_name(prefix + "condition");
  for (int i = 0; i < proto.input_size(); ++i) {
    bool isSequence = lookup(proto.input(i), scope, "it")->type == DType::Sequence;
    if (isSequence)
      *graph.add_node() = generateNode("SequenceAt", {proto.input(i), prefix + "turn"}, mapped.input(i).name());
    else
      *graph.add_node() = generateNode("Identity", {proto.input(i)}, mapped.input(i).name());
  }
  graph.mutable_node()->MergeFrom(mapped.node());
  for (int i = 0; i < proto.output_size(); ++i) {
    std::string before = fmt::format("{}before_{}", prefix, i), after = fmt::format("{}after_{}", prefix, i),
                empty = fmt::format("{}empty_{}", prefix, i);
    importNode(generateNode("SequenceEmpty", {}, empty), scope);
    loop.add_input(empty), loop.add_output(proto.output(i));
    graph.add_input()->set_name(before), graph.add_output()->set_name(after);
    *graph.add_node() = generateNode("SequenceInsert", {before, mapped.output(i).name()}, after);
  }
  importLoop(loop, scope);
}

} // namespace tilewright
