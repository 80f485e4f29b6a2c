// tilewright verify: the compiled program against the interpreter, the unfused program, or expected outputs.
#include "backend/driver/Commands.h"
#include "backend/driver/Compare.h"
#include "backend/driver/InputOptions.h"
#include "backend/driver/ModelOptions.h"
#include "backend/driver/TensorFiles.h"

#include "runtime/Context.h"

#include <fmt/format.h>

namespace tilewright {

namespace {
struct VerifyCommand {
  ModelOptions model;
  InputOptions inputs;
  std::string against = "interpreter";
};
} // namespace

static Expected<std::vector<Tensor>> runMode(const runtime::Artifact &artifact, const std::string &mode, const InputOptions &options,
                                             std::shared_ptr<runtime::Device> device, std::vector<std::string> &names) {
  auto program = runtime::Program::create(artifact, device->info(), mode);
  if (!program)
    return program.status();
  Expected<std::vector<Tensor>> inputs = readInputs((*program)->plan(), options);
  if (!inputs)
    return inputs.status();
  auto context = runtime::Context::create(*program, device);
  if (!context)
    return context.status();
  names.clear();
  for (runtime::ValueId id : (*program)->plan().outputs)
    names.push_back((*program)->plan().values[id].name);
  return (*context)->run(*inputs);
}

/// What the results are held against: another mode's outputs, or those of a test data folder.
static Expected<std::vector<Tensor>> expectedOutputs(const VerifyCommand &command, const runtime::Artifact &artifact, std::shared_ptr<runtime::Device> device) {
  std::vector<std::string> names;
  if (command.against == "interpreter")
    return runMode(artifact, "reference", command.inputs, std::move(device), names);
  if (command.against == "unfused")
    return runMode(artifact, "none", command.inputs, std::move(device), names);
  Expected<std::vector<NamedTensor>> data = readTestData(testDataSet(command.against), "output");
  if (!data)
    return data.status();
  std::vector<Tensor> tensors;
  for (NamedTensor &named : *data)
    tensors.push_back(std::move(named.tensor));
  return tensors;
}

static Status verify(const VerifyCommand &command) {
  std::vector<PlanMode> modes = {*parsePlanMode(command.model.fuse)};
  if (command.against == "interpreter" || command.against == "unfused")
    modes.push_back(command.against == "unfused" ? PlanMode::None : PlanMode::Reference);
  Expected<runtime::Artifact> artifact = loadOrCompile(command.model, modes);
  if (!artifact)
    return artifact.status();
  auto device = openDeviceFor(command.inputs, artifact->contents());
  if (!device)
    return device.status();
  std::vector<std::string> names;
  auto actual = runMode(*artifact, command.model.fuse, command.inputs, *device, names);
  if (!actual)
    return actual.status();
  // The interpreter needs no GPU: its plan has no kernels.
  auto expected = expectedOutputs(command, *artifact, *device);
  if (!expected)
    return expected.status();
  if (expected->size() != actual->size())
    return {Code::Differs, fmt::format("{} outputs, expected {}", actual->size(), expected->size())};
  std::string differences;
  for (size_t i = 0; i < actual->size(); ++i) {
    Comparison result = compare(names[i], (*actual)[i], (*expected)[i]);
    fmt::print("{:4} {}  largest difference {:.3g}\n", result.same ? "ok" : "BAD", names[i], result.largestDifference);
    if (!result.same)
      differences += (differences.empty() ? "" : "\n  ") + result.sentence;
  }
  return differences.empty() ? Status() : Status(Code::Differs, differences);
}

void addVerifyCommand(CLI::App &app, int &exitCode) {
  auto *command = app.add_subcommand("verify", "Compare a compiled model with the interpreter, with itself unfused, or with expected outputs");
  auto options = std::make_shared<VerifyCommand>();
  addModelOptions(*command, options->model);
  addInputOptions(*command, options->inputs);
  command->add_option("--against", options->against, "interpreter, unfused, or a test data folder")->capture_default_str();
  command->callback([options, &exitCode] { exitCode = report(verify(*options)); });
}

} // namespace tilewright
