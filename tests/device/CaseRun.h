// SPDX-License-Identifier: Apache-2.0
// The memory of one case: filled inputs, a poisoned output, guard bytes around both; and the check of the output.
#pragma once

#include "tests/device/Cases.h"

#include <string>
#include <vector>

namespace tilewright::test {

/// Host memory of a buffer, with `guard` poisoned bytes on both sides of its elements.
struct CaseBuffer {
  static constexpr size_t guard = 64 << 10; // large enough for the overruns of injected faults
  static constexpr std::byte poison{0xa5};
  std::vector<std::byte> bytes;
};

std::vector<CaseBuffer> makeBuffers(const DeviceCase &c);

/// Empty if every element was written as expected and the guards are intact; else the first error.
std::string verdict(const DeviceCase &c, const CaseBuffer &output, uint64_t errorWord);

} // namespace tilewright::test
