// SPDX-License-Identifier: Apache-2.0
// tilewright verify: compares the compiled program with the reference, the unfused program, or expected values: the
// outputs, then node by node; then reduces the model to the nodes that are wrong.
#include "tools/tilewright/Json.h"
#include "tools/tilewright/Progress.h"
#include "tools/tilewright/Table.h"
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/model/NodeCheck.h"
#include "tools/tilewright/model/ReduceModel.h"
#include "tools/tilewright/options/InputOptions.h"
#include "tools/tilewright/options/ModelOptions.h"
#include "tools/tilewright/values/Npz.h"

#include "runtime/execute/Context.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace tilewright {

namespace {
struct VerifyCommand {
  ModelOptions model;
  InputOptions inputs;
  std::string against = "reference", reduce;
  std::optional<double> relative, absolute;
  bool perNode = false, json = false;

  bool isOnnx() const { return inputKind(model.model) == InputKind::Model; }
  /// Whether the reference is compiled here, for the sizes of the inputs. An artifact has a reference plan of its own.
  bool compilesReference() const { return against == "reference" && isOnnx(); }
  bool againstFolder() const { return against != "reference" && against != "unfused" && against != "unedited"; }
};

/// The results of all comparisons, printed at the end.
struct Findings {
  std::vector<std::pair<std::string, Comparison>> outputs;
  std::vector<NodeRow> nodes;
  nlohmann::json reduction;
};
} // namespace

/// The tolerance that the options give; none: by type.
static std::optional<Tolerance> toleranceOf(const VerifyCommand &command) {
  if (!command.relative && !command.absolute)
    return std::nullopt;
  return Tolerance{command.relative.value_or(0), command.absolute.value_or(0), false};
}

//===- Outputs ----------------------------------------------------------------------------------------------------===//

/// A program's inputs and outputs in one mode.
struct ModeRun {
  ValueMap inputs;
  std::vector<NamedTensor> outputs;
};

static Expected<ModeRun> runMode(const runtime::Artifact &artifact, const std::string &mode,
                                 const InputOptions &options, const std::shared_ptr<runtime::Device> &device) {
  auto program = runtime::Program::create(artifact, device->info(), mode);
  TILEWRIGHT_TRY(program);
  const runtime::Plan &plan = (*program)->plan();
  Expected<std::vector<Tensor>> inputs = readInputs(plan, options);
  TILEWRIGHT_TRY(inputs);
  auto context = runtime::Context::create(*program, device);
  TILEWRIGHT_TRY(context);
  Expected<std::vector<Tensor>> outputs = (*context)->run(*inputs);
  TILEWRIGHT_TRY(outputs);
  ModeRun run;
  for (size_t i = 0; i < inputs->size(); ++i)
    run.inputs[(*program)->input(i).name] = (*inputs)[i];
  for (size_t i = 0; i < outputs->size(); ++i)
    run.outputs.push_back({(*program)->output(i).name, (*outputs)[i]});
  return run;
}

/// The outputs to compare with: another mode's, those of the unedited stage, or those in a folder.
static Expected<std::vector<NamedTensor>> expectedOutputs(const VerifyCommand &command,
                                                          const runtime::Artifact &artifact,
                                                          const std::shared_ptr<runtime::Device> &device,
                                                          const ModeRun &actual) {
  if (command.againstFolder())
    return readValues(command.against, DataKind::Output, artifact.contents().plans.front());
  if (command.against == "unedited") {
    Expected<ModelOptions> before = withoutEdit(command.model);
    TILEWRIGHT_TRY(before);
    Expected<runtime::Artifact> unedited = loadOrCompile(*before);
    TILEWRIGHT_TRY(unedited);
    Expected<ModeRun> run = runMode(*unedited, planMode(command.model, unedited->contents()), command.inputs, device);
    TILEWRIGHT_TRY(run);
    return run->outputs;
  }
  if (!command.compilesReference()) {
    Expected<ModeRun> run =
        runMode(artifact, command.against == "unfused" ? "none" : "reference", command.inputs, device);
    TILEWRIGHT_TRY(run);
    return run->outputs;
  }
  Expected<CompileOptions> compile = compileOptions(command.model);
  TILEWRIGHT_TRY(compile);
  Expected<Evaluation> reference = referenceOf({*compile, device}, actual.inputs);
  TILEWRIGHT_TRY(reference);
  Expected<ValueMap> values = evaluate(*reference, actual.inputs);
  TILEWRIGHT_TRY(values);
  std::vector<NamedTensor> outputs;
  for (const NamedTensor &output : actual.outputs)
    outputs.push_back({output.name, values->at(output.name)});
  return outputs;
}

static Status compareOutputs(const VerifyCommand &command, const runtime::Plan &plan, const ModeRun &actual,
                             const std::vector<NamedTensor> &expected, Findings &findings) {
  // A folder may hold only values inside of the model.
  if (command.againstFolder() && expected.empty())
    return command.perNode ? Status() : nothingFound("--against", command.against, DataKind::Output);
  Expected<std::vector<size_t>> positions = matchOutputs(plan, expected);
  TILEWRIGHT_TRY(positions);
  for (size_t e = 0; e < expected.size(); ++e) {
    const NamedTensor &output = actual.outputs[(*positions)[e]];
    findings.outputs.emplace_back(output.name,
                                  compare(output.name, output.tensor, expected[e].tensor, toleranceOf(command)));
  }
  return {};
}

//===- Nodes ------------------------------------------------------------------------------------------------------===//

/// Values by name in a folder: NAME.npy, the arrays of .npz files, and output_N.pb by the names inside.
static Expected<ValueMap> readAllValues(const OnnxModel &model, const fs::path &folder) {
  bool isArchive = folder.extension() == ".npz";
  Expected<std::vector<NamedTensor>> tensors =
      isArchive ? readNpz(folder) : readTestData(testDataSet(folder), DataKind::Output, {}); // reads tensors only
  TILEWRIGHT_TRY(tensors);
  std::error_code error;
  if (!isArchive)
    for (const auto &entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".npz") {
        Expected<std::vector<NamedTensor>> arrays = readNpz(entry.path());
        TILEWRIGHT_TRY(arrays);
        tensors->insert(tensors->end(), arrays->begin(), arrays->end());
      } else if (entry.path().extension() == ".npy") {
        Expected<NamedTensor> tensor = readTensorFile(entry.path());
        TILEWRIGHT_TRY(tensor);
        tensors->push_back({entry.path().stem().string(), tensor->tensor});
      }
    }
  if (error)
    return Status(Code::Io, fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  ValueMap values;
  for (const std::string &value : model.values())
    for (const NamedTensor &tensor : *tensors)
      if (tensor.name == value || tensor.name == fileName(value))
        values[value] = tensor.tensor;
  return values;
}

/// The expected value of every node: from the reference or the unfused program with all of them as outputs, or from the
/// folder.
static Expected<ValueMap> expectedValues(const VerifyCommand &command, const OnnxModel &model,
                                         const Evaluation &evaluation, const ValueMap &inputs) {
  if (command.againstFolder())
    return readAllValues(model, command.against);
  Expected<Evaluation> other =
      command.against == "unfused" ? Expected<Evaluation>(evaluation) : referenceOf(evaluation, inputs);
  TILEWRIGHT_TRY(other);
  if (command.against == "unfused")
    other->options.modes = {PlanMode::None};
  Expected<ValueMap> values = evaluateModel(*other, model.withOutputs(model.values()), inputs);
  TILEWRIGHT_TRY(values);
  values->insert(inputs.begin(), inputs.end());
  return values;
}

/// Quotes `text` as one word for a shell.
static std::string shellWord(std::string_view text) {
  constexpr std::string_view plain = "/._-+:@%ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos)
    return std::string(text);
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

static std::string commandFor(const VerifyCommand &command) {
  std::string line =
      fmt::format("tilewright verify {} --inputs {} --against {} --fuse={}", shellWord(command.reduce + "/model.onnx"),
                  shellWord(command.reduce), shellWord(command.against), command.model.fuse);
  for (const std::string &target : command.model.targets)
    line += " --target " + target;
  if (command.relative)
    line += fmt::format(" --rtol {}", *command.relative);
  if (command.absolute)
    line += fmt::format(" --atol {}", *command.absolute);
  return line;
}

static Status reduce(const VerifyCommand &command, const OnnxModel &model, const Evaluation &evaluation,
                     const ValueMap &expected, Findings &findings) {
  Expected<Reduction> reduction = reduceModel(model, evaluation, expected, toleranceOf(command));
  TILEWRIGHT_TRY(reduction);
  std::string line = commandFor(command);
  TILEWRIGHT_TRY(writeReduction(model, evaluation, expected, *reduction, command.reduce, line));
  std::vector<std::string> names;
  for (int node : reduction->nodes)
    names.push_back(model.nodeName(node));
  findings.reduction = {{"folder", command.reduce},
                        {"nodes", names},
                        {"parts_tried", reduction->tried},
                        {"difference", reduction->difference},
                        {"command", line}};
  return {};
}

/// --per-node and --reduce, which need the ONNX model.
static Status verifyNodes(const VerifyCommand &command, const CompileOptions &compile,
                          std::shared_ptr<runtime::Device> device, const ValueMap &inputs, bool differs,
                          Findings &findings) {
  Expected<OnnxModel> model = OnnxModel::read(command.model.model);
  TILEWRIGHT_TRY(model);
  Evaluation evaluation{compile, std::move(device)};
  evaluation.options.modes = {*parsePlanMode(command.model.fuse)};
  evaluation.options.dumpFolder.clear();
  StepProgress progress("verify", 1 + command.perNode, !command.model.quiet);
  progress.begin("every value of " + command.against);
  Expected<ValueMap> expected = expectedValues(command, *model, evaluation, inputs);
  TILEWRIGHT_TRY(expected);
  if (command.perNode) {
    progress.begin("node by node");
    Expected<std::vector<NodeRow>> rows = checkNodes(*model, evaluation, inputs, *expected, toleranceOf(command));
    TILEWRIGHT_TRY(rows);
    findings.nodes = std::move(*rows);
  }
  return command.reduce.empty() || !differs ? Status() : reduce(command, *model, evaluation, *expected, findings);
}

//===- The command ------------------------------------------------------------------------------------------------===//

static nlohmann::json jsonFindings(const VerifyCommand &command, const Findings &findings, bool same) {
  nlohmann::json json = {{"schema", jsonSchema},
                         {"model", command.model.model},
                         {"against", command.against},
                         {"same", same},
                         {"outputs", nlohmann::json::array()}};
  auto jsonComparison = [](const Comparison &result) {
    return nlohmann::json{{"same", result.same},
                          {"largest_difference", result.largestDifference},
                          {"largest_relative", result.largestRelative}};
  };
  for (const auto &[name, result] : findings.outputs) {
    json["outputs"].push_back(jsonComparison(result));
    json["outputs"].back()["name"] = name;
  }
  for (const NodeRow &row : findings.nodes) {
    json["nodes"].push_back(jsonComparison(row.result));
    json["nodes"].back().update({{"node", row.node}, {"op", row.op}, {"value", row.value}});
  }
  if (!findings.reduction.is_null())
    json["reduction"] = findings.reduction;
  return json;
}

static void printFindings(const Findings &findings) {
  for (const auto &[name, result] : findings.outputs)
    fmt::print("{:4} {}  largest difference {:.3g}\n", result.same ? "ok" : "BAD", name, result.largestDifference);
  if (!findings.nodes.empty()) {
    Table table({"node", "operator", "value", "largest difference", "relative", ""});
    for (const NodeRow &row : findings.nodes)
      table.add({row.node, row.op, row.value, fmt::format("{:.3g}", row.result.largestDifference),
                 fmt::format("{:.3g}", row.result.largestRelative), row.result.same ? "ok" : "BAD"});
    fmt::print("\n{}", table.print());
    auto first = std::ranges::find_if(findings.nodes, [](const NodeRow &row) { return !row.result.same; });
    if (first == findings.nodes.end())
      fmt::print("every value that a kernel leaves in memory agrees\n");
    else
      fmt::print("the first that differs is made by node '{}' ({}): {}\n", first->node, first->op,
                 first->result.sentence);
  }
  if (!findings.reduction.is_null())
    fmt::print("\nreduced to {} nodes after {} parts tried: {}\n  {}\nwritten to {}; reproduce with\n  {}\n",
               findings.reduction["nodes"].size(), findings.reduction["parts_tried"].get<size_t>(),
               toText(findings.reduction["nodes"]), findings.reduction["difference"].get<std::string>(),
               findings.reduction["folder"].get<std::string>(), findings.reduction["command"].get<std::string>());
}

static Status conclude(const VerifyCommand &command, const Findings &findings) {
  std::string differences;
  auto add = [&](const std::string &sentence) { differences += (differences.empty() ? "" : "\n  ") + sentence; };
  for (const auto &[name, result] : findings.outputs)
    if (!result.same)
      add(result.sentence);
  auto bad = std::ranges::count_if(findings.nodes, [](const NodeRow &row) { return !row.result.same; });
  if (bad > 0)
    add(fmt::format("{} of {} values inside differ", bad, findings.nodes.size()));
  if (command.json)
    fmt::print("{}\n", toText(jsonFindings(command, findings, differences.empty()), 2));
  else
    printFindings(findings);
  return differences.empty() ? Status() : Status(Code::Differs, differences);
}

static Status checkOptions(const VerifyCommand &command) {
  if (command.against == "unedited")
    TILEWRIGHT_TRY(withoutEdit(command.model));
  if (!command.reduce.empty() && command.againstFolder())
    return {Code::Usage, "--reduce needs every value of the model: --against reference or unfused"};
  bool isThere =
      fs::is_directory(command.against) || (fs::is_regular_file(command.against) && command.against.ends_with(".npz"));
  if (command.againstFolder() && !isThere)
    return {
        Code::Io,
        fmt::format("--against {}: expected reference, unfused, unedited, a folder or FILE.npz; it is none of these",
                    command.against)};
  return {};
}

/// The mode to verify. The mode that it is compared with must exist and be another one.
static Expected<std::string> modeToVerify(const VerifyCommand &command, const runtime::Contents &contents) {
  std::string mode = planMode(command.model, contents), other = command.against == "unfused" ? "none" : "reference";
  if (command.againstFolder() || command.against == "unedited")
    return mode;
  if (mode == other)
    return Status(Code::Usage, fmt::format("--against {}: {} would be compared with itself", command.against,
                                           command.model.fuseIsGiven ? "--fuse=" + mode
                                                                     : "the only plan of " + command.model.model));
  if (command.compilesReference())
    return mode;
  if (!std::ranges::any_of(contents.plans, [&](const runtime::Plan &plan) { return plan.mode == other; }))
    return Status(
        Code::Usage,
        command.against == "unfused"
            ? fmt::format("{} holds no unfused plan: compile the model with --with-unfused", command.model.model)
            : fmt::format("{}: the reference needs the ONNX model; give that, --against unfused, or --against FOLDER",
                          command.model.model));
  return mode;
}

static Status verify(const VerifyCommand &command) {
  TILEWRIGHT_TRY(checkOptions(command));
  std::vector<PlanMode> modes = {*parsePlanMode(command.model.fuse)};
  if (!command.againstFolder() && !command.compilesReference() && command.against != "unedited")
    modes.push_back(command.against == "unfused" ? PlanMode::None : PlanMode::Reference);
  Expected<runtime::Artifact> artifact = loadOrCompile(command.model, modes);
  TILEWRIGHT_TRY(artifact);
  Expected<std::string> mode = modeToVerify(command, artifact->contents());
  TILEWRIGHT_TRY(mode);
  auto device = openDeviceFor(command.inputs, artifact->contents());
  TILEWRIGHT_TRY(device);
  Expected<ModeRun> actual = runMode(*artifact, *mode, command.inputs, *device);
  TILEWRIGHT_TRY(actual);
  Expected<std::vector<NamedTensor>> expected = expectedOutputs(command, *artifact, *device, *actual);
  TILEWRIGHT_TRY(expected);
  Findings findings;
  TILEWRIGHT_TRY(compareOutputs(command, artifact->contents().plans.front(), *actual, *expected, findings));
  if (command.perNode || !command.reduce.empty()) {
    bool differs = std::ranges::any_of(findings.outputs, [](const auto &output) { return !output.second.same; });
    Expected<CompileOptions> compile = compileOptions(command.model);
    TILEWRIGHT_TRY(compile);
    Status inside = verifyNodes(command, *compile, *device, actual->inputs, differs, findings);
    if (!inside) {
      Status outside = conclude(command, findings);
      return outside.ok() || inside.code() != Code::Differs
                 ? inside
                 : Status(Code::Differs, outside.message() + "\n  " + inside.message());
    }
  }
  return conclude(command, findings);
}

void addVerifyCommand(CLI::App &app, int &exitCode) {
  auto *command = app.add_subcommand(
      "verify", "Compare a compiled model with the reference, with itself unfused, or with expected outputs");
  auto options = std::make_shared<VerifyCommand>();
  addModelOptions(*command, options->model);
  addInputOptions(*command, options->inputs);
  command
      ->add_option(
          "--against", options->against,
          "reference (every operator as plain loops), unfused, or a folder: test data, or values by name (.npy, "
          ".npz) as run --outputs writes them; for a stage's IR unedited, what the stage before it gives, is the "
          "default")
      ->transform([](const std::string &text) { return text == "interpreter" ? "reference" : text; }) // its old name
      ->capture_default_str();
  command->add_flag("--per-node", options->perNode,
                    "compare every value that a kernel leaves in memory, and name the first node that differs");
  command
      ->add_option(
          "--reduce", options->reduce,
          "shrink a model whose outputs differ to the fewest nodes that still do, and write them to this folder")
      ->expected(0, 1)
      ->default_str("reduced");
  command->add_option("--rtol", options->relative, "relative tolerance instead of the type's own")->check(notNegative);
  command->add_option("--atol", options->absolute, "absolute tolerance instead of the type's own")->check(notNegative);
  command->add_flag("--json", options->json, "print the results as JSON");
  command->footer(
      "Example: tilewright verify model.onnx --per-node --reduce bug\n"
      "A value inside of a fused kernel never reaches memory and is not compared; --fuse=none shows all of them.");
  command->callback([command, options, &exitCode] {
    if (command->count("--against") == 0 && isGrouped(options->model))
      options->against = "unedited";
    exitCode = report(verify(*options));
  });
}

} // namespace tilewright
