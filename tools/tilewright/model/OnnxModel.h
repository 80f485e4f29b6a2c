// SPDX-License-Identifier: Apache-2.0
// An ONNX model as a graph of named values, and parts of it as models: for `verify`.
#pragma once

#include "runtime/Status.h"
#include "runtime/Tensor.h"

#include "onnx/onnx.pb.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright {

using ValueMap = std::map<std::string, Tensor>;

/// Has the nodes of the main graph only; those inside of branches and functions belong to the outer node.
class OnnxModel {
public:
  static Expected<OnnxModel> read(const std::string &path);

  const onnx::ModelProto &proto() const { return *model; }
  const onnx::NodeProto &node(int index) const { return model->graph().node(index); }
  /// The nodes, each after those whose values it reads.
  const std::vector<int> &order() const { return order_; }
  /// The node's name, or its first output if it has none, as in the importer.
  std::string nodeName(int index) const;
  /// The node that computes `value`, or -1.
  int producerOf(const std::string &value) const;
  const std::vector<int> &readersOf(const std::string &value) const;
  bool isOutput(const std::string &value) const;
  /// The values that nodes compute and something reads, in the order of their nodes.
  std::vector<std::string> values() const;

  /// The whole model with `outputs` as its outputs.
  onnx::ModelProto withOutputs(const std::vector<std::string> &outputs) const;

  /// A model of `nodes` only. Values of other nodes become inputs with the types and sizes in `known`, except that
  /// small integers, and values that do not depend on the model's inputs, become constants. Values read elsewhere are
  /// outputs.
  onnx::ModelProto part(const std::vector<int> &nodes, const ValueMap &known) const;

private:
  void index();
  bool isConstant(const std::string &value, const ValueMap &known) const;
  onnx::ValueInfoProto describe(const std::string &value, const ValueMap &known) const;

  std::shared_ptr<onnx::ModelProto> model;
  std::vector<int> order_;
  std::vector<bool> reached;                       // by node: whether it depends on an input of the model
  std::map<std::string, int> producers;            // of values
  std::map<std::string, std::vector<int>> readers; // of values
  std::map<std::string, int> initializers;
};

/// A TensorProto with the tensor's data inside.
onnx::TensorProto toProto(const std::string &name, const Tensor &tensor);

/// Embeds the data of external initializers: from files below `folder`, or random from `seed` if these are absent.
Status embedWeights(onnx::ModelProto &model, const std::string &folder, std::optional<uint64_t> seed);

} // namespace tilewright
