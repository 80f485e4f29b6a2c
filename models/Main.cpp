// SPDX-License-Identifier: Apache-2.0
// tilewright-models OUT [NAME...]: writes OUT/NAME/model.onnx for each demo named, or for all, and OUT/manifest.json
// that describes them.
#include "models/Demos.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace tilewright;
using namespace tilewright::models;

static nlohmann::ordered_json describe(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> &values) {
  auto list = nlohmann::ordered_json::array();
  for (const onnx::ValueInfoProto &value : values) {
    auto shape = nlohmann::ordered_json::array();
    for (const auto &dimension : value.type().tensor_type().shape().dim())
      dimension.has_dim_param() ? shape.push_back(dimension.dim_param()) : shape.push_back(dimension.dim_value());
    list.push_back({{"name", value.name()}, {"shape", shape}});
  }
  return list;
}

/// Writes one demo and returns its row of the manifest.
static Expected<nlohmann::ordered_json> writeDemo(const Demo &demo, const std::filesystem::path &out) {
  ModelBuilder builder{std::string(demo.name), demo.type};
  demo.build(builder);
  std::filesystem::path path = out / demo.name / "model.onnx";
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return Status(Code::Io, fmt::format("cannot make the folder {}: {}", path.parent_path().string(), error.message()));
  if (Status status = builder.write(path.string()); !status)
    return status;

  const onnx::GraphProto &graph = builder.model().graph();
  size_t weightBytes = 0;
  for (const onnx::TensorProto &tensor : graph.initializer())
    weightBytes += tensor.raw_data().size();
  return nlohmann::ordered_json{{"name", demo.name},
                                {"summary", demo.summary},
                                {"model", std::string(demo.name) + "/model.onnx"},
                                {"dtype", name(demo.type)},
                                {"nodes", graph.node_size()},
                                {"weight_bytes", weightBytes},
                                {"inputs", describe(graph.input())},
                                {"outputs", describe(graph.output())}};
}

static Status writeDemos(const std::filesystem::path &out, const std::vector<std::string> &names) {
  auto rows = nlohmann::ordered_json::array();
  for (const Demo &demo : demos()) {
    if (!names.empty() && std::find(names.begin(), names.end(), demo.name) == names.end())
      continue;
    auto row = writeDemo(demo, out);
    if (!row)
      return row.status();
    fmt::print(stderr, "{:<20} {:>4} nodes  {:>8.1f} MB  {}\n", demo.name, (*row)["nodes"].get<int>(),
               (*row)["weight_bytes"].get<double>() / 1e6, demo.summary);
    rows.push_back(std::move(*row));
  }
  std::filesystem::path path = out / "manifest.json";
  std::ofstream file(path);
  if (!(file << nlohmann::ordered_json{{"schema", 1}, {"models", rows}}.dump(2) << "\n").flush())
    return {Code::Io, fmt::format("cannot write {}", path.string())};
  return {};
}

int main(int argc, char **argv) {
  CLI::App app("Writes the demo models: OUT/NAME/model.onnx and OUT/manifest.json.", "tilewright-models");
  std::string out;
  std::vector<std::string> names, known;
  for (const Demo &demo : demos())
    known.emplace_back(demo.name);
  auto *outOption = app.add_option("OUT", out, "the folder to write to")->required();
  app.add_option("NAME", names, "demos to write (default: all)")->check(CLI::IsMember(known));
  app.add_flag_callback(
         "--list",
         [] {
           for (const Demo &demo : demos())
             fmt::print("{:<20} {}\n", demo.name, demo.summary);
           throw CLI::Success();
         },
         "name the demos and leave")
      ->excludes(outOption);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : int(Code::Usage);
  }
  if (Status status = writeDemos(out, names); !status) {
    fmt::print(stderr, "tilewright-models: {}\n", status.message());
    return int(status.code());
  }
  return 0;
}
