// What large ranges of memory are: mappings of files, whose pages may be given back once somebody has copied them, and
// huge pages, in which kernels may read constants where they are.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright {

enum class Backing {
  File,      // a private, read-only mapping
  HugePages, // from allocateHostMemory, and never written again
};

/// Says what `range` is, until `forgetRange(range.data())`.
void rememberRange(std::span<const std::byte> range, Backing backing);
void forgetRange(const void *start);

/// Whether all of `bytes` lies in one range of that kind.
bool liesIn(Backing backing, std::span<const std::byte> bytes);

/// Gives the whole pages within `bytes` back to the system if they are a file's, and does nothing otherwise. They may
/// still be read, and then come from the file again; until then they count as this process's memory no more.
void releasePages(std::span<const std::byte> bytes);

} // namespace tilewright
