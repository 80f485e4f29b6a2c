// SPDX-License-Identifier: Apache-2.0
// The table of commands.
#include "tools/tilewright/commands/Commands.h"

namespace tilewright {

static constexpr void (*commands[])(CLI::App &, int &) = {
    addCompileCommand, addRunCommand,  addBenchCommand,   addVerifyCommand,
    addInspectCommand, addTestCommand, addDevicesCommand, addVersionCommand,
};

void addCommands(CLI::App &app, int &exitCode) {
  for (auto add : commands)
    add(app, exitCode);
}

} // namespace tilewright
