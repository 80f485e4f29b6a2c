// SPDX-License-Identifier: Apache-2.0
// Hashing with XXH3, chunk by chunk.
#include "runtime/artifact/Checksum.h"

#include "runtime/artifact/Format.h"
#include "runtime/execute/ThreadPool.h"

#include <algorithm>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright::runtime {

uint64_t hashBytes(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t sectionChecksum(std::span<const std::byte> section) {
  std::vector<uint64_t> chunks((section.size() + format::checksumChunk - 1) / format::checksumChunk);
  ThreadPool::instance().forRange(static_cast<int64_t>(chunks.size()), [&](int64_t first, int64_t last, int) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      std::span<const std::byte> rest = section.subspan(i * format::checksumChunk);
      chunks[i] = hashBytes(rest.first(std::min<size_t>(rest.size(), format::checksumChunk)));
    }
  });
  return hashBytes(std::as_bytes(std::span(chunks)));
}

} // namespace tilewright::runtime
