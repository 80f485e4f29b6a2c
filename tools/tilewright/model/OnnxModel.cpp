// SPDX-License-Identifier: Apache-2.0
// Reads a model as a graph, and extracts parts of it.
#include "tools/tilewright/model/OnnxModel.h"

#include "frontend/onnx/MappedFile.h"
#include "frontend/onnx/TensorData.h"

#include <algorithm>
#include <climits>
#include <fmt/format.h>
#include <set>

namespace tilewright {

/// The values that a node reads: its inputs, and all names in its subgraphs. The subgraphs' own names do no harm.
static std::set<std::string> readsOf(const onnx::NodeProto &node) {
  std::set<std::string> reads(node.input().begin(), node.input().end());
  for (const auto &attribute : node.attribute()) {
    for (const auto &inner : attribute.g().node())
      reads.merge(readsOf(inner));
    for (const auto &output : attribute.g().output())
      reads.insert(output.name());
  }
  reads.erase("");
  return reads;
}

Expected<OnnxModel> OnnxModel::read(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  TILEWRIGHT_TRY(file);
  OnnxModel model;
  model.model = std::make_shared<onnx::ModelProto>();
  if (file->bytes().size() > INT_MAX ||
      !model.model->ParseFromArray(file->bytes().data(), static_cast<int>(file->bytes().size())))
    return Status(Code::Malformed, fmt::format("'{}' is not an ONNX model", path));
  model.index();
  if (model.order_.size() < static_cast<size_t>(model.model->graph().node_size()))
    return Status(Code::Malformed, fmt::format("'{}' has a cycle", path));
  return model;
}

void OnnxModel::index() {
  const onnx::GraphProto &graph = model->graph();
  for (int i = 0; i < graph.initializer_size(); ++i)
    initializers[graph.initializer(i).name()] = i;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &output : graph.node(i).output())
      if (!output.empty())
        producers[output] = i;
  std::vector<std::set<int>> waitsFor(graph.node_size()), feeds(graph.node_size());
  std::vector<std::set<std::string>> reads;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &value : reads.emplace_back(readsOf(graph.node(i)))) {
      readers[value].push_back(i);
      if (int producer = producerOf(value); producer >= 0 && producer != i)
        waitsFor[i].insert(producer), feeds[producer].insert(i);
    }
  std::set<int> ready;
  for (int i = 0; i < graph.node_size(); ++i)
    if (waitsFor[i].empty())
      ready.insert(i);
  std::set<std::string> inputs;
  for (const auto &input : graph.input())
    if (!initializers.count(input.name()))
      inputs.insert(input.name());
  reached.resize(graph.node_size());
  while (!ready.empty()) {
    int node = *ready.begin();
    ready.erase(ready.begin());
    order_.push_back(node);
    for (const std::string &value : reads[node])
      reached[node] = reached[node] || inputs.count(value) || (producerOf(value) >= 0 && reached[producerOf(value)]);
    for (int reader : feeds[node])
      if (waitsFor[reader].erase(node) && waitsFor[reader].empty())
        ready.insert(reader);
  }
}

std::string OnnxModel::nodeName(int index) const {
  const onnx::NodeProto &proto = node(index);
  return !proto.name().empty() ? proto.name() : proto.output_size() ? proto.output(0) : proto.op_type();
}

int OnnxModel::producerOf(const std::string &value) const {
  auto found = producers.find(value);
  return found == producers.end() ? -1 : found->second;
}

const std::vector<int> &OnnxModel::readersOf(const std::string &value) const {
  static const std::vector<int> nobody;
  auto found = readers.find(value);
  return found == readers.end() ? nobody : found->second;
}

bool OnnxModel::isOutput(const std::string &value) const {
  return std::ranges::any_of(model->graph().output(), [&](const auto &output) { return output.name() == value; });
}

std::vector<std::string> OnnxModel::values() const {
  std::vector<std::string> values;
  for (int index : order_)
    for (const std::string &output : node(index).output())
      if (!output.empty() && (!readersOf(output).empty() || isOutput(output)))
        values.push_back(output);
  return values;
}

onnx::ModelProto OnnxModel::withOutputs(const std::vector<std::string> &outputs) const {
  onnx::ModelProto marked = *model;
  marked.mutable_graph()->clear_output();
  for (const std::string &output : outputs)
    marked.mutable_graph()->add_output()->set_name(output);
  return marked;
}

//===- Parts ------------------------------------------------------------------------------------------------------===//

/// Whether a value stays a constant in a part: compilation depends on contents that shape arithmetic reads, and on
/// those that do not depend on the model's inputs.
bool OnnxModel::isConstant(const std::string &value, const ValueMap &known) const {
  int producer = producerOf(value);
  auto tensor = known.find(value);
  if (producer < 0 || tensor == known.end())
    return false;
  constexpr int64_t shapeLike = 16; // elements
  return !reached[producer] ||
         (tensor->second.type() == DType::I64 && tensor->second.rank() <= 1 && tensor->second.count() <= shapeLike);
}

/// The declared type if the value fits it, so that symbolic sizes stay symbolic; else the value's own type.
onnx::ValueInfoProto OnnxModel::describe(const std::string &value, const ValueMap &known) const {
  const Tensor &tensor = known.at(value);
  for (const auto *list : {&model->graph().input(), &model->graph().value_info(), &model->graph().output()})
    for (const auto &info : *list) {
      const auto &type = info.type().tensor_type();
      bool fits = info.name() == value && type.elem_type() == static_cast<int>(tensor.type()) &&
                  type.shape().dim_size() == tensor.rank();
      for (int i = 0; fits && i < type.shape().dim_size(); ++i)
        fits = type.shape().dim(i).has_dim_param() || type.shape().dim(i).dim_value() == tensor.shape()[i];
      if (fits)
        return info;
    }
  onnx::ValueInfoProto info;
  info.set_name(value);
  auto *type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int>(tensor.type()));
  type->mutable_shape();
  for (int64_t size : tensor.shape())
    type->mutable_shape()->add_dim()->set_dim_value(size);
  return info;
}

onnx::ModelProto OnnxModel::part(const std::vector<int> &nodes, const ValueMap &known) const {
  onnx::ModelProto part;
  part.set_ir_version(model->ir_version());
  part.set_producer_name("tilewright verify --reduce");
  *part.mutable_opset_import() = model->opset_import();
  *part.mutable_functions() = model->functions();
  onnx::GraphProto &graph = *part.mutable_graph();
  graph.set_name(model->graph().name());
  std::set<int> inside(nodes.begin(), nodes.end());
  std::set<std::string> given;
  for (int index : order_) {
    if (!inside.count(index))
      continue;
    *graph.add_node() = node(index);
    for (const std::string &value : readsOf(node(index))) {
      if (inside.count(producerOf(value)) || !given.insert(value).second)
        continue;
      if (auto initializer = initializers.find(value); initializer != initializers.end())
        *graph.add_initializer() = model->graph().initializer(initializer->second);
      else if (isConstant(value, known))
        *graph.add_initializer() = toProto(value, known.at(value));
      else if (known.count(value))
        *graph.add_input() = describe(value, known);
    }
    for (const std::string &value : node(index).output()) {
      bool leaves =
          isOutput(value) || std::ranges::any_of(readersOf(value), [&](int reader) { return !inside.count(reader); });
      if (leaves && known.count(value))
        *graph.add_output() = describe(value, known);
    }
  }
  return part;
}

onnx::TensorProto toProto(const std::string &name, const Tensor &tensor) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.type()));
  for (int64_t size : tensor.shape())
    proto.add_dims(size);
  uint32_t bits = findDType(tensor.type())->bits;
  if (bits >= 8) {
    proto.set_raw_data(tensor.bytes(), tensor.byteSize());
    return proto;
  }
  std::string packed(packedBytes(tensor.type(), tensor.count()), '\0'); // the first element in the lowest bits
  for (int64_t i = 0; i < tensor.count(); ++i)
    packed[i * bits / 8] |= static_cast<char>((tensor.data<uint8_t>()[i] & ((1 << bits) - 1)) << (i * bits % 8));
  proto.set_raw_data(packed);
  return proto;
}

Status embedWeights(onnx::ModelProto &model, const std::string &folder, std::optional<uint64_t> seed) {
  ExternalData files(folder);
  for (onnx::TensorProto &proto : *model.mutable_graph()->mutable_initializer()) {
    if (proto.data_location() != onnx::TensorProto::EXTERNAL)
      continue;
    auto kept = std::make_shared<onnx::TensorProto>(proto);
    Expected<Tensor> tensor = decodeTensor(*kept, proto.name(), {&files, kept, seed});
    TILEWRIGHT_TRY(tensor);
    proto = toProto(proto.name(), *tensor);
  }
  return {};
}

} // namespace tilewright
