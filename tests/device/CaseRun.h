// One case's memory: inputs filled, output poisoned, guard bytes around it; and the verdict.
#pragma once

#include "tests/device/Cases.h"

#include <string>
#include <vector>

namespace tilewright::test {

/// Host memory of a buffer, with `guard` poisoned bytes on both sides of its elements.
struct CaseBuffer {
  static constexpr size_t guard = 64 << 10; // what an injected fault overruns stays inside
  static constexpr std::byte poison{0xa5};
  std::vector<std::byte> bytes;
};

std::vector<CaseBuffer> makeBuffers(const DeviceCase &c);

/// Empty if the output is as expected, every element was written, and the guards are intact; else what is wrong first.
std::string verdict(const DeviceCase &c, const CaseBuffer &output, uint64_t errorWord);

} // namespace tilewright::test
