// SPDX-License-Identifier: Apache-2.0
// The stages of a compile, and what a module says of where it stands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mlir {
class ModuleOp;
}

namespace tilewright {

/// In order; each leaves IR that can be printed and edited. Import to Place can be resumed from.
enum class Stage { Import, Normalize, Group, Schedule, Tile, Place, Llvm, Code };

/// The name of a stage on the command line and in IR; and the stage of a name, nullopt if there is none.
std::string_view name(Stage stage);
std::optional<Stage> parseStage(std::string_view name);

/// How much of the graph one kernel may hold. Reference compiles nothing: each ONNX node runs through the runtime's
/// reference kernels.
enum class PlanMode { Reference, None, Epilogue, All };
std::string_view name(PlanMode mode);
std::optional<PlanMode> parsePlanMode(std::string_view name);

/// Attributes of a module: the stage that it has reached, and what it was made from and for.
namespace stage_attr {
inline constexpr std::string_view model = "graph.model";   // the model's name
inline constexpr std::string_view stage = "graph.stage";   // the last stage that the module has been through
inline constexpr std::string_view mode = "graph.mode";     // from Group on: how it was grouped
inline constexpr std::string_view report = "graph.report"; // from Group on: why not more was fused, as JSON
inline constexpr std::string_view target = "graph.target"; // from Schedule on: a row of TargetDesc
} // namespace stage_attr

/// Text that a module holds as the attribute `name`; empty where it has none.
std::string textAttribute(mlir::ModuleOp module, std::string_view name);
void setTextAttribute(mlir::ModuleOp module, std::string_view name, std::string_view text);

/// The last stage that the module has been through. Stage::Import if it has no such attribute: IR written by hand has
/// not been normalized.
Stage stageOf(mlir::ModuleOp module);

} // namespace tilewright
