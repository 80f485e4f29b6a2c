// Options shared by the commands that take a model.
#include "backend/driver/ModelOptions.h"

#include "runtime/Format.h"

#include <fmt/format.h>
#include <fstream>

namespace tilewright {

void addModelArgument(CLI::App &command, ModelOptions &options) {
  command.add_option("MODEL", options.model, "model.onnx, a compiled artifact, or a stage's IR (.mlir) from --dump-stages")->required();
}

void addModelOptions(CLI::App &command, ModelOptions &options) {
  addModelArgument(command, options);
  command.add_option("--target", options.targets, "host, sm_80, sm_90a, gfx90a, gfx942, ...; may be repeated");
  command.add_option("--shapes", options.shapes, "sizes of inputs, x:8x128,y:8 (without it, sizes are run-time values); may be repeated")->delimiter(',');
  command.add_option("--fuse", options.fuse, "all, epilogue or none (one kernel a node); reference: the plain loops of every operator")->check(CLI::IsMember({"reference", "none", "epilogue", "all"}));
  command.add_option("--random-weights", options.randomWeights, "invent weights whose data is absent, from SEED")->expected(0, 1)->default_str("0");
  command.add_flag("--no-fallback", options.noFallback, "fail where an operator would run through the reference");
  command.add_option("--dump-stages", options.dumpStages, "write each stage's IR into this folder");
  command.add_flag("--cubin", options.cubin, "assemble NVIDIA code with ptxas, which must be on PATH");
  command.add_flag("-q,--quiet", options.quiet, "no remarks");
}

/// "x:8x128" or "x:8x128,..." split by CLI11 at the commas.
static Status parseShapes(const std::vector<std::string> &texts, ImportOptions &import) {
  for (const std::string &text : texts) {
    size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
      return {Code::Usage, fmt::format("--shapes {}: expected NAME:8x128", text)};
    Shape shape;
    std::string sizes = text.substr(colon + 1);
    for (size_t at = 0; at <= sizes.size();) {
      size_t end = std::min(sizes.find('x', at), sizes.size());
      std::string size = sizes.substr(at, end - at);
      if (size.empty() || size.size() > 12 || size.find_first_not_of("0123456789") != std::string::npos)
        return {Code::Usage, fmt::format("--shapes {}: expected sizes like 8x128, got '{}'", text, sizes)};
      shape.push_back(std::stoll(size));
      at = end + 1;
    }
    import.shapes[text.substr(0, colon)] = std::move(shape);
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
  if (modes.empty())
    modes.push_back(*parsePlanMode(options.fuse));
  compile.modes = std::move(modes);
  compile.import.randomWeights = options.randomWeights;
  compile.import.noFallback = options.noFallback;
  compile.cubin = options.cubin;
  compile.dumpFolder = options.dumpStages;
  return compile;
}

bool isArtifact(const std::string &path) {
  std::array<char, runtime::format::magic.size()> start = {};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::equal(start.begin(), start.end(), runtime::format::magic.begin(), [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

void printRemarks(const ModelOptions &options, const CompiledModel &model) {
  if (options.quiet)
    return;
  for (const ImportReport::Entry &entry : model.importReport().fallbacks)
    fmt::print(stderr, "remark: node '{}' ({}) runs through the reference, not compiled: {}\n", entry.node, entry.op, entry.reason);
  for (const std::string &warning : model.importReport().warnings)
    fmt::print(stderr, "warning: {}\n", warning);
}

Expected<runtime::Artifact> loadOrCompile(const ModelOptions &options, std::vector<PlanMode> modes) {
  if (isArtifact(options.model))
    return runtime::Artifact::open(options.model);
  Expected<CompileOptions> compile = compileOptions(options, std::move(modes));
  if (!compile)
    return compile.status();
  Expected<CompiledModel> model = compileModel(*compile);
  if (!model)
    return model.status();
  printRemarks(options, *model);
  return model->artifact();
}

int report(const Status &status) {
  if (!status)
    fmt::print(stderr, "tilewright: {}\n", status.message());
  return static_cast<int>(status.code());
}

} // namespace tilewright
