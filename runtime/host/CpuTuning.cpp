// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/CpuTuning.h"

namespace tilewright::runtime {

namespace {

struct Make {
  bool (*isThis)();
  int64_t fetchAhead;
};

// BERT-base with 4 to 96 rows (docs/performance.md, "How far ahead weights are fetched"). On a Xeon with AMX, of 0 to
// 12 KiB, 4 and 8 are best. On a Zen 4, each of 1 to 16 KiB costs 5 to 41 % at some number of rows, and to ask for
// nothing, as products of few rows do with 0, saves up to a fifth (docs/performance/host-products.md, "Not to ask at
// all").
constexpr Make makes[] = {
    {[] { return __builtin_cpu_is("intel") != 0; }, 4096},
    {[] { return __builtin_cpu_is("amd") != 0; }, 0},
};

} // namespace

int64_t weightFetchDistance() {
  for (const Make &make : makes)
    if (make.isThis())
      return make.fetchAhead;
  return 0;
}

} // namespace tilewright::runtime
