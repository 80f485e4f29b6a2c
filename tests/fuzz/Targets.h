// What reads bytes of a stranger, each as a function of bytes. A target aborts where an answer is not allowed (an
// internal error, an empty sentence); crashes and hangs are the fuzzer's to see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tilewright::test {

struct FuzzTarget {
  std::string_view name;
  void (*run)(std::span<const uint8_t> bytes);
  /// What one allocation may take; beyond it std::bad_alloc is thrown, which such a target must catch. LLVM's code lets
  /// none through.
  size_t mostBytes = SIZE_MAX;
};

std::span<const FuzzTarget> fuzzTargets();

/// The target of that name, or null.
const FuzzTarget *findFuzzTarget(std::string_view name);

} // namespace tilewright::test
