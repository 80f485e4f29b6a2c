// SPDX-License-Identifier: Apache-2.0
// The compiler, from model.onnx to a plan for each target: the table of contents of Tilewright.
#pragma once

#include "backend/Stage.h"
#include "frontend/import/Importer.h"
#include "runtime/artifact/Artifact.h"
#include "tilegen/tile/MatmulPrecision.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct CompileOptions {
  std::string modelPath;
  std::shared_ptr<const std::string>
      modelBytes; // the model, if it is not in a file; modelPath's folder then has its external data
  ImportOptions import;
  std::vector<std::string> targets = {"host"};              // rows of TargetDesc
  std::vector<PlanMode> modes = {PlanMode::All};            // one plan for each target and mode
  MatmulPrecision matmulPrecision = defaultMatmulPrecision; // of f32 on GPUs whose matrix units take tf32
  bool cubin = false;                                       // NVIDIA code assembled by ptxas instead of PTX
  int codeObjectVersion = 5;                                // of AMD's code: 4, 5 or 6
  unsigned jobs = 1;           // kernels compiled at a time (not for AMD); the artifact does not depend on it
  bool explainsFusion = false; // CompiledModel::fusionReport is filled
  std::string dumpFolder;      // each stage's IR is written there, if not empty
  std::function<void(std::string_view what)> progress; // called as a stage begins; may be empty
};

/// A compiled model in memory: the contents of an artifact, and the memory that their bytes are in.
class CompiledModel {
public:
  const runtime::Contents &contents() const { return *contents_; }
  /// What runs through the reference instead of a kernel, and what the import warns of.
  const ImportReport &importReport() const { return importReport_; }
  /// What was fused and why not more, in the first mode of the options: text, empty if not asked for or where a stage
  /// was grouped by an earlier run, and JSON.
  const std::string &fusionReport() const { return fusionReport_; }
  const std::string &fusionReportJson() const { return fusionReportJson_; }
  /// A runtime artifact without a file.
  Expected<runtime::Artifact> artifact() const { return runtime::Artifact::fromContents(*contents_, contents_); }

private:
  friend class Compiler;
  std::shared_ptr<runtime::Contents> contents_;
  ImportReport importReport_;
  std::string fusionReport_, fusionReportJson_;
};

/// Runs the whole pipeline. If a stage fails, the Status's sentence is its first diagnostic, with the ONNX node that it
/// is about.
Expected<CompiledModel> compileModel(const CompileOptions &options);

/// Runs the pipeline for the first target and mode up to `stage` and returns its IR, or the assembly or PTX of
/// Stage::Code.
Expected<std::string> emitStage(const CompileOptions &options, Stage stage);

} // namespace tilewright
