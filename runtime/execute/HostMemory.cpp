// SPDX-License-Identifier: Apache-2.0
// Aligned allocation, with huge pages where they pay.
#include "runtime/execute/HostMemory.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

namespace tilewright::runtime {

static constexpr size_t hugePage = size_t(2) << 20;
static constexpr size_t cacheLine = 64; // and the widest vector register

void *allocateHostMemory(size_t bytes) {
  size_t alignment = bytes >= hugePage ? hugePage : cacheLine;
  size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void *memory = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory && alignment == hugePage)
    ::madvise(memory, rounded, MADV_HUGEPAGE); // best effort
  return memory;
}

} // namespace tilewright::runtime
