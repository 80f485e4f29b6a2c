// The options that every command with a model shares, and how they become a compiled model.
#pragma once

#include "backend/Pipeline.h"

#include <CLI/CLI.hpp>

namespace tilewright {

struct ModelOptions {
  std::string model; // model.onnx, or a compiled m.tw
  std::vector<std::string> targets;
  std::vector<std::string> shapes;
  std::string fuse = "all";
  std::optional<uint64_t> randomWeights;
  bool noFallback = false;
  std::string dumpStages;
  bool cubin = false;
  int codeObjectVersion = 5;
  unsigned jobs = 0;
  bool quiet = false;
};

/// Adds MODEL and the options that say how to compile it. Spellings of trtexec and onnxruntime_perf_test are accepted.
void addModelOptions(CLI::App &command, ModelOptions &options);
/// Adds MODEL alone.
void addModelArgument(CLI::App &command, ModelOptions &options);

/// What to compile for `modes` (all those in options.fuse if empty).
Expected<CompileOptions> compileOptions(const ModelOptions &options, std::vector<PlanMode> modes = {});

/// True if the file is an artifact, by its first bytes.
bool isArtifact(const std::string &path);

/// Says on stderr what runs through the reference, unless --quiet.
void printRemarks(const ModelOptions &options, const CompiledModel &model);

/// compileModel with a progress bar.
Expected<CompiledModel> compileShowingProgress(CompileOptions options);

/// Opens an artifact, or compiles a model in memory and prints its fallbacks as remarks to stderr.
Expected<runtime::Artifact> loadOrCompile(const ModelOptions &options, std::vector<PlanMode> modes = {});

/// Prints "tilewright: <sentence>" to stderr and gives the exit code.
int report(const Status &status);

} // namespace tilewright
