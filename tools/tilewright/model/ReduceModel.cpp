// SPDX-License-Identifier: Apache-2.0
// Searches for the smallest part of a model that still gives wrong results.
#include "tools/tilewright/model/ReduceModel.h"

#include "runtime/Version.h"
#include "runtime/artifact/OutputFile.h"
#include "tools/tilewright/Progress.h"
#include "tools/tilewright/model/NodeCheck.h"

#include <algorithm>
#include <fmt/format.h>

namespace fs = std::filesystem;

namespace tilewright {

std::vector<int> shrink(std::vector<int> nodes, const std::function<bool(const std::vector<int> &)> &fails) {
  for (size_t piece = std::max<size_t>(1, nodes.size() / 2);;) {
    bool removed = false;
    for (size_t at = 0; at < nodes.size() && nodes.size() > 1;) {
      std::vector<int> rest(nodes.begin(), nodes.begin() + at);
      rest.insert(rest.end(), nodes.begin() + std::min(at + piece, nodes.size()), nodes.end());
      if (!rest.empty() && fails(rest)) {
        nodes = std::move(rest);
        removed = true;
      } else {
        at += piece;
      }
    }
    if (piece == 1 && !removed)
      return nodes;
    piece = std::max<size_t>(1, piece / 2);
  }
}

/// The difference in the results of the part `nodes`; empty if there is none, or if the part does not compile.
static std::string differenceOf(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &known,
                                const std::vector<int> &nodes, const std::optional<Tolerance> &tolerance) {
  onnx::ModelProto part = model.part(nodes, known);
  if (part.graph().output().empty())
    return "";
  Expected<ValueMap> outputs = evaluateModel(evaluation, part, known);
  if (!outputs)
    return "";
  for (const auto &[name, tensor] : *outputs)
    if (Comparison result = compare(name, tensor, known.at(name), toleranceAt(model, name, tensor.type(), tolerance));
        !result.same)
      return result.sentence;
  return "";
}

Expected<Reduction> reduceModel(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &known,
                                const std::optional<Tolerance> &tolerance) {
  Reduction reduction;
  Progress progress("reduce");
  size_t all = model.order().size(), fewest = all;
  auto fails = [&](const std::vector<int> &nodes) {
    ++reduction.tried;
    progress.show(1 - double(fewest) / all,
                  fmt::format("{} of {} nodes left, {} parts tried", fewest, all, reduction.tried));
    std::string difference = differenceOf(model, evaluation, known, nodes, tolerance);
    if (difference.empty())
      return false;
    fewest = nodes.size();
    reduction.difference = difference;
    return true;
  };
  if (!fails(model.order()))
    return Status(Code::Differs,
                  "the model cannot be reduced: with its values taken one by one nothing differs beyond the tolerance");
  reduction.nodes = shrink(model.order(), fails);
  return reduction;
}

static Status writeTensors(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> &values,
                           const ValueMap &known, const fs::path &folder, const char *kind) {
  for (int i = 0; i < values.size(); ++i)
    TILEWRIGHT_TRY(writeFile(folder / fmt::format("{}_{}.pb", kind, i),
                             toProto(values[i].name(), known.at(values[i].name())).SerializeAsString()));
  return {};
}

Status writeReduction(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &known,
                      const Reduction &reduction, const fs::path &folder, const std::string &command) {
  std::error_code error;
  fs::create_directories(folder / "test_data_set_0", error);
  if (error)
    return {Code::Io, fmt::format("{}: cannot be made: {}", folder.string(), error.message())};
  onnx::ModelProto part = model.part(reduction.nodes, known);
  TILEWRIGHT_TRY(embedWeights(part, fs::path(evaluation.options.modelPath).parent_path().string(),
                              evaluation.options.import.randomWeights));
  TILEWRIGHT_TRY(writeFile(folder / "model.onnx", part.SerializeAsString()));
  TILEWRIGHT_TRY(writeTensors(part.graph().input(), known, folder / "test_data_set_0", "input"));
  TILEWRIGHT_TRY(writeTensors(part.graph().output(), known, folder / "test_data_set_0", "output"));
  CompileOptions emit = evaluation.options;
  emit.modelPath = (folder / "model.onnx").string();
  Expected<std::string> group = emitStage(emit, Stage::Group);
  TILEWRIGHT_TRY(group);
  TILEWRIGHT_TRY(writeFile(folder / "group.mlir", *group));
  std::string nodes;
  for (int node : reduction.nodes)
    nodes += fmt::format("  {} ({})\n", model.nodeName(node), model.node(node).op_type());
  return writeFile(
      folder / "README.txt",
      fmt::format("{} of {} nodes of {} still give wrong results:\n{}\n{}\n\nReproduce with tilewright {}:\n  {}\n",
                  reduction.nodes.size(), model.order().size(), evaluation.options.modelPath, nodes,
                  reduction.difference, version(), command));
}

} // namespace tilewright
