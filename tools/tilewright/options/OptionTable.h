// Which options mean something for which kind of input: a model, an artifact, or the IR of a stage.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>

namespace tilewright {

/// What MODEL may name.
enum class InputKind { Model, Artifact, Stage };

/// By the first bytes for an artifact, by the ending for a stage (.mlir); what cannot be read counts as a model, whose
/// reader says why.
InputKind inputKind(const std::string &path);

/// One option of one command, or of every command with a MODEL.
struct OptionRow {
  std::string_view command;  // empty: every command that has no row of its own
  std::string_view option;   // without dashes, as CLI::Option::get_single_name has it
  std::string_view artifact; // why an artifact cannot honour it, and what to do instead; empty: it is honoured
  std::string_view stage;    // the same for a stage
};

std::span<const OptionRow> optionRows();
/// The row of an option, or null.
const OptionRow *findOptionRow(std::string_view command, std::string_view option);
/// Why `option` of `command` cannot be honoured for an input of `kind`; empty where it can. A command that does not
/// take the kind as MODEL has no option for it.
std::string_view whyRefused(std::string_view command, std::string_view option, InputKind kind);

/// One sentence of the usage's, complete as it stands.
class RefusedOption : public CLI::ParseError {
public:
  explicit RefusedOption(const std::string &sentence);
};

/// Throws RefusedOption for the first option given to `command` that cannot be honoured for `model`.
void checkOptions(const CLI::App &command, const std::string &model);

} // namespace tilewright
