// SPDX-License-Identifier: Apache-2.0
// A table of live ranges: only pages of known files may be released, because released anonymous memory reads as zeros.
#include "runtime/plan/MemoryRanges.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace tilewright {

namespace {
struct Range {
  size_t size;
  Backing backing;
};
struct Ranges {
  std::mutex mutex;
  std::map<uintptr_t, Range> byStart;
};

Ranges &ranges() {
  static Ranges instance;
  return instance;
}

uintptr_t addressOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }
} // namespace

void rememberRange(std::span<const std::byte> range, Backing backing) {
  std::scoped_lock lock(ranges().mutex);
  ranges().byStart[addressOf(range.data())] = {range.size(), backing};
}

void forgetRange(const void *start) {
  std::scoped_lock lock(ranges().mutex);
  ranges().byStart.erase(addressOf(start));
}

bool liesIn(Backing backing, std::span<const std::byte> bytes) {
  std::scoped_lock lock(ranges().mutex);
  auto next = ranges().byStart.upper_bound(addressOf(bytes.data()));
  if (next == ranges().byStart.begin())
    return false;
  const auto &[start, range] = *std::prev(next);
  uintptr_t from = addressOf(bytes.data()) - start;
  return range.backing == backing && from <= range.size && bytes.size() <= range.size - from;
}

void releasePages(std::span<const std::byte> bytes) {
  if (!liesIn(Backing::File, bytes))
    return;
  auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t from = (addressOf(bytes.data()) + page - 1) / page * page,
            to = (addressOf(bytes.data()) + bytes.size()) / page * page;
  if (from < to)
    ::madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED);
}

} // namespace tilewright
