// SPDX-License-Identifier: Apache-2.0
// The bytes of graph.constant operations, keyed by content hash: equal weights share an entry, and memory-mapped
// weights are not copied.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace tilewright::graph {

/// Entries are never removed, so a span returned by `get` stays valid as long as the pool. Thread-safe.
class ConstantPool {
public:
  /// Adds `bytes`, which `owner` keeps alive, and returns their key: the XXH3-128 hash in hexadecimal.
  std::string add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// Adds a copy of `bytes`.
  std::string add(std::span<const std::byte> bytes);

  bool contains(std::string_view key) const;
  /// The bytes of `key`, or an empty span with a null pointer if there is no such entry.
  std::span<const std::byte> get(std::string_view key) const;
  /// The owner that keeps the bytes of `key` alive.
  std::shared_ptr<const void> owner(std::string_view key) const;

  /// Writes the entries in `keys` to a file for `load`, so that a dump of a stage is complete.
  Status save(const std::string &path, std::span<const std::string> keys) const;
  /// Adds the entries of such a file, which stays memory-mapped.
  Status load(const std::string &path);

private:
  struct Entry {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  mutable std::mutex mutex;
  std::map<std::string, Entry, std::less<>> entries;
};

/// The key that `ConstantPool::add` gives to `bytes`.
std::string constantKey(std::span<const std::byte> bytes);

} // namespace tilewright::graph
