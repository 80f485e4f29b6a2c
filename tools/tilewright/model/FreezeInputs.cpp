// SPDX-License-Identifier: Apache-2.0
// Moves inputs of a model into its initializers.
#include "tools/tilewright/model/FreezeInputs.h"

#include "tools/tilewright/model/OnnxModel.h"

#include <algorithm>

namespace tilewright {

static bool decides(const Tensor &tensor) {
  bool small = tensor.rank() <= 1 && tensor.count() <= 64;
  return small && (tensor.type() == DType::I64 || tensor.type() == DType::I32 || tensor.type() == DType::F32 ||
                   tensor.type() == DType::Bool);
}

Expected<std::shared_ptr<std::string>> freezeInputs(const std::string &path, const std::vector<NamedTensor> &given) {
  Expected<OnnxModel> model = OnnxModel::read(path);
  TILEWRIGHT_TRY(model);
  onnx::ModelProto proto = model->proto();
  onnx::GraphProto &graph = *proto.mutable_graph();
  std::vector<onnx::ValueInfoProto> kept;
  for (int i = 0; i < graph.input_size(); ++i) {
    auto at = static_cast<size_t>(i);
    if (i > 0 && at < given.size() && given[at].tensor.defined() && decides(given[at].tensor))
      *graph.add_initializer() = toProto(graph.input(i).name(), given[at].tensor);
    else
      kept.push_back(graph.input(i));
  }
  if (static_cast<int>(kept.size()) == graph.input_size())
    return Status(Code::Unsupported, "no input of the model is small enough to be taken as known");
  graph.clear_input();
  for (onnx::ValueInfoProto &info : kept)
    *graph.add_input() = std::move(info);
  auto bytes = std::make_shared<std::string>();
  if (!proto.SerializeToString(bytes.get()))
    return Status(Code::Unsupported, "the model is too large to be written in one piece");
  return bytes;
}

} // namespace tilewright
