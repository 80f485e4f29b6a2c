// SPDX-License-Identifier: Apache-2.0
// The parsers of untrusted bytes, each as a function of bytes. A target aborts on a forbidden result (an internal
// error, an empty sentence); the fuzzer detects crashes and hangs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright::test {

struct FuzzTarget {
  std::string_view name;
  void (*run)(std::span<const uint8_t> bytes);
  /// The limit of one allocation, beyond which std::bad_alloc is thrown; the target must catch it. Not for targets that
  /// run LLVM, whose code is not exception-safe.
  size_t mostBytes = SIZE_MAX;
};

std::span<const FuzzTarget> fuzzTargets();

/// The target of that name, or null.
const FuzzTarget *findFuzzTarget(std::string_view name);

} // namespace tilewright::test
