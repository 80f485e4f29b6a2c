// SPDX-License-Identifier: Apache-2.0
// A stage's IR in a file: written by --dump-stages, read, edited, and resumed from.
//
//   DIR/constants.bin               the weights that the IR names by key
//   DIR/0-import.mlir  1-normalize.mlir
//   DIR/x86-64-v4-all/2-group.mlir  3-schedule.mlir  4-tile.mlir  5-place.mlir  6-llvm.ll
//
// The module says where it stands by attributes (Stage.h). The last file is text of LLVM, to be read only.
#pragma once

#include "backend/Stage.h"
#include "runtime/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <filesystem>
#include <string>

namespace tilewright {

/// Where a stage of one target and mode is dumped; `subfolder` is empty for the stages that all of them share.
std::filesystem::path stageFile(const std::filesystem::path &folder, const std::string &subfolder, Stage stage);

/// Writes `module` to `file` and the constants that it names to `folder`/constants.bin.
Status writeStage(mlir::ModuleOp module, const std::filesystem::path &folder, const std::filesystem::path &file);

/// Reads such a file, and the constants.bin beside it or one folder up if there is one. Code::Malformed where it does
/// not parse or is not what its stage may be.
Expected<mlir::OwningOpRef<mlir::ModuleOp>> readStage(mlir::MLIRContext &context, const std::filesystem::path &path);

/// Code::Malformed if a constant that the module names was not read.
Status checkConstants(mlir::ModuleOp module, const std::filesystem::path &path);

/// What a stage's file says of itself.
struct StageFacts {
  Stage stage = Stage::Import;
  std::optional<PlanMode> mode; // from Group on
  std::string target;           // from Schedule on
  /// The file of the stage before, of the same compile: what this one would be made of if nobody had edited it. Empty
  /// where there is none beside it.
  std::filesystem::path before;
};
Expected<StageFacts> readStageFacts(const std::filesystem::path &path);

} // namespace tilewright
