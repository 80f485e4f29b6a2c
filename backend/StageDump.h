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

/// Reads such a file, and the constants.bin beside it or one folder up if there is one. Code::Io if it cannot be
/// opened; Code::Malformed if it does not parse, or breaks a rule of its stage (VerifyStage.h).
Expected<mlir::OwningOpRef<mlir::ModuleOp>> readStage(mlir::MLIRContext &context, const std::filesystem::path &path);

/// Code::Malformed if readStage found no bytes for a constant that the module names. `path` is for the message.
Status checkConstants(mlir::ModuleOp module, const std::filesystem::path &path);

/// What a stage's file says of itself.
struct StageFacts {
  Stage stage = Stage::Import;
  std::optional<PlanMode> mode; // from Group on
  std::string target;           // from Schedule on
  /// The file that the same compile dumped for the stage before: compiled from there, it gives what this file held
  /// before anybody edited it. Empty if there is none beside this file or one folder up.
  std::filesystem::path before;
};
Expected<StageFacts> readStageFacts(const std::filesystem::path &path);

} // namespace tilewright
