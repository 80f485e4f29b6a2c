// SPDX-License-Identifier: Apache-2.0
// The table of options, and the refusals that follow from it.
//
// Every option of every command with a MODEL has a row: tests/tools/options/OptionsTest.cpp walks CLI11's list of
// options and fails for one without. What depends on an option's value (--fuse=none for bench) is checked where the
// value is used.
#include "tools/tilewright/options/OptionTable.h"

#include "frontend/onnx/MappedFile.h"
#include "runtime/artifact/Format.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

namespace tilewright {

static constexpr std::string_view yes = "";

// Why artifacts refuse an option.
static constexpr std::string_view compiled = "it is compiled already: run, bench, verify and inspect take it";
static constexpr std::string_view nothingCompiles = "nothing is compiled: give it to compile, with the model";
static constexpr std::string_view hasTargets =
    "it runs the code inside: choose among its targets by --device, or compile the model again";
static constexpr std::string_view hasSizes =
    "its sizes were settled when it was compiled: compile the model with --shapes, or give sizes by --dim or --inputs";
static constexpr std::string_view hasWeights = "its weights are inside";
static constexpr std::string_view hasPlans = "all of its plans are shown";
static constexpr std::string_view hasKernels =
    "nothing of it is left to compile: --ops shows its kernels and what runs through the reference";

// Why stages refuse it.
static constexpr std::string_view sizesInside = "its sizes are part of the IR: compile the model with --shapes";
static constexpr std::string_view weightsBeside = "its weights lie beside it in constants.bin";
static constexpr std::string_view imported =
    "import has decided what runs through the reference: give it with the model";

// Why both refuse it.
static constexpr std::string_view needsNodes = "it looks at the nodes of the ONNX model: give the model itself";

static constexpr OptionRow rows[] = {
    // command, option, artifact, stage
    {"", "MODEL", yes, yes},
    {"", "onnx", yes, yes},
    {"", "target", hasTargets, yes},
    {"", "shapes", hasSizes, sizesInside},
    {"", "input-shapes", hasSizes, sizesInside},
    {"", "fuse", yes, yes},
    {"", "random-weights", hasWeights, weightsBeside},
    {"", "matmul-precision", nothingCompiles, yes},
    {"", "no-fallback", nothingCompiles, imported},
    {"", "dump-stages", nothingCompiles, yes},
    {"", "cubin", nothingCompiles, yes},
    {"", "code-object-version", nothingCompiles, yes},
    {"", "jobs", nothingCompiles, yes},
    {"", "quiet", yes, yes},
    {"", "json", yes, yes},

    {"", "inputs", yes, yes},
    {"", "dim", yes, yes},
    {"", "seed", yes, yes},
    {"", "device", yes, yes},
    {"", "rtol", yes, yes},
    {"", "atol", yes, yes},

    {"compile", "MODEL", compiled, yes},
    {"compile", "output", yes, yes},
    {"compile", "emit", yes, yes},
    {"compile", "explain-fusion", yes, yes},
    {"compile", "with-unfused", yes, yes},

    {"run", "outputs", yes, yes},
    {"run", "check", yes, yes},

    {"bench", "warmup-ms", yes, yes},
    {"bench", "duration-ms", yes, yes},
    {"bench", "duration", yes, yes},
    {"bench", "no-groups", yes, yes},
    {"bench", "export-json", yes, yes},
    {"bench", "export-trace", yes, yes},
    {"bench", "report", yes, yes},

    {"verify", "against", yes, yes},
    {"verify", "per-node", needsNodes, needsNodes},
    {"verify", "reduce", needsNodes, needsNodes},

    {"inspect", "fuse", hasPlans, yes},
    {"inspect", "io", yes, yes},
    {"inspect", "ops", yes, yes},
    {"inspect", "fusion", yes, yes},
    {"inspect", "memory", yes, yes},
    {"inspect", "support", hasKernels, needsNodes},
};

std::span<const OptionRow> optionRows() { return rows; }

const OptionRow *findOptionRow(std::string_view command, std::string_view option) {
  for (std::string_view of : {command, std::string_view()})
    if (auto row =
            std::ranges::find_if(rows, [&](const OptionRow &row) { return row.command == of && row.option == option; });
        row != std::end(rows))
      return row;
  return nullptr;
}

std::string_view whyRefused(std::string_view command, std::string_view option, InputKind kind) {
  for (std::string_view of : {std::string_view("MODEL"), option})
    if (const OptionRow *row = findOptionRow(command, of)) {
      std::string_view why = kind == InputKind::Artifact ? row->artifact : kind == InputKind::Stage ? row->stage : yes;
      if (!why.empty())
        return why;
    }
  return yes;
}

InputKind inputKind(const std::string &path) {
  if (std::filesystem::path(path).extension() == ".mlir")
    return InputKind::Stage;
  Expected<MappedFile> file = MappedFile::open(path); // refuses pipes and devices instead of waiting for them
  constexpr auto &magic = runtime::format::magic;
  bool isArtifact = file && file->bytes().size() >= magic.size() &&
                    std::memcmp(file->bytes().data(), magic.data(), magic.size()) == 0;
  return isArtifact ? InputKind::Artifact : InputKind::Model;
}

RefusedOption::RefusedOption(const std::string &sentence)
    : CLI::ParseError("RefusedOption", sentence, CLI::ExitCodes::ValidationError) {}

void checkOptions(const CLI::App &command, const std::string &model) {
  InputKind kind = inputKind(model);
  const char *what = kind == InputKind::Artifact ? "an artifact" : "a stage's IR";
  if (std::string_view why = whyRefused(command.get_name(), "MODEL", kind); !why.empty())
    throw RefusedOption(fmt::format("{} does not take {}, {}: {}", command.get_name(), what, model, why));
  for (const CLI::Option *option : command.get_options())
    if (std::string_view why = whyRefused(command.get_name(), option->get_single_name(), kind);
        option->count() > 0 && !why.empty())
      throw RefusedOption(fmt::format("--{} is not for {}, {}: {}", option->get_single_name(), what, model, why));
}

} // namespace tilewright
