// An ONNX model as a graph of named values, and parts of it as models of their own: what `verify` marks, cuts and
// writes.
#pragma once

#include "runtime/Status.h"
#include "runtime/Tensor.h"

#include "onnx/onnx.pb.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright {

using ValueMap = std::map<std::string, Tensor>;

/// Only the nodes of the main graph: what is inside of branches and functions belongs to the node that has them.
class OnnxModel {
public:
  static Expected<OnnxModel> read(const std::string &path);

  const onnx::ModelProto &proto() const { return *model; }
  const onnx::NodeProto &node(int index) const { return model->graph().node(index); }
  /// The nodes, each after those whose values it reads.
  const std::vector<int> &order() const { return order_; }
  /// As the importer calls it: its name, or its first output where it has none.
  std::string nodeName(int index) const;
  /// The node that makes `value`, or -1.
  int producerOf(const std::string &value) const;
  const std::vector<int> &readersOf(const std::string &value) const;
  bool isOutput(const std::string &value) const;
  /// The values that nodes make and that something reads, in the order of their nodes.
  std::vector<std::string> values() const;

  /// The whole model, returning `outputs`.
  onnx::ModelProto withOutputs(const std::vector<std::string> &outputs) const;

  /// `nodes` alone. What they read of other nodes are inputs, with types and sizes of `known`, but for small integers
  /// and what no input of the model reaches, which stay constants. What anything else reads of them are outputs.
  onnx::ModelProto part(const std::vector<int> &nodes, const ValueMap &known) const;

private:
  void index();
  bool isConstant(const std::string &value, const ValueMap &known) const;
  onnx::ValueInfoProto describe(const std::string &value, const ValueMap &known) const;

  std::shared_ptr<onnx::ModelProto> model;
  std::vector<int> order_;
  std::vector<bool> reached;                       // by node: whether an input of the model does
  std::map<std::string, int> producers;            // of values
  std::map<std::string, std::vector<int>> readers; // of values
  std::map<std::string, int> initializers;
};

/// A tensor as ONNX writes it, its bytes inside.
onnx::TensorProto toProto(const std::string &name, const Tensor &tensor);

/// Moves the data of all initializers into `model`: from files below `folder`, or invented from `seed` where they are
/// absent.
Status embedWeights(onnx::ModelProto &model, const std::string &folder, std::optional<uint64_t> seed);

} // namespace tilewright
