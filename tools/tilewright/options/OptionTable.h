// SPDX-License-Identifier: Apache-2.0
// Which options apply to which kind of input: a model, an artifact, or the IR of a stage.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>

namespace tilewright {

/// The kinds of MODEL.
enum class InputKind { Model, Artifact, Stage };

/// An artifact is recognized by its first bytes, a stage by its extension .mlir. Anything else, or unreadable, counts
/// as a model, whose reader reports errors.
InputKind inputKind(const std::string &path);

/// An option of one command, or of every command with a MODEL.
struct OptionRow {
  std::string_view command;  // empty: every command that has no row of its own
  std::string_view option;   // without dashes, as in CLI::Option::get_single_name
  std::string_view artifact; // why artifacts refuse it, and what to do instead; empty: they accept it
  std::string_view stage;    // the same for a stage
};

std::span<const OptionRow> optionRows();
/// The row of an option, or null.
const OptionRow *findOptionRow(std::string_view command, std::string_view option);
/// Why `option` of `command` is refused for an input of `kind`; empty if it is accepted. A command that refuses the
/// kind as MODEL refuses all its options.
std::string_view whyRefused(std::string_view command, std::string_view option, InputKind kind);

/// A usage error whose message is a complete sentence.
class RefusedOption : public CLI::ParseError {
public:
  explicit RefusedOption(const std::string &sentence);
};

/// Throws RefusedOption for the first given option of `command` that does not apply to `model`.
void checkOptions(const CLI::App &command, const std::string &model);

} // namespace tilewright
