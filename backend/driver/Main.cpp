// The command line: a table of commands.
#include "backend/driver/Commands.h"

using namespace tilewright;

static constexpr void (*commands[])(CLI::App &, int &) = {
    addCompileCommand, addRunCommand, addBenchCommand, addVerifyCommand, addInspectCommand, addTestCommand, addDevicesCommand, addVersionCommand,
};

static constexpr const char *footer = R"(Exit codes: 0 ok, 1 results differ, 2 usage, 3 unsupported, 4 malformed or unsafe model, 5 device or driver missing,
6 input/output, 7 internal error.
Environment: TILEWRIGHT_NUM_THREADS (threads of the host device), TILEWRIGHT_DEVICE (default of --device).)";

int main(int argc, char **argv) {
  CLI::App app("Compiles ONNX models to fused tile kernels, runs them, and shows what fusion bought.", "tilewright");
  app.require_subcommand(1);
  app.footer(footer);
  int exitCode = 0;
  for (auto add : commands)
    add(app, exitCode);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exitCode;
}
