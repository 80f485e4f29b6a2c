// A file that appears whole or not at all.
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

/// Bytes go into a temporary file beside the wanted one, which `commit` puts in its place: a full disk or an
/// interrupted process leaves whatever was there before. What is no regular file (a device, a pipe) is written through,
/// because replacing /dev/null by a file would help nobody; a symbolic link keeps pointing where it does.
class OutputFile {
public:
  /// Code::Io where the folder cannot be written or `path` is a folder.
  static Expected<OutputFile> create(const std::filesystem::path &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile(); // without a commit, nothing appears

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  Status commit();

private:
  OutputFile() = default;
  Status failure() const; // from errno

  std::string shown_;     // the path as the user gave it
  std::string target_;    // with links resolved
  std::string temporary_; // empty where bytes are written through
  int file_ = -1;
};

/// Code::Io for the first of `paths` that OutputFile::create could not make; empty ones do not count. To be asked
/// before long work, so that its results have a place.
Status checkWritable(std::initializer_list<std::filesystem::path> paths);

/// `text` as the whole content of `path`.
Status writeFile(const std::filesystem::path &path, std::string_view text);

} // namespace tilewright
