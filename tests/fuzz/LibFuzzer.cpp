// The entry points that libFuzzer calls: tilewright-fuzz --target=NAME [libFuzzer's own options] FOLDER...
#include "tests/fuzz/Targets.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace tilewright::test;

static const FuzzTarget *target = nullptr;

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
  target->run({data, size});
  return 0;
}
