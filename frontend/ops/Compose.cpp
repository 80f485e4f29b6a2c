// SPDX-License-Identifier: Apache-2.0
// Calls handlers from handlers, and has the steps that several fused operators need.
#include "frontend/ops/Compose.h"

#include "frontend/ops/OpTable.h"

using namespace mlir;

namespace tilewright::ops {

ImportedValue *given(NodeBuilder &b, size_t i) { return b.has(i) ? b.node.inputs[i] : nullptr; }

ImportedValue *valueOf(NodeBuilder &b, Term term, DType type) {
  ImportedValue *value = b.state.newValue(b.node.name);
  NodeBuilder::Node holder{b.node.name, b.node.op, b.node.domain, b.node.opset, {}, {}, {value}};
  NodeBuilder(b.state, holder).out(term, type);
  return value;
}

Term termOf(NodeBuilder &b, ImportedValue *value) { return b.widen(b.term(b.state.materialize(*value))); }

ImportedValue *constantOf(NodeBuilder &b, const Tensor &tensor) { return b.state.newConstant(b.node.name, tensor); }

SmallVector<ImportedValue *> composedAll(NodeBuilder &b, std::string_view op, ArrayRef<ImportedValue *> inputs,
                                         const Attributes &attributes, size_t outputs, int64_t opset) {
  Handler handler = findHandler("", op, opset);
  if (!handler)
    throw ImportFailure{Status(
        Code::Internal, fmt::format("{} is made of {} of opset {}, which has no handler", b.node.op, op, opset))};
  NodeBuilder::Node node{b.node.name, std::string(op), "", opset, attributes, {inputs.begin(), inputs.end()}, {}};
  while (!node.inputs.empty() && !node.inputs.back())
    node.inputs.pop_back();
  for (size_t i = 0; i < outputs; ++i)
    node.outputs.push_back(b.state.newValue(b.node.name));
  NodeBuilder part(b.state, node);
  handler(part);
  return {node.outputs.begin(), node.outputs.end()};
}

ImportedValue *composed(NodeBuilder &b, std::string_view op, ArrayRef<ImportedValue *> inputs,
                        const Attributes &attributes, int64_t opset) {
  return composedAll(b, op, inputs, attributes, 1, opset)[0];
}

Attributes selected(NodeBuilder &b, std::initializer_list<std::string_view> names) {
  Attributes result;
  for (std::string_view name : names)
    if (auto found = b.node.attributes.find(name); found != b.node.attributes.end())
      result.insert(*found);
  return result;
}

ImportedValue *activated(NodeBuilder &b, ImportedValue *x) {
  std::string name = b.text("activation", "");
  std::vector<float> list;
  if (auto found = b.node.attributes.find("activation_params"); found != b.node.attributes.end())
    if (auto *reals = std::get_if<std::vector<float>>(&found->second))
      list = *reals;
  // Convolutions have a list of parameters, matrix products have attributes.
  auto parameter = [&](size_t i, std::string_view attribute, float otherwise) {
    return i < list.size() ? list[i] : static_cast<float>(b.real(attribute, otherwise));
  };
  if (name.empty())
    return x;
  if (name == "Relu" || name == "Sigmoid" || name == "Tanh" || name == "Softplus" || name == "Softsign" ||
      name == "HardSwish")
    return composed(b, name, {x});
  if (name == "LeakyRelu" || name == "Elu" || name == "ThresholdedRelu")
    return composed(b, name, {x}, {{"alpha", parameter(0, "activation_alpha", name == "LeakyRelu" ? 0.01f : 1.0f)}});
  if (name == "HardSigmoid")
    return composed(
        b, name, {x},
        {{"alpha", parameter(0, "activation_alpha", 0.2f)}, {"beta", parameter(1, "activation_beta", 0.5f)}});
  if (name == "Clip")
    return composed(b, name, {x},
                    {{"min", parameter(0, "activation_alpha", 0)}, {"max", parameter(1, "activation_beta", 0)}}, 6);
  decline("the activation '{}' is not known", name);
}

void give(NodeBuilder &b, ImportedValue *value, size_t i) {
  if (b.wants(i))
    b.out(b.term(b.state.materialize(*value)), value->type, i);
}

static ImportedValue *turned(NodeBuilder &b, ImportedValue *x, int64_t from, int64_t to) {
  b.expect(x && x->rank() >= 3,
           fmt::format("expected an image of rank 3 or more, got {}", x ? b.print(x->sizes) : "none"));
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, x->rank()));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return valueOf(b, b.transpose(b.term(b.state.materialize(*x)), order), x->type);
}

ImportedValue *imageFirst(NodeBuilder &b, ImportedValue *x) { return turned(b, x, x->rank() - 1, 1); }
ImportedValue *imageLast(NodeBuilder &b, ImportedValue *x) { return turned(b, x, 1, x->rank() - 1); }

} // namespace tilewright::ops
