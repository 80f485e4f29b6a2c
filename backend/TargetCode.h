// SPDX-License-Identifier: Apache-2.0
// What code generation hands to the plan: machine code, and the facts of each kernel that launching it needs.
#pragma once

#include "runtime/plan/Plan.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

/// How one kernel is launched. Sizes are bytes; `block` counts threads and is {1, 1, 1} on the host.
struct KernelFacts {
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1}; // blocks
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedBytes = 0;
  int64_t workspaceBytes = 0; // host: scratch of one worker thread
  bool startsEarly = false;   // may be launched before earlier kernels end, and waits for them itself
};

/// The code of all kernels of one plan. Kernels are found by the name of their tile.kernel.
struct TargetCode {
  runtime::CodeKind kind = runtime::CodeKind::HostX86;
  std::vector<std::byte> bytes;
  std::vector<runtime::CodeSymbol> symbols; // HostX86: entry offsets
  std::map<std::string, KernelFacts> kernels;
  std::vector<std::string> requirements; // CPU features, HostX86 only
};

} // namespace tilewright
