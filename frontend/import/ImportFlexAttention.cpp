// SPDX-License-Identifier: Apache-2.0
// ai.onnx.preview.FlexAttention: attention whose scores and probabilities pass through graphs of the model. Expanded
// into the operators of its specification:
//
//     Y = prob_mod(Softmax(score_mod(sqrt(s) Q (sqrt(s) K)^T))) V        s = scale, or 1 / sqrt(head size)
#include "frontend/import/GeneratedNode.h"
#include "frontend/import/ModelImporter.h"

using namespace mlir;

namespace tilewright {

class ModelImporter::FlexAttentionWriter {
public:
  FlexAttentionWriter(ModelImporter &importer, const onnx::NodeProto &proto, Scope &outer)
      : importer(importer), state(importer.state), proto(proto), attributes(importer.attributesOf(proto, outer)) {
    scope.parent = &outer, scope.prefix = importer.nodeName(proto, outer) + "/", scope.opsets = outer.opsets,
    scope.references = outer.references, scope.depth = outer.depth + 1;
    if (scope.depth > maxDepth)
      malformed("graphs and functions are nested too deep");
  }

  void checkInputs(const Scope &outer) {
    for (int i = 0; i < 3; ++i) {
      inputs[i] = importer.lookup(proto.input(i), outer, "it");
      if (inputs[i]->rank() != 4 || !isFloat(inputs[i]->type))
        malformed("expected inputs of floats [batch, heads, sequence, size], got {}", state.print(inputs[i]->sizes));
      std::optional<int64_t> count = graph::constantSize(inputs[i]->sizes[1]),
                             size = graph::constantSize(inputs[i]->sizes[3]);
      if (!count || !size)
        unsupported("heads of a symbolic number or size are not supported");
      heads[i] = *count, headSizes[i] = *size;
    }
    if (heads[1] < 1 || heads[1] != heads[2] || heads[0] % heads[1] || headSizes[0] != headSizes[1] || headSizes[0] < 1)
      malformed("queries {}, keys {} and values {} do not fit together", state.print(inputs[0]->sizes),
                state.print(inputs[1]->sizes), state.print(inputs[2]->sizes));
  }

  /// Imports the nodes and returns the result.
  ImportedValue *write() {
    std::string root = rootOfScale(), key = proto.input(1), value = proto.input(2);
    if (heads[0] != heads[1]) {
      repeatHeads(key, "FlexAttention key", headSizes[1]);
      repeatHeads(value, "FlexAttention value", headSizes[2]);
      key = "FlexAttention key", value = "FlexAttention value";
    }
    emit("Mul", {proto.input(0), root}, "FlexAttention scaled query");
    emit("Mul", {key, root}, "FlexAttention scaled key");
    emit("Transpose", {"FlexAttention scaled key"}, "FlexAttention turned key", [](onnx::NodeProto &node) {
      onnx::AttributeProto *perm = addAttribute(node, "perm", onnx::AttributeProto::INTS);
      for (int64_t dim : {0, 1, 3, 2})
        perm->add_ints(dim);
    });
    emit("MatMul", {"FlexAttention scaled query", "FlexAttention turned key"}, "FlexAttention product");
    cast("FlexAttention product", softmaxType(), "FlexAttention scores");
    emit("Softmax", {modified("score_mod", "FlexAttention scores")}, "FlexAttention probabilities");
    cast(modified("prob_mod", "FlexAttention probabilities"), inputs[2]->type, "FlexAttention weights");
    emit("MatMul", {"FlexAttention weights", value}, "FlexAttention result");
    return importer.lookup("FlexAttention result", scope, "FlexAttention");
  }

private:
  //===- Generated nodes and constants ----------------------------------------------------------------------------===//

  void emit(const char *op, const std::vector<std::string> &from, const std::string &to,
            llvm::function_ref<void(onnx::NodeProto &)> setAttributes = {}) {
    onnx::NodeProto node;
    node.set_op_type(op);
    for (const std::string &name : from)
      node.add_input(name);
    node.add_output(to);
    if (setAttributes)
      setAttributes(node);
    importer.importNode(node, scope);
  }
  void cast(const std::string &from, DType type, const std::string &to) {
    emit("Cast", {from}, to, [&](onnx::NodeProto &node) { addInteger(node, "to", static_cast<int64_t>(type)); });
  }
  std::string constant(Tensor tensor) {
    std::string name = fmt::format("FlexAttention constant {}", constants++);
    importer.define(name, state.newConstant(name, std::move(tensor)), scope);
    return name;
  }
  std::string integers(const std::vector<int64_t> &values) {
    Tensor tensor = Tensor::allocate(DType::I64, {static_cast<int64_t>(values.size())});
    std::ranges::copy(values, tensor.data<int64_t>());
    return constant(tensor);
  }

  //===- Parts of the formula -------------------------------------------------------------------------------------===//

  /// sqrt(s) in the type of the query.
  std::string rootOfScale() {
    auto scale = attributes.contains("scale") ? std::get_if<float>(&attributes["scale"]) : nullptr;
    double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(headSizes[0]));
    Tensor single = Tensor::allocate(DType::F32, {});
    single.data<float>()[0] = static_cast<float>(std::sqrt(factor));
    std::string root = constant(single);
    if (inputs[0]->type == DType::F32)
      return root;
    cast(root, inputs[0]->type, "FlexAttention root");
    return "FlexAttention root";
  }

  /// Repeats each key head for the query heads that share it:
  /// [B, Hkv, S, D] -> [B, Hkv, shared, S, D] -> [B, Hq, S, D].
  void repeatHeads(const std::string &from, const std::string &to, int64_t size) {
    emit("Unsqueeze", {from, integers({2})}, to + " apart");
    emit("Expand", {to + " apart", integers({1, 1, heads[0] / heads[1], 1, 1})}, to + " repeated");
    emit("Reshape", {to + " repeated", integers({0, heads[0], -1, size})}, to);
  }

  /// `value` after the graph in attribute `which`, if the node has one.
  std::string modified(const char *which, const std::string &value) {
    auto given = std::ranges::find_if(proto.attribute(), [&](const auto &a) { return a.name() == which && a.has_g(); });
    if (given == proto.attribute().end())
      return value;
    const onnx::GraphProto &graph = given->g();
    if (graph.input_size() != 1 || graph.output_size() != 1)
      malformed("expected {} to have one input and one output, got {} and {}", which, graph.input_size(),
                graph.output_size());
    Scope body;
    body.parent = &scope, body.prefix = scope.prefix, body.opsets = scope.opsets, body.references = scope.references,
    body.depth = scope.depth + 1;
    importer.define(graph.input(0).name(), importer.lookup(value, scope, which), body);
    importer.importInitializers(graph, body);
    importer.importNodes(graph.node(), body);
    importer.define(value + " modified", importer.lookup(graph.output(0).name(), body, which), scope);
    return value + " modified";
  }

  DType softmaxType() {
    auto asked =
        attributes.contains("softmax_precision") ? std::get_if<int64_t>(&attributes["softmax_precision"]) : nullptr;
    DType type = asked ? static_cast<DType>(*asked) : inputs[0]->type == DType::F64 ? DType::F64 : DType::F32;
    if (!findDType(type) || !isFloat(type) || isStorageOnly(type))
      malformed("expected softmax_precision to be a floating-point type, got {}", name(type));
    return type;
  }

  ModelImporter &importer;
  ImportState &state;
  const onnx::NodeProto &proto;
  Attributes attributes;
  Scope scope;
  std::array<ImportedValue *, 3> inputs; // query, key, value
  std::array<int64_t, 3> heads, headSizes;
  int64_t constants = 0;
};

void ModelImporter::importFlexAttention(const onnx::NodeProto &proto, Scope &scope) {
  if (proto.input_size() != 3 || proto.output_size() != 1)
    malformed("expected 3 inputs and 1 output, got {} and {}", proto.input_size(), proto.output_size());
  FlexAttentionWriter writer(*this, proto, scope);
  writer.checkInputs(scope);
  define(proto.output(0), writer.write(), scope);
}

} // namespace tilewright
