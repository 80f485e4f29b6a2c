// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of a tile module for this machine and calls them in this process.
#pragma once

#include "backend/host/HostBackend.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright::test {

/// "x86-64-v4" where this machine can run it, and "x86-64-v3".
std::vector<HostOptions> hostLevels();

class Runner {
public:
  /// Parses and compiles; `error()` says what went wrong.
  Runner(const std::string &tileText, const HostOptions &options);
  ~Runner();
  Runner(const Runner &) = delete;

  const std::string &error() const { return message; }
  double compileSeconds() const { return seconds; }

  /// Runs all programs of `kernel` over `buffers`. Returns the error word.
  uint64_t run(const std::string &kernel, std::vector<void *> buffers, std::vector<int64_t> scalars,
               std::array<int64_t, 3> grid);

private:
  std::string message;
  double seconds = 0;
  std::map<std::string, HostKernelCode> kernels;
  void *code = nullptr;
  size_t codeBytes = 0;
  std::vector<char> workspace;
};

} // namespace tilewright::test
