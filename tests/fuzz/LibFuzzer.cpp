// SPDX-License-Identifier: Apache-2.0
// The entry points that libFuzzer calls: tilewright-fuzz --target=NAME [libFuzzer's own options] FOLDER...
#include "tests/fuzz/Targets.h"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

using namespace tilewright::test;

static const FuzzTarget *target = nullptr;

/// The limit of allocations while a target runs: mutated sizes then fail as if out of memory, instead of keeping the
/// reference busy for minutes.
static size_t mostBytes = SIZE_MAX;

/// Throws std::bad_alloc like the standard operator, so that its handlers are fuzzed too; AddressSanitizer's would end
/// the process.
void *operator new(size_t bytes) {
  void *memory = bytes > mostBytes ? nullptr : std::malloc(bytes);
  return memory ? memory : throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  constexpr std::string_view option = "--target=";
  for (int i = 1; i < *count; ++i)
    if (std::string_view argument = (*arguments)[i]; argument.starts_with(option))
      target = findFuzzTarget(argument.substr(option.size()));
  if (target)
    return 0;
  std::fprintf(stderr, "expected --target=NAME, where NAME is one of:");
  for (const FuzzTarget &known : fuzzTargets())
    std::fprintf(stderr, " %.*s", static_cast<int>(known.name.size()), known.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mostBytes = target->mostBytes;
  target->run({data, size});
  mostBytes = SIZE_MAX;
  return 0;
}
