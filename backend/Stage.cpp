// SPDX-License-Identifier: Apache-2.0
// Names of stages and modes, and attributes of modules.
#include "backend/Stage.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tilewright {

static constexpr std::pair<std::string_view, Stage> stageNames[] = {
    {"import", Stage::Import}, {"normalize", Stage::Normalize}, {"group", Stage::Group}, {"schedule", Stage::Schedule},
    {"tile", Stage::Tile},     {"place", Stage::Place},         {"llvm", Stage::Llvm},   {"code", Stage::Code},
};
static constexpr std::pair<std::string_view, PlanMode> modeNames[] = {{"reference", PlanMode::Reference},
                                                                      {"none", PlanMode::None},
                                                                      {"epilogue", PlanMode::Epilogue},
                                                                      {"all", PlanMode::All}};

template <typename Rows, typename Key> static std::string_view nameIn(const Rows &rows, Key key) {
  for (const auto &[name, value] : rows)
    if (value == key)
      return name;
  return "";
}

template <typename Key, typename Rows> static std::optional<Key> parseIn(const Rows &rows, std::string_view text) {
  for (const auto &[name, value] : rows)
    if (name == text)
      return value;
  return std::nullopt;
}

std::string_view name(Stage stage) { return nameIn(stageNames, stage); }
std::optional<Stage> parseStage(std::string_view name) { return parseIn<Stage>(stageNames, name); }
std::string_view name(PlanMode mode) { return nameIn(modeNames, mode); }
std::optional<PlanMode> parsePlanMode(std::string_view name) { return parseIn<PlanMode>(modeNames, name); }

std::string textAttribute(ModuleOp module, std::string_view name) {
  auto text = module->getAttrOfType<StringAttr>(name);
  return text ? text.str() : std::string();
}

void setTextAttribute(ModuleOp module, std::string_view name, std::string_view text) {
  module->setAttr(name, StringAttr::get(module.getContext(), text));
}

Stage stageOf(ModuleOp module) { return parseStage(textAttribute(module, stage_attr::stage)).value_or(Stage::Import); }

} // namespace tilewright
