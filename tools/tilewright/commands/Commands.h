// SPDX-License-Identifier: Apache-2.0
// The commands. Each adds itself to the command line, and stores its exit code when it runs.
#pragma once

#include <CLI/CLI.hpp>

namespace tilewright {

/// All of them.
void addCommands(CLI::App &app, int &exitCode);

void addCompileCommand(CLI::App &app, int &exitCode);
void addRunCommand(CLI::App &app, int &exitCode);
void addBenchCommand(CLI::App &app, int &exitCode);
void addVerifyCommand(CLI::App &app, int &exitCode);
void addInspectCommand(CLI::App &app, int &exitCode);
void addTestCommand(CLI::App &app, int &exitCode);
void addDevicesCommand(CLI::App &app, int &exitCode);
void addVersionCommand(CLI::App &app, int &exitCode);

} // namespace tilewright
