// SPDX-License-Identifier: Apache-2.0
// mmap behind a shared pointer, and its error messages.
#include "frontend/onnx/MappedFile.h"

#include "runtime/plan/MemoryRanges.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {

Expected<MappedFile> MappedFile::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // does not block on a pipe
  if (descriptor < 0)
    return Status(Code::Io, fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  Expected<MappedFile> file = map(descriptor, path);
  ::close(descriptor);
  return file;
}

Expected<MappedFile> MappedFile::map(int descriptor, const std::string &path) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0)
    return Status(Code::Io, fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  if (!S_ISREG(facts.st_mode))
    return Status(Code::Io, fmt::format("cannot read '{}': it is not a regular file", path));
  MappedFile file;
  size_t size = static_cast<size_t>(facts.st_size);
  if (size == 0)
    return file;
  void *data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED)
    return Status(Code::Io, fmt::format("cannot map '{}': {}", path, std::strerror(errno)));
  file.view = {static_cast<const std::byte *>(data), size};
  rememberRange(file.view, Backing::File);
  file.mapping = std::shared_ptr<const void>(data, [size](const void *start) {
    forgetRange(start);
    munmap(const_cast<void *>(start), size);
  });
  return file;
}

} // namespace tilewright
