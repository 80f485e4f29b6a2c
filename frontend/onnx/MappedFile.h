// A whole file mapped for reading: how models and weights come in without being copied.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tilewright {

/// Bytes stay valid while any copy of the MappedFile lives.
class MappedFile {
public:
  static Expected<MappedFile> open(const std::string &path);
  /// Maps the open file `descriptor`, which stays the caller's. `path` is only for diagnostics.
  static Expected<MappedFile> map(int descriptor, const std::string &path);

  std::span<const std::byte> bytes() const { return view; }
  const std::shared_ptr<const void> &owner() const { return mapping; }

private:
  std::span<const std::byte> view;
  std::shared_ptr<const void> mapping;
};

} // namespace tilewright
