// SPDX-License-Identifier: Apache-2.0
// Runs code that may crash, hang or exhaust memory in a process of its own.
#pragma once

#include "runtime/Status.h"

#include <functional>
#include <string>

namespace tilewright::test {

/// How a body ended: with a Status, or by a signal (then `signal` is its number, and `status` is meaningless).
struct Ending {
  Status status;
  int signal = 0;
};

struct Limits {
  unsigned seconds = 10;              // of processor time
  uint64_t bytes = uint64_t(1) << 30; // of memory in addition to what this process uses
};

/// Forks: the body sees everything in this process, and only its Status comes back. This process must have no other
/// threads.
Ending runIsolated(const std::function<Status()> &body, Limits limits = {});

/// Why hostile input must not end like this; empty if it may. Allowed are success, and exit codes 2 (inputs that do not
/// fit), 3 (unsupported), 4 (malformed), 5 (no memory) and 6 (a file), each with one sentence of at most 300
/// characters.
std::string objection(const Ending &ending);

} // namespace tilewright::test
