// SPDX-License-Identifier: Apache-2.0
// Records what backs large memory ranges: mapped files, whose pages can be released once they are copied, and huge
// pages, where kernels can read constants in place.
#pragma once

#include <cstddef>
#include <span>

namespace tilewright {

enum class Backing {
  File,      // a private, read-only mapping
  HugePages, // from allocateHostMemory, and never written again
};

/// Records what backs `range`, until `forgetRange(range.data())`.
void rememberRange(std::span<const std::byte> range, Backing backing);
void forgetRange(const void *start);

/// Whether all of `bytes` lies in one range of that kind.
bool liesIn(Backing backing, std::span<const std::byte> bytes);

/// Releases the whole pages within `bytes` if they belong to a mapped file; otherwise does nothing. The bytes stay
/// readable: they take no memory of the process until they are read again, from the file.
void releasePages(std::span<const std::byte> bytes);

} // namespace tilewright
