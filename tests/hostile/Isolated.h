// Runs what may crash, hang or eat memory in a process of its own.
#pragma once

#include "runtime/Status.h"

#include <functional>
#include <string>

namespace tilewright::test {

/// How a body ended: with a Status, or by a signal (`signal` is its number then, and `status` means nothing).
struct Ending {
  Status status;
  int signal = 0;
};

struct Limits {
  unsigned seconds = 10;              // of processor time
  uint64_t bytes = uint64_t(1) << 30; // of memory beyond what this process has already
};

/// Forks, so the body sees everything that this process has loaded, and nothing that it does comes back but its Status.
/// This process must have no threads of its own.
Ending runIsolated(const std::function<Status()> &body, Limits limits = {});

/// Why `ending` is none that hostile input may lead to, or nothing. Right are: success, and exit codes 2 (inputs that
/// do not fit), 3 (unsupported), 4 (malformed), 5 (no memory) and 6 (a file), each with one sentence of at most 300
/// characters.
std::string objection(const Ending &ending);

} // namespace tilewright::test
