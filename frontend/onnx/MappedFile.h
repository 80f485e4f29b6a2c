// SPDX-License-Identifier: Apache-2.0
// A file mapped into memory for reading, so that models and weights are not copied.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tilewright {

/// The bytes are valid as long as any copy of the MappedFile.
class MappedFile {
public:
  static Expected<MappedFile> open(const std::string &path);
  /// Maps the open file `descriptor`, which the caller still owns. `path` is only for diagnostics.
  static Expected<MappedFile> map(int descriptor, const std::string &path);

  std::span<const std::byte> bytes() const { return view; }
  const std::shared_ptr<const void> &owner() const { return mapping; }

private:
  std::span<const std::byte> view;
  std::shared_ptr<const void> mapping;
};

} // namespace tilewright
