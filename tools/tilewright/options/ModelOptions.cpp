// SPDX-License-Identifier: Apache-2.0
// Options shared by the commands that take a model.
#include "tools/tilewright/options/ModelOptions.h"

#include "tools/tilewright/FatalErrors.h"
#include "tools/tilewright/Json.h"
#include "tools/tilewright/Progress.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <thread>

namespace tilewright {

static constexpr const char *otherTools = "As trtexec, polygraphy and onnxruntime_perf_test spell it";

const CLI::Validator notNegative(
    [](std::string &text) -> std::string {
      double value = 0;
      bool fits = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
      return fits ? "" : fmt::format("expected a number that is not negative, got '{}'", text);
    },
    "NUMBER");

/// What a stage has decided already need not be said again. A file that cannot be read is refused where it is compiled.
static void adoptStage(ModelOptions &options) {
  Expected<StageFacts> facts =
      inputKind(options.model) == InputKind::Stage ? readStageFacts(options.model) : Status(Code::Usage, "no stage");
  if (!facts)
    return;
  options.stage = *facts;
  if (facts->mode && !options.fuseIsGiven)
    options.fuse = name(*facts->mode);
  if (!facts->target.empty() && options.targets.empty())
    options.targets = {facts->target};
}

static void addModelArgument(CLI::App &command, ModelOptions &options) {
  command.add_option("MODEL", options.model,
                     "model.onnx, a compiled artifact, or a stage's IR (.mlir) from --dump-stages");
  command.add_option("--onnx,--loadEngine", options.model, "MODEL")->group(otherTools);
  command.parse_complete_callback([&command, &options] {
    if (options.model.empty())
      throw CLI::RequiredError("MODEL");
    checkOptions(command, options.model);
    options.fuseIsGiven = command.count("--fuse") > 0;
    adoptStage(options);
  });
}

void addModelOptions(CLI::App &command, ModelOptions &options) {
  addModelArgument(command, options);
  command.add_option("--target", options.targets, "host, sm_80, sm_90a, gfx90a, gfx942, ...; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--shapes", options.shapes,
                  "sizes of inputs, x:8x128,y:8 (without it, sizes stay symbolic); may be repeated")
      ->allow_extra_args(false);
  command.add_option("--input-shapes", options.shapes, "--shapes, as x:[8,128] y:[8]")->group(otherTools);
  command
      .add_option("--fuse", options.fuse,
                  "all, epilogue or none (one kernel per node); reference: every operator as plain loops")
      ->check(CLI::IsMember({"reference", "none", "epilogue", "all"}));
  command
      .add_option(
          "--matmul-precision", options.matmulPrecision,
          "products of float32 on NVIDIA GPUs: tf32x3 (three of tf32, close to float32), tf32, or ieee (no matrix "
          "units)")
      ->check(CLI::IsMember({"ieee", "tf32x3", "tf32"}))
      ->default_str("tf32x3");
  command.add_option("--random-weights", options.randomWeights, "random weights from SEED where their data is absent")
      ->expected(0, 1)
      ->check(notNegative)
      ->default_str("0");
  command.add_flag("--no-fallback", options.noFallback, "fail if an operator would run through the reference");
  command.add_option("--dump-stages", options.dumpStages, "write each stage's IR into this folder");
  command.add_flag("--cubin", options.cubin, "assemble NVIDIA code with ptxas, which must be on PATH");
  command
      .add_option("--code-object-version", options.codeObjectVersion,
                  "version of AMD code objects: 5 for HIP 6 and 7, 4 for HIP 5, 6 for the newest ROCm")
      ->check(CLI::IsMember({4, 5, 6}))
      ->default_str("5");
  command.add_option("--jobs", options.jobs, "kernels to compile in parallel, but for AMD; 0: one per processor")
      ->default_str("0");
  command.add_flag("-q,--quiet", options.quiet, "print no remarks and no progress");
}

/// Splits at commas outside of brackets: "x:8x128,y:[8,128]".
static std::vector<std::string> splitShapes(const std::string &text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

std::optional<int64_t> parseSize(std::string_view text) {
  int64_t size = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  bool whole = error == std::errc() && end == text.data() + text.size() && text.size() <= 12 && size >= 0;
  return whole ? std::optional(size) : std::nullopt;
}

/// Parses "8x128" (trtexec) or "[8,128]" (polygraphy).
static std::optional<Shape> parseSizes(std::string sizes) {
  char separator = 'x';
  if (sizes.starts_with('[') && sizes.ends_with(']')) {
    separator = ',';
    sizes = sizes.substr(1, sizes.size() - 2);
    if (sizes.empty())
      return Shape();
  }
  Shape shape;
  for (size_t at = 0; at <= sizes.size();) {
    size_t end = std::min(sizes.find(separator, at), sizes.size());
    std::optional<int64_t> size = parseSize(sizes.substr(at, end - at));
    if (!size)
      return std::nullopt;
    shape.push_back(*size);
    at = end + 1;
  }
  return shape;
}

/// Parses NAME:SIZES, ...; names may be quoted, as trtexec requires for those with a colon.
static Status parseShapes(const std::vector<std::string> &texts, ImportOptions &import) {
  for (const std::string &text : texts)
    for (const std::string &item : splitShapes(text)) {
      size_t colon = item.rfind(':');
      if (colon == std::string::npos || colon == 0 || colon + 1 == item.size())
        return {Code::Usage, fmt::format("--shapes {}: expected NAME:8x128", item)};
      std::optional<Shape> shape = parseSizes(item.substr(colon + 1));
      if (!shape)
        return {Code::Usage, fmt::format("--shapes {}: expected sizes like 8x128 or [8,128], got '{}'", item,
                                         item.substr(colon + 1))};
      std::string name = item.substr(0, colon);
      if (name.size() > 2 && name.front() == '\'' && name.back() == '\'')
        name = name.substr(1, name.size() - 2);
      import.shapes[name] = std::move(*shape);
    }
  return {};
}

Expected<CompileOptions> compileOptions(const ModelOptions &options, std::vector<PlanMode> modes) {
  CompileOptions compile;
  compile.modelPath = options.model;
  if (!options.targets.empty())
    compile.targets = options.targets;
  if (Status status = parseShapes(options.shapes, compile.import); !status)
    return status;
  auto hasTarget = [&](std::string_view family) {
    return std::ranges::any_of(compile.targets, [&](const std::string &target) { return target.starts_with(family); });
  };
  if (options.cubin && !hasTarget("sm_"))
    return Status(Code::Usage, "--cubin assembles NVIDIA code, and no --target is NVIDIA's");
  if (options.codeObjectVersion && !hasTarget("gfx"))
    return Status(Code::Usage, "--code-object-version is of AMD's code, and no --target is AMD's");
  if (modes.empty())
    modes.push_back(*parsePlanMode(options.fuse));
  compile.modes = std::move(modes);
  for (const auto &[name, shape] : options.sizesAtHand)
    compile.import.shapes[name] = shape;
  compile.import.randomWeights = options.randomWeights;
  compile.import.noFallback = options.noFallback;
  compile.matmulPrecision = *parseMatmulPrecision(options.matmulPrecision);
  compile.cubin = options.cubin;
  compile.codeObjectVersion = options.codeObjectVersion.value_or(compile.codeObjectVersion);
  compile.jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  compile.dumpFolder = options.dumpStages;
  return compile;
}

bool isGrouped(const ModelOptions &options) { return options.stage && options.stage->stage >= Stage::Group; }

Expected<ModelOptions> withoutEdit(const ModelOptions &options) {
  if (!options.stage || options.stage->before.empty())
    return Status(
        Code::Usage,
        fmt::format("{}: expected the stage before it beside it, as --dump-stages writes them, to compare with",
                    options.model));
  ModelOptions before = options;
  before.model = options.stage->before;
  before.stage.reset();
  before.dumpStages.clear();
  return before;
}

std::string planMode(const ModelOptions &options, const runtime::Contents &contents) {
  if (!options.fuseIsGiven)
    for (std::string_view mode : {"all", "epilogue", "none", "reference"})
      if (std::ranges::any_of(contents.plans, [&](const runtime::Plan &plan) { return plan.mode == mode; }))
        return std::string(mode);
  return options.fuse;
}

void printRemarks(const ModelOptions &options, const CompiledModel &model) {
  if (options.quiet)
    return;
  for (const ImportReport::Entry &entry : model.importReport().fallbacks)
    fmt::print(stderr, "{}\n",
               printable(fmt::format("remark: node '{}' ({}) runs through the reference, not compiled: {}", entry.node,
                                     entry.op, entry.reason)));
  for (const std::string &warning : model.importReport().warnings)
    fmt::print(stderr, "{}\n", printable("warning: " + warning));
}

/// The number of progress steps of a compilation: import and normalize for each kind of import, five stages for each
/// plan.
static size_t stageCount(const CompileOptions &options) {
  size_t references = std::count(options.modes.begin(), options.modes.end(), PlanMode::Reference);
  size_t imports = (references > 0) + (references < options.modes.size());
  return 2 * imports + 5 * options.targets.size() * options.modes.size();
}

Expected<CompiledModel> compileShowingProgress(CompileOptions options, bool quiet) {
  StepProgress progress("compile", stageCount(options), !quiet);
  options.progress = [&](std::string_view stage) { progress.begin(stage); };
  return compileModel(options);
}

Status printFusionReport(const CompiledModel &model, bool json) {
  if (!json && model.fusionReport().empty() && !model.fusionReportJson().empty())
    return {Code::Usage,
            "the groups of this stage were formed by an earlier run, whose report it holds as JSON: ask for JSON"};
  fmt::print("{}", json ? indented(model.fusionReportJson()) : model.fusionReport());
  return {};
}

Expected<runtime::Artifact> loadOrCompile(const ModelOptions &options, std::vector<PlanMode> modes) {
  if (inputKind(options.model) == InputKind::Artifact)
    return runtime::Artifact::open(options.model);
  Expected<CompileOptions> compile = compileOptions(options, std::move(modes));
  if (!compile)
    return compile.status();
  Expected<CompiledModel> model = compileShowingProgress(std::move(*compile), options.quiet);
  if (!model)
    return model.status();
  printRemarks(options, *model);
  return model->artifact();
}

int report(const Status &status) {
  if (!status) // not fmt::print, which throws if nobody reads stderr
    std::fputs(fmt::format("tilewright: {}\n", printable(status.message())).c_str(), stderr);
  return static_cast<int>(status.code());
}

} // namespace tilewright
