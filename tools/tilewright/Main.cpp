// SPDX-License-Identifier: Apache-2.0
// The command line: parses the options, runs the command, reports how it ended.
#include "tools/tilewright/FatalErrors.h"
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/options/ModelOptions.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

using namespace tilewright;

/// Planned commands that do not exist yet.
static constexpr std::pair<std::string_view, std::string_view> notBuilt[] = {
    {"tune", "schedules are chosen by the cost model; --dump-stages and an edited schedule stand in for it"},
    {"cache", "nothing is cached between compiles; keep the artifact that compile -o writes"},
};

static constexpr const char *footer =
    R"(Exit codes: 0 ok, 1 results differ, 2 usage, 3 unsupported, 4 malformed or unsafe model, 5 device, driver or memory missing,
6 input/output, 7 internal error.
Environment: TILEWRIGHT_NUM_THREADS (threads of the host device), TILEWRIGHT_DEVICE (default of --device).)";

namespace {
struct OptionalValue {
  std::string_view option, ifAbsent;
  bool (*isOne)(const std::string &word);
};
} // namespace

/// Options whose value may be absent.
static constexpr OptionalValue optionalValues[] = {
    {"--random-weights", "0",
     [](const std::string &word) { return word.find_first_not_of("0123456789") == std::string::npos; }},
    {"--explain-fusion", "text", [](const std::string &word) { return word == "text" || word == "json"; }},
};

/// The words of the command line, last one first, as CLI11 wants them. A file behind an option whose value is absent is
/// the model, not that value.
static std::vector<std::string> wordsOf(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i + 1 < words.size(); ++i)
    for (const OptionalValue &row : optionalValues)
      if (std::error_code error;
          words[i] == row.option && !row.isOne(words[i + 1]) && std::filesystem::is_regular_file(words[i + 1], error))
        words[i] += fmt::format("={}", row.ifAbsent);
  std::reverse(words.begin(), words.end());
  return words;
}

static int parse(CLI::App &app, int argc, char **argv) {
  std::string_view first = argc > 1 ? argv[1] : "";
  for (const auto &[name, instead] : notBuilt)
    if (first == name)
      return report({Code::Unsupported, fmt::format("the command {} is not built yet: {}", name, instead)});
  bool isCommand = !app.get_subcommands([&](CLI::App *command) { return command->get_name() == first; }).empty();
  if (!first.empty() && !first.starts_with('-') && !isCommand)
    return report({Code::Usage, fmt::format("there is no command '{}'; tilewright --help lists them", first)});
  try {
    app.parse(wordsOf(argc, argv));
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const RefusedOption &refused) {
    return report({Code::Usage, refused.what()});
  } catch (const CLI::ParseError &error) {
    return report(
        {Code::Usage, fmt::format("{}{}tilewright {} --help lists what is understood", error.what(),
                                  std::string_view(error.what()).ends_with('.') ? " " : "; ", isCommand ? first : "")});
  }
  return 0;
}

/// Flushes stdout, whose buffered writes may still fail.
static Status outputStatus() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return {};
  return {Code::Io,
          fmt::format("standard output cannot be written{}{}", errno ? ": " : "", errno ? std::strerror(errno) : "")};
}

int main(int argc, char **argv) {
  installFatalErrorHandlers();
  CLI::App app("Compiles ONNX models to fused tile kernels, runs them, and shows what fusion bought.", "tilewright");
  app.require_subcommand(1);
  app.footer(footer);
  int exitCode = 0;
  addCommands(app, exitCode);
  try {
    int usage = parse(app, argc, argv);
    if (usage || exitCode)
      return usage ? usage : exitCode;
    return report(outputStatus());
  } catch (const std::bad_alloc &) {
    return report({Code::Device, "there is too little memory; use smaller inputs or models"});
  } catch (const std::exception &error) {
    if (Status output = outputStatus(); !output)
      return report(output);
    return report({Code::Internal, fmt::format("an exception, which is a bug of ours: {}", error.what())});
  }
}
