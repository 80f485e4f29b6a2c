// The options that every command with a model shares, and how they become a compiled model.
#pragma once

#include "backend/Pipeline.h"
#include "backend/StageDump.h"
#include "tools/tilewright/options/OptionTable.h"

#include <CLI/CLI.hpp>

namespace tilewright {

struct ModelOptions {
  std::string model; // model.onnx, or a compiled m.tw
  std::vector<std::string> targets;
  std::vector<std::string> shapes;
  std::map<std::string, Shape> sizesAtHand; // of inputs that are there, instead of `shapes`
  std::string fuse = "all";
  bool fuseIsGiven = false;
  std::optional<StageFacts> stage; // where `model` is a stage's IR that can be read
  std::optional<uint64_t> randomWeights;
  bool noFallback = false;
  std::string dumpStages;
  bool cubin = false;
  std::optional<int> codeObjectVersion;
  unsigned jobs = 0;
  bool quiet = false;
};

/// Adds MODEL and the options that say how to compile it. Spellings of trtexec and onnxruntime_perf_test are accepted.
/// Once all options are read, those that MODEL cannot honour are refused (OptionTable.h).
void addModelOptions(CLI::App &command, ModelOptions &options);
/// A size of a dimension, as options spell it: digits.
std::optional<int64_t> parseSize(std::string_view text);

/// What to compile for `modes` (all those in options.fuse if empty).
Expected<CompileOptions> compileOptions(const ModelOptions &options, std::vector<PlanMode> modes = {});

/// Whether MODEL is a stage that one mode was decided for: it can be compared with the stage before, not with another
/// mode.
bool isGrouped(const ModelOptions &options);
/// The same compile without what was edited in a stage: the options, with the stage before it as MODEL. Code::Usage
/// where that does not lie beside it.
Expected<ModelOptions> withoutEdit(const ModelOptions &options);

/// Which plan of what loadOrCompile gave is asked for: --fuse, or without it the most fused that there is.
std::string planMode(const ModelOptions &options, const runtime::Contents &contents);

/// A number of the command line that must be finite and at least 0.
extern const CLI::Validator notNegative;

/// Says on stderr what runs through the reference, unless --quiet.
void printRemarks(const ModelOptions &options, const CompiledModel &model);

/// compileModel with a progress bar, unless `quiet`.
Expected<CompiledModel> compileShowingProgress(CompileOptions options, bool quiet);

/// Prints what was fused and why not more. Code::Usage where an earlier run did that, and only the JSON is there.
Status printFusionReport(const CompiledModel &model, bool json);

/// Opens an artifact, or compiles a model in memory and prints its fallbacks as remarks to stderr.
Expected<runtime::Artifact> loadOrCompile(const ModelOptions &options, std::vector<PlanMode> modes = {});

/// Prints "tilewright: <sentence>" to stderr and gives the exit code.
int report(const Status &status);

} // namespace tilewright
