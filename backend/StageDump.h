// A stage's IR in a file: written by --dump-stages, read, edited, and resumed from.
//
//   DIR/constants.bin               the weights that the IR names by key
//   DIR/0-import.mlir  1-normalize.mlir
//   DIR/x86-64-v4-all/2-group.mlir  3-schedule.mlir  4-tile.mlir
//
// The module says where it stands by attributes: graph.model (name), graph.stage, from the group stage on graph.mode
// and graph.report.
#pragma once

#include "runtime/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <filesystem>
#include <string>

namespace tilewright {

/// Writes `module` as DIR/SUBFOLDER/FILE.mlir and the constants that it names as DIR/constants.bin.
Status writeStage(mlir::ModuleOp module, const std::filesystem::path &folder, const std::string &subfolder,
                  const std::string &file);

/// Reads such a file, and the constants.bin beside it or one folder up. Code::Malformed where it does not parse or
/// verify.
Expected<mlir::OwningOpRef<mlir::ModuleOp>> readStage(mlir::MLIRContext &context, const std::filesystem::path &path);

} // namespace tilewright
