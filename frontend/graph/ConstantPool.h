// SPDX-License-Identifier: Apache-2.0
// The bytes of graph.constant operations, keyed by content hash: equal weights share an entry, memory-mapped weights
// are not copied, and a concatenation of weights is laid out only for its readers.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::graph {

/// Bytes, and what keeps them alive.
struct ConstantBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Entries are never removed, so a span returned by `get` stays valid as long as the pool. Thread-safe.
class ConstantPool {
public:
  /// Adds `bytes`, which `owner` keeps alive, and returns their key: the XXH3-128 hash in hexadecimal.
  std::string add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// Adds a copy of `bytes`.
  std::string add(std::span<const std::byte> bytes);
  /// Adds the concatenation of entries along a dimension: row i of the result is row i of each part, one after the
  /// other, where the dimensions in front of the concatenated one make `rows` rows. The entry refers to its parts. If a
  /// part is absent, as in text without its constants file, the pool has no bytes for the returned key.
  std::string join(std::span<const std::string> parts, size_t rows);

  bool contains(std::string_view key) const;
  /// How many bytes `key` has; 0 if there is no such entry.
  size_t size(std::string_view key) const;
  /// The bytes of `key`, or an empty span with a null pointer if there is no such entry. A joined entry is laid out in
  /// memory and stays so; `read` is for callers that need its bytes only once.
  std::span<const std::byte> get(std::string_view key) const;
  /// The same; a joined entry is laid out for as long as the result lives.
  ConstantBytes read(std::string_view key) const;

  /// Writes the entries in `keys` to a file for `load`, so that a dump of a stage is complete.
  Status save(const std::string &path, std::span<const std::string> keys) const;
  /// Which of these entries such a file has; none if it is no such file.
  std::vector<std::string> savedIn(const std::string &path) const;
  /// Adds the entries of such a file, which stays memory-mapped.
  Status load(const std::string &path);

private:
  struct Entry {
    size_t size = 0;
    ConstantBytes contents;         // without data for a joined entry that `get` was not called for
    std::vector<std::string> parts; // of a joined entry
    size_t rows = 1;
  };
  const Entry *find(std::string_view key) const;
  ConstantBytes layOut(const Entry &joined) const;
  std::string insert(std::string key, Entry entry);

  mutable std::mutex mutex;
  mutable std::map<std::string, Entry, std::less<>> entries;
};

/// The key that `ConstantPool::add` gives to `bytes`.
std::string constantKey(std::span<const std::byte> bytes);

} // namespace tilewright::graph
