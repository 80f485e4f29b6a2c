// SPDX-License-Identifier: Apache-2.0
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
  std::map<std::string, Shape> sizesAtHand; // shapes of the actual inputs, instead of `shapes`
  std::string fuse = "all";
  bool fuseIsGiven = false;
  std::optional<StageFacts> stage; // where `model` is a stage's IR that can be read
  std::optional<uint64_t> randomWeights;
  bool noFallback = false;
  std::string dumpStages;
  std::string matmulPrecision = "tf32x3";
  bool cubin = false;
  std::optional<int> codeObjectVersion;
  unsigned jobs = 0;
  bool quiet = false;
};

/// Adds MODEL and the options for compiling it. Spellings of trtexec and onnxruntime_perf_test are accepted. After
/// parsing, options that MODEL cannot honour are refused (OptionTable.h).
void addModelOptions(CLI::App &command, ModelOptions &options);
/// Parses the size of a dimension: digits only.
std::optional<int64_t> parseSize(std::string_view text);

/// The compile options for `modes`, by default the mode of options.fuse.
Expected<CompileOptions> compileOptions(const ModelOptions &options, std::vector<PlanMode> modes = {});

/// Whether MODEL is a stage that one mode was decided for: it can be compared with the stage before, not with another
/// mode.
bool isGrouped(const ModelOptions &options);
/// The same compile without what was edited in a stage: the options, with the stage before it as MODEL. Code::Usage
/// where that does not lie beside it.
Expected<ModelOptions> withoutEdit(const ModelOptions &options);

/// The mode of the plan to use: --fuse, by default the most fused one in `contents`.
std::string planMode(const ModelOptions &options, const runtime::Contents &contents);

/// Validates a number that must be finite and at least 0.
extern const CLI::Validator notNegative;

/// Lists on stderr what runs through the reference, unless --quiet.
void printRemarks(const ModelOptions &options, const CompiledModel &model);

/// compileModel with a progress bar, unless `quiet`.
Expected<CompiledModel> compileShowingProgress(CompileOptions options, bool quiet);

/// Prints what was fused, and why not more. Code::Usage if the model resumed from a stage, which has the JSON only, and
/// text is asked for.
Status printFusionReport(const CompiledModel &model, bool json);

/// Opens an artifact, or compiles a model in memory and prints its fallbacks as remarks on stderr.
Expected<runtime::Artifact> loadOrCompile(const ModelOptions &options, std::vector<PlanMode> modes = {});

/// Prints "tilewright: <sentence>" on stderr and returns the exit code.
int report(const Status &status);

} // namespace tilewright
