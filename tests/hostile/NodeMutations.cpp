// SPDX-License-Identifier: Apache-2.0
// Four families: counts of inputs and outputs, attributes, types and shapes of inputs, contents of constants; and the
// opset.
#include "tests/hostile/NodeMutations.h"

#include <cstdint>
#include <fmt/format.h>
#include <limits>

namespace tilewright::test {
namespace {

using onnx::AttributeProto;
using onnx::ModelProto;
using onnx::TensorProto;

constexpr int64_t badIntegers[] = {
    -1, 0, 1 << 20, int64_t(1) << 40, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
constexpr int badTypes[] = {TensorProto::FLOAT,     TensorProto::INT64,    TensorProto::INT32,  TensorProto::UINT8,
                            TensorProto::BOOL,      TensorProto::FLOAT16,  TensorProto::DOUBLE, TensorProto::STRING,
                            TensorProto::COMPLEX64, TensorProto::UNDEFINED};

onnx::NodeProto &nodeOf(ModelProto &model) { return *model.mutable_graph()->mutable_node(0); }

void addCounts(const onnx::NodeProto &node, std::vector<Mutation> &out) {
  out.push_back({"no inputs", [](ModelProto &m) { nodeOf(m).clear_input(); }});
  out.push_back({"no outputs", [](ModelProto &m) { nodeOf(m).clear_output(); }});
  out.push_back({"one more output", [](ModelProto &m) { nodeOf(m).add_output("surplus"); }});
  out.push_back({"ten more outputs", [](ModelProto &m) {
                   for (int i = 0; i < 10; ++i)
                     nodeOf(m).add_output(fmt::format("surplus{}", i));
                 }});
  if (node.input_size() == 0)
    return;
  out.push_back({"last input dropped", [](ModelProto &m) { nodeOf(m).mutable_input()->RemoveLast(); }});
  out.push_back({"one more input", [](ModelProto &m) { nodeOf(m).add_input(m.graph().node(0).input(0)); }});
  out.push_back({"a thousand more inputs", [](ModelProto &m) {
                   std::string first = m.graph().node(0).input(0);
                   for (int i = 0; i < 1000; ++i)
                     nodeOf(m).add_input(first);
                 }});
  for (int i = 0; i < std::min(node.input_size(), 6); ++i) {
    out.push_back({fmt::format("input {} absent", i), [i](ModelProto &m) { nodeOf(m).set_input(i, ""); }});
    out.push_back({fmt::format("input {} is the first", i),
                   [i](ModelProto &m) { nodeOf(m).set_input(i, m.graph().node(0).input(0)); }});
  }
  out.push_back({"its own input", [](ModelProto &m) {
                   if (m.graph().node(0).output_size())
                     nodeOf(m).set_input(0, m.graph().node(0).output(0));
                 }});
}

void addAttributes(const onnx::NodeProto &node, std::vector<Mutation> &out) {
  for (int a = 0; a < node.attribute_size(); ++a) {
    const AttributeProto &attribute = node.attribute(a);
    auto change = [&, a](std::string how, std::function<void(AttributeProto &)> apply) {
      out.push_back({fmt::format("attribute {} {}", attribute.name(), how),
                     [a, apply = std::move(apply)](ModelProto &m) { apply(*nodeOf(m).mutable_attribute(a)); }});
    };
    out.push_back({fmt::format("attribute {} removed", attribute.name()),
                   [a](ModelProto &m) { nodeOf(m).mutable_attribute()->DeleteSubrange(a, 1); }});
    change("as a float", [](AttributeProto &x) { x.set_type(AttributeProto::FLOAT), x.set_f(1); });
    change("as a graph", [](AttributeProto &x) { x.set_type(AttributeProto::GRAPH), x.mutable_g(); });
    change("as a reference", [](AttributeProto &x) { x.set_ref_attr_name("nobody"); });
    for (int64_t bad : badIntegers) {
      if (attribute.type() == AttributeProto::INT)
        change(fmt::format("= {}", bad), [bad](AttributeProto &x) { x.set_i(bad); });
      if (attribute.type() == AttributeProto::INTS && attribute.ints_size())
        change(fmt::format("[0] = {}", bad), [bad](AttributeProto &x) { x.set_ints(0, bad); });
    }
    if (attribute.type() == AttributeProto::INTS) {
      change("empty", [](AttributeProto &x) { x.clear_ints(); });
      change("with one more", [](AttributeProto &x) { x.add_ints(1); });
      change("with ten thousand more", [](AttributeProto &x) {
        for (int i = 0; i < 10000; ++i)
          x.add_ints(1);
      });
    }
    if (attribute.type() == AttributeProto::STRING) {
      change("nonsense", [](AttributeProto &x) { x.set_s("nonsense"); });
      change("empty", [](AttributeProto &x) { x.set_s(""); });
    }
    if (attribute.type() == AttributeProto::FLOAT) {
      change("not a number", [](AttributeProto &x) { x.set_f(std::numeric_limits<float>::quiet_NaN()); });
      change("infinite", [](AttributeProto &x) { x.set_f(std::numeric_limits<float>::infinity()); });
    }
  }
}

void addInputs(const onnx::GraphProto &graph, std::vector<Mutation> &out) {
  for (int i = 0; i < std::min(graph.input_size(), 5); ++i) {
    if (!graph.input(i).type().has_tensor_type())
      continue;
    auto change = [&, i](std::string how, std::function<void(onnx::TypeProto::Tensor &)> apply) {
      out.push_back(
          {fmt::format("input {} {}", graph.input(i).name(), how), [i, apply = std::move(apply)](ModelProto &m) {
             apply(*m.mutable_graph()->mutable_input(i)->mutable_type()->mutable_tensor_type());
           }});
    };
    for (int type : badTypes)
      change(fmt::format("of type {}", type), [type](auto &x) { x.set_elem_type(type); });
    change("a scalar", [](auto &x) { x.mutable_shape()->clear_dim(); });
    change("of one more dimension", [](auto &x) { x.mutable_shape()->add_dim()->set_dim_value(2); });
    change("of rank 70", [](auto &x) {
      while (x.shape().dim_size() < 70)
        x.mutable_shape()->add_dim()->set_dim_value(1);
    });
    change("of unknown rank", [](auto &x) { x.clear_shape(); });
    for (int d = 0; d < std::min(graph.input(i).type().tensor_type().shape().dim_size(), 4); ++d) {
      for (int64_t size : {int64_t(0), int64_t(1), int64_t(7), int64_t(-1), int64_t(1) << 40})
        change(fmt::format("with size {} in dimension {}", size, d),
               [d, size](auto &x) { x.mutable_shape()->mutable_dim(d)->set_dim_value(size); });
      change(fmt::format("with a symbol in dimension {}", d),
             [d](auto &x) { x.mutable_shape()->mutable_dim(d)->set_dim_param("n"); });
    }
  }
}

/// Turns integer inputs that control a node (axes, shapes, indices) into constants with bad contents.
void addContents(const onnx::GraphProto &graph, std::vector<Mutation> &out) {
  for (int i = 1; i < std::min(graph.input_size(), 6); ++i) {
    const auto &type = graph.input(i).type().tensor_type();
    if (type.elem_type() != TensorProto::INT64)
      continue;
    for (int64_t bad : badIntegers)
      out.push_back({fmt::format("input {} filled with {}", graph.input(i).name(), bad), [i, bad](ModelProto &m) {
                       onnx::GraphProto &g = *m.mutable_graph();
                       TensorProto *tensor = g.add_initializer();
                       tensor->set_name(g.input(i).name()), tensor->set_data_type(TensorProto::INT64);
                       int64_t count = 1;
                       for (const auto &dim : g.input(i).type().tensor_type().shape().dim())
                         tensor->add_dims(dim.dim_value()), count *= dim.dim_value();
                       for (int64_t k = 0; k < std::min<int64_t>(count, 1 << 16); ++k)
                         tensor->add_int64_data(bad);
                     }});
  }
}

} // namespace

std::vector<Mutation> mutationsOf(const ModelProto &model) {
  std::vector<Mutation> mutations;
  if (model.graph().node_size() == 0)
    return mutations;
  addCounts(model.graph().node(0), mutations);
  addAttributes(model.graph().node(0), mutations);
  addInputs(model.graph(), mutations);
  addContents(model.graph(), mutations);
  for (int64_t opset : {1, 6, 9, 13, 18, 99})
    mutations.push_back({fmt::format("opset {}", opset), [opset](ModelProto &m) {
                           if (m.opset_import_size())
                             m.mutable_opset_import(0)->set_version(opset);
                         }});
  return mutations;
}

} // namespace tilewright::test
