// The bytes behind graph.constant, by content hash: equal weights are one entry, and mapped weights stay mapped.
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

/// Entries are never removed while the pool lives, so a span that `get` returned stays valid. Safe to use from several
/// threads.
class ConstantPool {
public:
  /// Enters `bytes`, which `owner` keeps alive, and returns its key: 32 hexadecimal digits of XXH3-128.
  std::string add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// Enters a copy.
  std::string add(std::span<const std::byte> bytes);

  bool contains(std::string_view key) const;
  /// The bytes of `key`, or an empty span with a null pointer if there is no such entry.
  std::span<const std::byte> get(std::string_view key) const;
  /// What keeps the bytes of `key` alive.
  std::shared_ptr<const void> owner(std::string_view key) const;

  /// Writes the entries in `keys` to a file that `load` reads: what makes a stage's dump complete.
  Status save(const std::string &path, std::span<const std::string> keys) const;
  /// Adds the entries of such a file; the bytes stay mapped.
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
