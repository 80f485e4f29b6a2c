// SPDX-License-Identifier: Apache-2.0
// Files that are written completely or not at all.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tilewright {

/// Bytes go to a temporary file beside the target, and `commit` renames it to the target: a full disk or an interrupted
/// process leaves the old file intact. Devices and pipes are written directly, so that /dev/null is not replaced by a
/// file. A symbolic link is kept; its target is replaced. Failures are Code::Io.
class OutputFile {
public:
  /// Fails if the folder cannot be written or `path` is a folder.
  static Expected<OutputFile> create(const std::filesystem::path &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile(); // without a commit, removes the temporary file

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  Status commit();

private:
  OutputFile() = default;
  Status failure() const; // from errno

  std::string shown_;     // the path as the user gave it
  std::string target_;    // with links resolved
  std::string temporary_; // empty for devices and pipes
  int file_ = -1;
};

/// Code::Io for the first of `paths` that cannot be written; empty ones are skipped. Call it before long work, so that
/// its results are not lost.
Status checkWritable(std::initializer_list<std::filesystem::path> paths);

/// Writes `text` as the whole content of `path`.
Status writeFile(const std::filesystem::path &path, std::string_view text);

} // namespace tilewright
