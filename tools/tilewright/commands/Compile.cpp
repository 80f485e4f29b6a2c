// SPDX-License-Identifier: Apache-2.0
// tilewright compile: compiles a model to an artifact, or prints the IR of a stage.
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/options/ModelOptions.h"

#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/artifact/OutputFile.h"

#include <filesystem>
#include <fmt/format.h>

namespace tilewright {

namespace {
struct CompileCommand {
  ModelOptions model;
  std::string output, emit, explain;
  bool withUnfused = false;
};
} // namespace

static Status emit(const CompileOptions &compile, const std::string &stageName) {
  std::optional<Stage> stage = parseStage(stageName);
  if (!stage)
    return {
        Code::Usage,
        fmt::format("--emit {}: expected import, normalize, group, schedule, tile, place, llvm or code", stageName)};
  if (compile.targets.size() > 1)
    return {Code::Usage, "--emit prints the IR for one target: give one --target"};
  Expected<std::string> text = emitStage(compile, *stage);
  if (!text)
    return text.status();
  fmt::print("{}", *text);
  return {};
}

static Status compile(const CompileCommand &command) {
  std::filesystem::path output = command.output.empty()
                                     ? std::filesystem::path(command.model.model).replace_extension(".tw")
                                     : std::filesystem::path(command.output);
  if (command.emit.empty())
    TILEWRIGHT_TRY(checkWritable({output}));
  std::vector<PlanMode> modes = {*parsePlanMode(command.model.fuse)};
  if (command.withUnfused && modes.front() != PlanMode::None)
    modes.push_back(PlanMode::None);
  Expected<CompileOptions> options = compileOptions(command.model, modes);
  if (!options)
    return options.status();
  if (!command.emit.empty())
    return emit(*options, command.emit);
  options->explainsFusion = command.explain == "text";
  Expected<CompiledModel> model = compileShowingProgress(*options, command.model.quiet);
  if (!model)
    return model.status();
  printRemarks(command.model, *model);
  if (!command.explain.empty())
    TILEWRIGHT_TRY(printFusionReport(*model, command.explain == "json"));
  return runtime::writeArtifact(model->contents(), output);
}

void addCompileCommand(CLI::App &app, int &exitCode) {
  auto *command = app.add_subcommand("compile", "Compile a model to an artifact");
  auto options = std::make_shared<CompileCommand>();
  addModelOptions(*command, options->model);
  auto *output =
      command->add_option("-o,--output", options->output, "the artifact; by default MODEL with the extension .tw");
  auto *emit = command->add_option(
      "--emit", options->emit,
      "print the IR of a stage instead: import, normalize, group, schedule, tile, place, llvm or code");
  auto *explain =
      command->add_option("--explain-fusion", options->explain, "print what was fused, and why not more; =json as JSON")
          ->expected(0, 1)
          ->check(CLI::IsMember({"text", "json"}))
          ->default_str("text");
  auto *unfused = command->add_flag("--with-unfused", options->withUnfused,
                                    "also store the unfused plan, so that the artifact can be benched");
  for (CLI::Option *ofArtifacts :
       {output, explain, unfused, command->get_option("--cubin"), command->get_option("--jobs")})
    emit->excludes(ofArtifacts);
  command->footer("Example: tilewright compile model.onnx -o model.tw --target host --target sm_90a");
  command->callback([options, &exitCode] { exitCode = report(compile(*options)); });
}

} // namespace tilewright
