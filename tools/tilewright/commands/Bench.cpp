// SPDX-License-Identifier: Apache-2.0
// tilewright bench: times the fused and the unfused program, or an edited stage and the unedited one, interleaved in
// one process.
#include "runtime/artifact/OutputFile.h"
#include "tools/tilewright/Json.h"
#include "tools/tilewright/Progress.h"
#include "tools/tilewright/bench/BenchHtml.h"
#include "tools/tilewright/bench/BenchReport.h"
#include "tools/tilewright/bench/BenchTrace.h"
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/options/InputOptions.h"
#include "tools/tilewright/options/ModelOptions.h"
#include "tools/tilewright/values/Compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace tilewright {

namespace {
struct BenchCommand {
  ModelOptions model;
  InputOptions inputs;
  Duration duration;
  bool noGroups = false, json = false;
  std::string exportJson, exportTrace, report;
};
} // namespace

static Expected<std::unique_ptr<runtime::Context>> boundContext(const runtime::Artifact &artifact,
                                                                const std::shared_ptr<runtime::Device> &device,
                                                                const std::string &mode, std::vector<Tensor> &inputs,
                                                                const InputOptions &options) {
  auto program = runtime::Program::create(artifact, device->info(), mode);
  if (!program)
    return program.status();
  if (inputs.empty() && !(*program)->plan().inputs.empty()) {
    Expected<std::vector<Tensor>> read = readInputs((*program)->plan(), options);
    if (!read)
      return read.status();
    inputs = std::move(*read);
  }
  auto context = runtime::Context::create(*program, device);
  if (!context)
    return context.status();
  std::vector<runtime::TensorView> views;
  for (Tensor &input : inputs)
    views.push_back({input.type(), input.shape(), input.bytes(), false});
  if (Status status = (*context)->bind(views); !status)
    return status;
  return context;
}

/// Runs both once and compares their outputs: timing programs with different results would mean nothing.
static Status compareOutputs(runtime::Context &fused, runtime::Context &unfused, BenchReport &report) {
  std::vector<std::vector<Tensor>> results;
  for (runtime::Context *context : {&fused, &unfused}) {
    TILEWRIGHT_TRY(context->execute());
    TILEWRIGHT_TRY(context->synchronize());
    Expected<std::vector<Tensor>> outputs = context->outputs();
    if (!outputs)
      return outputs.status();
    results.push_back(std::move(*outputs));
  }
  report.agree = true;
  for (size_t i = 0; i < results[0].size(); ++i) {
    Comparison result = compare(fused.program().output(i).name, results[0][i], results[1][i]);
    report.agree &= result.same;
    report.largestDifference = std::max(report.largestDifference, result.largestDifference);
  }
  return {};
}

static Status measure(const BenchCommand &command, runtime::Context &fused, runtime::Context &unfused,
                      BenchReport &report) {
  TILEWRIGHT_TRY(compareOutputs(fused, unfused, report));
  Progress progress("measuring", !command.model.quiet);
  auto latencies =
      measureInterleaved({&fused, &unfused}, command.duration, [&](double share) { progress.show(share); });
  if (!latencies)
    return latencies.status();
  if (!command.noGroups) {
    Expected<Peaks> peaks = measurePeaks(const_cast<runtime::Device &>(fused.device()), fused.program().plan().target);
    TILEWRIGHT_TRY(peaks);
    report.peaks = *peaks;
  }
  const size_t rounds = command.noGroups ? 1 : 15; // one round suffices to count bytes and launches
  Expected<std::vector<runtime::StepProfile>> fusedSteps = profileSteps(fused, rounds),
                                              unfusedSteps = profileSteps(unfused, rounds);
  if (!fusedSteps || !unfusedSteps)
    return !fusedSteps ? fusedSteps.status() : unfusedSteps.status();
  report.fused = countSide(fused, (*latencies)[0], *fusedSteps);
  report.unfused = countSide(unfused, (*latencies)[1], *unfusedSteps);
  if (command.noGroups)
    return {};
  report.groups = groupRows(fused, *fusedSteps, unfused, *unfusedSteps, report.peaks);
  TILEWRIGHT_TRY(addResources(fused, report.groups));
  return timeVendor(const_cast<runtime::Device &>(fused.device()), report);
}

static Status writeText(const std::string &path, const std::string &text) {
  if (path.empty())
    return {};
  return writeFile(path, text + '\n');
}

/// Writes one profiled run of each.
static Status exportTrace(const std::string &path, runtime::Context &fused, runtime::Context &unfused,
                          const BenchReport &report) {
  Expected<std::vector<runtime::StepProfile>> fusedSteps = profileSteps(fused, 1),
                                              unfusedSteps = profileSteps(unfused, 1);
  TILEWRIGHT_TRY(fusedSteps);
  TILEWRIGHT_TRY(unfusedSteps);
  return writeText(path, toText(chromeTrace(report, stepRows(fused, *fusedSteps), stepRows(unfused, *unfusedSteps))));
}

/// The fused plan's mode. Code::Usage without two plans to compare.
static Expected<std::string> fusedMode(const ModelOptions &options, const runtime::Contents &contents) {
  std::string mode = planMode(options, contents);
  std::set<std::string> modes;
  for (const runtime::Plan &plan : contents.plans)
    modes.insert(plan.mode);
  if (mode == "none" && modes.size() > 1)
    return Status(Code::Usage, "--fuse=none: that plan is what bench measures the fused one beside; leave --fuse out");
  if (mode == "none" || !modes.contains("none"))
    return Status(Code::Usage,
                  fmt::format("{} holds no {} plan to compare with: compile the model with --with-unfused{}",
                              options.model, mode == "none" ? "fused" : "unfused",
                              mode == "none" ? " and without --fuse=none" : ""));
  return mode;
}

namespace {
/// The two programs to measure: the first is what the command is asked about.
struct Sides {
  runtime::Artifact artifact, other;
  std::string mode, otherMode;
  std::array<std::string, 2> names;
};
} // namespace

static Expected<Sides> fusedAndNot(const ModelOptions &options) {
  if (inputKind(options.model) != InputKind::Artifact && options.fuse == "none")
    return Status(Code::Usage, "--fuse=none: that is what bench measures beside fusion; leave it out");
  Expected<runtime::Artifact> artifact = loadOrCompile(options, {*parsePlanMode(options.fuse), PlanMode::None});
  TILEWRIGHT_TRY(artifact);
  Expected<std::string> mode = fusedMode(options, artifact->contents());
  TILEWRIGHT_TRY(mode);
  return Sides{*artifact, *artifact, *mode, "none", {"fused", "unfused"}};
}

/// A stage that somebody edits beside what the stage before it gives.
static Expected<Sides> editedAndNot(const ModelOptions &options) {
  Expected<ModelOptions> before = withoutEdit(options);
  TILEWRIGHT_TRY(before);
  Expected<runtime::Artifact> edited = loadOrCompile(options), unedited = loadOrCompile(*before);
  TILEWRIGHT_TRY(edited);
  TILEWRIGHT_TRY(unedited);
  return Sides{*edited, *unedited, options.fuse, options.fuse, {"edited", "unedited"}};
}

static Status bench(BenchCommand &command) {
  TILEWRIGHT_TRY(checkWritable({command.exportJson, command.exportTrace, command.report}));
  Expected<Sides> sides = isGrouped(command.model) ? editedAndNot(command.model) : fusedAndNot(command.model);
  TILEWRIGHT_TRY(sides);
  const runtime::Artifact &artifact = sides->artifact;
  auto device = openDeviceFor(command.inputs, artifact.contents());
  if (!device)
    return device.status();
  std::vector<Tensor> inputs;
  auto fused = boundContext(artifact, *device, sides->mode, inputs, command.inputs);
  if (!fused)
    return fused.status();
  auto unfused = boundContext(sides->other, *device, sides->otherMode, inputs, command.inputs);
  if (!unfused)
    return unfused.status();
  BenchReport report;
  report.names = sides->names;
  report.model = command.model.model;
  report.device = (*device)->info().name;
  report.target = (*fused)->program().plan().target;
  report.machine = describeMachine((*device)->info());
  for (size_t i = 0; i < inputs.size(); ++i)
    report.inputs.push_back(fmt::format("{} {} [{}]", (*fused)->program().input(i).name, name(inputs[i].type()),
                                        fmt::join(inputs[i].shape(), ", ")));
  report.assumed = assumedSymbols((*fused)->program().plan(), command.inputs);
  TILEWRIGHT_TRY(measure(command, **fused, **unfused, report));
  fmt::print("{}", command.json ? toText(jsonReport(report), 2) + "\n" : printReport(report, !command.noGroups));
  TILEWRIGHT_TRY(writeText(command.exportJson, toText(jsonReport(report), 2)));
  if (!command.exportTrace.empty())
    TILEWRIGHT_TRY(exportTrace(command.exportTrace, **fused, **unfused, report));
  if (!command.report.empty())
    TILEWRIGHT_TRY(writeText(command.report, htmlReport(report)));
  return report.agree
             ? Status()
             : Status(
                   Code::Differs,
                   fmt::format("the {} program's outputs differ from the {} one's beyond the tolerance of their types",
                               report.names[0], report.names[1]));
}

void addBenchCommand(CLI::App &app, int &exitCode) {
  auto *command = app.add_subcommand("bench", "Time a model fused and unfused, as a whole and group by group");
  auto options = std::make_shared<BenchCommand>();
  addModelOptions(*command, options->model);
  addInputOptions(*command, options->inputs);
  command->add_option("--warmup-ms,--warmUp", options->duration.warmupMs, "milliseconds to run before measuring")
      ->check(notNegative)
      ->capture_default_str();
  auto *milliseconds =
      command
          ->add_option("--duration-ms", options->duration.durationMs, "milliseconds to measure, both programs together")
          ->check(notNegative)
          ->capture_default_str();
  command
      ->add_option_function<double>(
          "--duration,-t", [options](double seconds) { options->duration.durationMs = 1e3 * seconds; },
          "--duration-ms in seconds")
      ->check(notNegative)
      ->excludes(milliseconds);
  command->add_flag("--no-groups,!--per-kernel", options->noGroups, "leave out the table of groups");
  command->add_flag("--json", options->json, "print what --export-json writes, instead of tables");
  command->add_option("--export-json", options->exportJson, "write everything measured to this file");
  command->add_option("--export-trace", options->exportTrace,
                      "write one run of each as a Chrome trace, for chrome://tracing or Perfetto");
  command->add_option("--report", options->report, "write tables and a chart as one HTML file");
  command->footer(
      "Example: tilewright bench model.onnx --shapes=x:8x128x256 --report bench.html --export-trace bench.json\n"
      "Matrix products are also timed with the vendor's library where it is installed: OpenBLAS, MKL or BLIS on the "
      "host, cuBLAS on NVIDIA GPUs, rocBLAS on AMD GPUs.");
  command->callback([options, &exitCode] { exitCode = report(bench(*options)); });
}

} // namespace tilewright
