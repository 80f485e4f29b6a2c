// ai.onnx.preview.FlexAttention: attention whose scores and probabilities pass through graphs of the model. Imported as
// the operators that its specification is a formula of:
//
//     Y = prob_mod(Softmax(score_mod(sqrt(s) Q (sqrt(s) K)^T))) V        s = scale, or 1 / sqrt(head size)
#include "frontend/import/ModelImporter.h"
#include "frontend/import/WrittenNode.h"

using namespace mlir;

namespace tilewright {

/// Each key head once for every query head that shares it: [B, Hkv, S, D] -> [B, Hkv, shared, S, D] -> [B, Hq, S, D].
static void repeatHeads(const std::string &from, const std::string &to, int64_t heads, int64_t shared, int64_t size,
                        const std::function<void(const char *, std::vector<std::string>, const std::string &)> &emit,
                        const std::function<std::string(std::vector<int64_t>)> &integers) {
  emit("Unsqueeze", {from, integers({2})}, to + " apart");
  emit("Expand", {to + " apart", integers({1, 1, shared, 1, 1})}, to + " repeated");
  emit("Reshape", {to + " repeated", integers({0, heads, -1, size})}, to);
}

void ModelImporter::importFlexAttention(const onnx::NodeProto &proto, Scope &scope) {
  if (proto.input_size() != 3 || proto.output_size() != 1)
    malformed("expected 3 inputs and 1 output, got {} and {}", proto.input_size(), proto.output_size());
  std::array<ImportedValue *, 3> inputs;
  std::array<std::optional<int64_t>, 3> heads, sizes;
  for (int i = 0; i < 3; ++i) {
    inputs[i] = lookup(proto.input(i), scope, "it");
    if (inputs[i]->rank() != 4 || !isFloat(inputs[i]->type))
      malformed("expected inputs of floats [batch, heads, sequence, size], got {}", state.print(inputs[i]->sizes));
    heads[i] = graph::constantSize(inputs[i]->sizes[1]), sizes[i] = graph::constantSize(inputs[i]->sizes[3]);
    if (!heads[i] || !sizes[i])
      unsupported("heads of a symbolic number or size are not supported");
  }
  if (*heads[1] < 1 || heads[1] != heads[2] || *heads[0] % *heads[1] || sizes[0] != sizes[1] || *sizes[0] < 1)
    malformed("queries {}, keys {} and values {} do not fit together", state.print(inputs[0]->sizes),
              state.print(inputs[1]->sizes), state.print(inputs[2]->sizes));

  Scope inner;
  inner.parent = &scope, inner.prefix = nodeName(proto, scope) + "/", inner.opsets = scope.opsets,
  inner.references = scope.references, inner.depth = scope.depth + 1;
  if (inner.depth > 64)
    malformed("graphs and functions are nested too deep");
  Attributes attributes = attributesOf(proto, scope);
  int64_t constants = 0;
  auto constant = [&](Tensor tensor) {
    std::string name = fmt::format("FlexAttention constant {}", constants++);
    define(name, state.newConstant(name, std::move(tensor)), inner);
    return name;
  };
  std::function integers = [&](std::vector<int64_t> values) {
    Tensor tensor = Tensor::allocate(DType::I64, {static_cast<int64_t>(values.size())});
    std::ranges::copy(values, tensor.data<int64_t>());
    return constant(tensor);
  };
  auto node = [&](const char *op, std::vector<std::string> from, const std::string &to,
                  const std::function<void(onnx::NodeProto &)> &change) {
    onnx::NodeProto made;
    made.set_op_type(op);
    for (const std::string &name : from)
      made.add_input(name);
    made.add_output(to);
    if (change)
      change(made);
    importNode(made, inner);
  };
  std::function emit = [&](const char *op, std::vector<std::string> from, const std::string &to) {
    node(op, std::move(from), to, {});
  };
  auto cast = [&](const std::string &from, DType type, const std::string &to) {
    node("Cast", {from}, to, [&](onnx::NodeProto &made) { addInteger(made, "to", static_cast<int64_t>(type)); });
  };
  auto modified = [&](const char *which, const std::string &value) {
    auto given = std::ranges::find_if(proto.attribute(), [&](const auto &a) { return a.name() == which && a.has_g(); });
    if (given == proto.attribute().end())
      return value;
    const onnx::GraphProto &graph = given->g();
    if (graph.input_size() != 1 || graph.output_size() != 1)
      malformed("expected {} to have one input and one output, got {} and {}", which, graph.input_size(),
                graph.output_size());
    Scope body;
    body.parent = &inner, body.prefix = inner.prefix, body.opsets = inner.opsets, body.references = inner.references,
    body.depth = inner.depth + 1;
    define(graph.input(0).name(), lookup(value, inner, which), body);
    importInitializers(graph, body);
    importNodes(graph.node(), body);
    define(value + " modified", lookup(graph.output(0).name(), body, which), inner);
    return value + " modified";
  };

  auto scale = attributes.contains("scale") ? std::get_if<float>(&attributes["scale"]) : nullptr;
  double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(*sizes[0]));
  Tensor single = Tensor::allocate(DType::F32, {});
  single.data<float>()[0] = static_cast<float>(std::sqrt(factor));
  std::string root = constant(single);
  if (inputs[0]->type != DType::F32) {
    cast(root, inputs[0]->type, "FlexAttention root");
    root = "FlexAttention root";
  }
  std::string key = proto.input(1), value = proto.input(2);
  if (heads[0] != heads[1]) {
    repeatHeads(proto.input(1), "FlexAttention key", *heads[0], *heads[0] / *heads[1], *sizes[1], emit, integers);
    repeatHeads(proto.input(2), "FlexAttention value", *heads[0], *heads[0] / *heads[1], *sizes[2], emit, integers);
    key = "FlexAttention key", value = "FlexAttention value";
  }
  emit("Mul", {proto.input(0), root}, "FlexAttention scaled query");
  emit("Mul", {key, root}, "FlexAttention scaled key");
  node("Transpose", {"FlexAttention scaled key"}, "FlexAttention turned key", [](onnx::NodeProto &made) {
    onnx::AttributeProto *perm = addAttribute(made, "perm", onnx::AttributeProto::INTS);
    for (int64_t dim : {0, 1, 3, 2})
      perm->add_ints(dim);
  });
  emit("MatMul", {"FlexAttention scaled query", "FlexAttention turned key"}, "FlexAttention product");
  auto asked =
      attributes.contains("softmax_precision") ? std::get_if<int64_t>(&attributes["softmax_precision"]) : nullptr;
  DType type = asked ? static_cast<DType>(*asked) : inputs[0]->type == DType::F64 ? DType::F64 : DType::F32;
  if (!findDType(type) || !isFloat(type) || isStorageOnly(type))
    malformed("expected softmax_precision to be a floating-point type, got {}", name(type));
  cast("FlexAttention product", type, "FlexAttention scores");
  emit("Softmax", {modified("score_mod", "FlexAttention scores")}, "FlexAttention probabilities");
  cast(modified("prob_mod", "FlexAttention probabilities"), inputs[2]->type, "FlexAttention weights");
  emit("MatMul", {"FlexAttention weights", value}, "FlexAttention result");
  define(proto.output(0), lookup("FlexAttention result", inner, "FlexAttention"), scope);
}

} // namespace tilewright
