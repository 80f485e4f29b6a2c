// SPDX-License-Identifier: Apache-2.0
// tilewright run: runs a model or artifact on inputs, and writes or checks its outputs.
#include "tools/tilewright/Json.h"
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/model/DeclaredShapes.h"
#include "tools/tilewright/options/InputOptions.h"
#include "tools/tilewright/options/ModelOptions.h"
#include "tools/tilewright/values/Compare.h"
#include "tools/tilewright/values/Npy.h"
#include "tools/tilewright/values/Npz.h"
#include "tools/tilewright/values/TensorFiles.h"

#include "runtime/artifact/OutputFile.h"
#include "runtime/execute/Context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace tilewright {

namespace {
struct RunCommand {
  ModelOptions model;
  InputOptions inputs;
  std::string outputs, check;
  std::optional<double> relative, absolute;
  bool json = false;
};
} // namespace

static Status writeOutputs(const runtime::Plan &plan, const std::vector<Tensor> &outputs, const fs::path &folder) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (isObject(outputs[i].type()))
      return {Code::Unsupported,
              fmt::format("--outputs {}: output '{}' is a {}, which .npy and .npz cannot hold", folder.string(),
                          plan.values[plan.outputs[i]].name, name(outputs[i].type()))};
  if (folder.extension() == ".npz") {
    std::vector<NamedTensor> named;
    for (size_t i = 0; i < outputs.size(); ++i)
      named.push_back({plan.values[plan.outputs[i]].name, outputs[i]});
    return writeNpz(folder, named);
  }
  std::map<std::string, std::string> files;
  for (runtime::ValueId id : plan.outputs)
    if (auto [file, isNew] = files.try_emplace(fileName(plan.values[id].name), plan.values[id].name);
        !isNew && file->second != plan.values[id].name)
      return {Code::Usage, fmt::format("--outputs {}: outputs '{}' and '{}' would both be {}.npy; write a FILE.npz",
                                       folder.string(), file->second, plan.values[id].name, file->first)};
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return {Code::Io, fmt::format("{}: cannot be made: {}", folder.string(), error.message())};
  for (size_t i = 0; i < outputs.size(); ++i)
    TILEWRIGHT_TRY(writeNpy(folder / (fileName(plan.values[plan.outputs[i]].name) + ".npy"), outputs[i]));
  return {};
}

/// Prints names, types and shapes of the outputs.
static void printOutputs(const RunCommand &command, const runtime::Plan &plan, const std::vector<Tensor> &outputs) {
  nlohmann::json json = {{"schema", jsonSchema}, {"outputs", nlohmann::json::array()}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string &label = plan.values[plan.outputs[i]].name;
    if (!command.json)
      fmt::print("{} {} [{}]\n", label, name(outputs[i].type()), fmt::join(outputs[i].shape(), ", "));
    json["outputs"].push_back({{"name", label}, {"dtype", name(outputs[i].type())}, {"shape", outputs[i].shape()}});
  }
  if (command.json)
    fmt::print("{}\n", toText(json, 2));
}

static Status checkOutputs(const RunCommand &command, const runtime::Plan &plan, const std::vector<Tensor> &outputs) {
  Expected<std::vector<NamedTensor>> expected = readValues(command.check, DataKind::Output, plan);
  if (!expected)
    return expected.status();
  if (expected->empty())
    return nothingFound("--check", command.check, DataKind::Output);
  Expected<std::vector<size_t>> places = matchOutputs(plan, *expected);
  if (!places)
    return {places.status().code(), fmt::format("{}: {}", command.check, places.status().message())};
  std::string differences;
  for (size_t e = 0; e < expected->size(); ++e) {
    size_t i = (*places)[e];
    Tolerance tolerance = defaultTolerance((*expected)[e].tensor.type());
    tolerance.relative = command.relative.value_or(tolerance.relative);
    tolerance.absolute = command.absolute.value_or(tolerance.absolute);
    Comparison result = compare(plan.values[plan.outputs[i]].name, outputs[i], (*expected)[e].tensor, tolerance);
    if (!result.same)
      differences += (differences.empty() ? "" : "\n  ") + result.sentence;
    else
      fmt::print(stderr, "output '{}' [{}] agrees; the largest difference is {:.3g}\n",
                 plan.values[plan.outputs[i]].name, fmt::join(outputs[i].shape(), ", "), result.largestDifference);
  }
  return differences.empty() ? Status() : Status(Code::Differs, differences);
}

namespace {
/// The intermediate results of a run.
struct Execution {
  std::shared_ptr<const runtime::Program> program;
  std::vector<Tensor> inputs, outputs;
};
} // namespace

/// Compiles or opens the model, reads the inputs, runs. After a failure, `execution` has the results so far.
static Status execute(const RunCommand &command, const ModelOptions &model, Execution &execution) {
  Expected<runtime::Artifact> artifact = loadOrCompile(model);
  TILEWRIGHT_TRY(artifact);
  auto device = openDeviceFor(command.inputs, artifact->contents());
  TILEWRIGHT_TRY(device);
  auto program = runtime::Program::create(*artifact, (*device)->info(), planMode(model, artifact->contents()));
  TILEWRIGHT_TRY(program);
  execution.program = *program;
  Expected<std::vector<Tensor>> inputs = readInputs((*program)->plan(), command.inputs);
  TILEWRIGHT_TRY(inputs);
  execution.inputs = *inputs;
  auto context = runtime::Context::create(*program, *device);
  TILEWRIGHT_TRY(context);
  Expected<std::vector<Tensor>> outputs = (*context)->run(*inputs);
  TILEWRIGHT_TRY(outputs);
  execution.outputs = std::move(*outputs);
  return {};
}

/// The shapes of the inputs: those that were read, or, if compiling failed, those of the files in the options or those
/// that the model declares.
static std::map<std::string, Shape> sizesAtHand(const RunCommand &command, const Execution &execution) {
  if (auto given = givenSizes(command.inputs); !execution.program && areInvented(command.inputs) && given) {
    auto declared = declaredShapes(command.model.model, *given);
    return declared ? *declared : std::map<std::string, Shape>();
  }
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < execution.inputs.size(); ++i)
    named.push_back({execution.program->input(i).name, execution.inputs[i]});
  if (!execution.program)
    named = namedInputs(command.inputs);
  std::map<std::string, Shape> sizes;
  for (const NamedTensor &input : named)
    sizes[input.name] = input.tensor.shape();
  return sizes;
}

/// Compiles the model again for the sizes of the inputs, if it does not compile with symbols or its plan refuses them.
static Status executeSpecialized(const RunCommand &command, const Status &refused, Execution &execution) {
  bool isSizes =
      refused.code() == Code::Usage || refused.code() == Code::Malformed || refused.code() == Code::Unsupported;
  if (!isSizes || inputKind(command.model.model) != InputKind::Model || !command.model.shapes.empty() ||
      !command.model.model.ends_with(".onnx"))
    return refused;
  ModelOptions model = command.model;
  model.sizesAtHand = sizesAtHand(command, execution);
  RunCommand known = command;
  known.inputs.sizes.clear(); // no size is left that they could give
  if (model.sizesAtHand.empty())
    return refused;
  Execution specialized;
  if (!execute(known, model, specialized).ok())
    return refused; // sizes are not the cause
  execution = std::move(specialized);
  if (!command.model.quiet) {
    std::vector<std::string> shapes;
    for (const auto &[name, shape] : model.sizesAtHand)
      shapes.push_back(fmt::format("{}:[{}]", name, fmt::join(shape, ",")));
    fmt::print(stderr, "remark: compiled for the sizes at hand, --shapes {}, because with symbolic sizes {}\n",
               fmt::join(shapes, ","), refused.message());
  }
  return {};
}

static Status run(RunCommand &command) {
  if (command.outputs.ends_with(".npz"))
    TILEWRIGHT_TRY(checkWritable({command.outputs}));
  if (!command.check.empty() && command.inputs.inputs.empty() && fs::exists(testDataSet(command.check) / "input_0.pb"))
    command.inputs.inputs = {command.check};
  Execution execution;
  Status status = execute(command, command.model, execution);
  if (!status.ok())
    TILEWRIGHT_TRY(executeSpecialized(command, status, execution));
  const runtime::Plan &plan = execution.program->plan();
  const std::vector<Tensor> *outputs = &execution.outputs;
  if (!command.outputs.empty())
    TILEWRIGHT_TRY(writeOutputs(plan, *outputs, command.outputs));
  if (command.check.empty() || command.json)
    printOutputs(command, plan, *outputs);
  return command.check.empty() ? Status() : checkOutputs(command, plan, *outputs);
}

void addRunCommand(CLI::App &app, int &exitCode) {
  auto *command = app.add_subcommand("run", "Run a model or artifact; write or check its outputs");
  auto options = std::make_shared<RunCommand>();
  addModelOptions(*command, options->model);
  addInputOptions(*command, options->inputs);
  command->add_option("--outputs", options->outputs,
                      "write the outputs: each as NAME.npy into this folder, or all of them into FILE.npz");
  auto *check = command->add_option("--check", options->check,
                                    "compare with output_N.pb of this test data folder (its input_N.pb are the "
                                    "inputs), or with what --outputs wrote");
  command->add_option("--rtol", options->relative, "relative tolerance instead of the type's own")
      ->check(notNegative)
      ->needs(check);
  command->add_option("--atol", options->absolute, "absolute tolerance instead of the type's own")
      ->check(notNegative)
      ->needs(check);
  command->add_flag("--json", options->json, "print names, types and shapes of the outputs as JSON");
  command->footer("Example: tilewright run model.onnx --inputs x=image.npy --outputs out.npz");
  command->callback([options, &exitCode] { exitCode = report(run(*options)); });
}

} // namespace tilewright
