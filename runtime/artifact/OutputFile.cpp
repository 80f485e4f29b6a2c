// SPDX-License-Identifier: Apache-2.0
// Writes a temporary file and renames it; writes devices and pipes directly.
#include "runtime/artifact/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

/// Resolves symbolic links in the last component of `path`; the target need not exist.
static std::filesystem::path resolveLinks(std::filesystem::path path) {
  constexpr int mostLinks = 40; // Linux's limit; a cycle fails when it is opened
  std::error_code error;
  for (int i = 0; i < mostLinks && std::filesystem::is_symlink(path, error); ++i)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return path;
}

Expected<OutputFile> OutputFile::create(const std::filesystem::path &path) {
  OutputFile output;
  output.shown_ = path.string();
  output.target_ = resolveLinks(path).string();
  struct stat facts;
  if (::stat(output.shown_.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    output.file_ = ::open(output.shown_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); // fails with EISDIR for a folder
  } else {
    output.temporary_ = output.target_ + ".XXXXXX";
    output.file_ = ::mkostemp(output.temporary_.data(), O_CLOEXEC);
    if (output.file_ < 0)
      output.temporary_.clear();
  }
  if (output.file_ < 0)
    return output.failure();
  return output;
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : shown_(std::move(other.shown_)), target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})), file_(std::exchange(other.file_, -1)) {}

OutputFile::~OutputFile() {
  if (file_ >= 0)
    ::close(file_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

Status OutputFile::failure() const {
  return {Code::Io, fmt::format("cannot write {}: {}", shown_, std::strerror(errno))};
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failure();
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status OutputFile::commit() {
  if (!temporary_.empty()) {
    mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(file_, 0666 & ~mask); // the permissions of a plain open, instead of mkostemp's 0600
  }
  if (::close(std::exchange(file_, -1)) != 0)
    return failure();
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0)
    return failure();
  temporary_.clear();
  return {};
}

Status checkWritable(std::initializer_list<std::filesystem::path> paths) {
  std::error_code error;
  for (const std::filesystem::path &path : paths)
    if (!path.empty() &&
        !std::filesystem::is_fifo(path, error)) // opening and closing a pipe would end it for its reader
      TILEWRIGHT_TRY(OutputFile::create(path));
  return {};
}

Status writeFile(const std::filesystem::path &path, std::string_view text) {
  Expected<OutputFile> file = OutputFile::create(path);
  TILEWRIGHT_TRY(file);
  TILEWRIGHT_TRY(file->write(text));
  return file->commit();
}

} // namespace tilewright
