// SPDX-License-Identifier: Apache-2.0
// A file that its destructor deletes, for bytes that are handed to a linker, an assembler or the loader. Failures are
// Code::Io.
#pragma once

#include "runtime/Status.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>

namespace tilewright {

class TemporaryFile {
public:
  /// An empty file of a new name that ends in `suffix`, in the system's temporary folder.
  static Expected<TemporaryFile> create(llvm::StringRef suffix);
  TemporaryFile(TemporaryFile &&other) noexcept { std::swap(path_, other.path_); }
  ~TemporaryFile();

  const std::string &path() const { return path_; }
  Status write(llvm::StringRef bytes) const;
  Expected<std::string> read() const;

private:
  TemporaryFile() = default;
  std::string path_;
};

} // namespace tilewright
