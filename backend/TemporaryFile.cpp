// SPDX-License-Identifier: Apache-2.0
// Temporary files, whose failures are sentences.
#include "backend/TemporaryFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>
#include <unistd.h>

using namespace tilewright;

Expected<TemporaryFile> TemporaryFile::create(llvm::StringRef suffix) {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("tilewright", suffix, path))
    return Status(Code::Io, fmt::format("cannot make the temporary file {}: {}", path.str().str(), error.message()));
  TemporaryFile file;
  file.path_ = path.str();
  return file;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty())
    ::unlink(path_.c_str());
}

Status TemporaryFile::write(llvm::StringRef bytes) const {
  std::error_code error;
  llvm::raw_fd_ostream file(path_, error);
  if (!error) {
    file << bytes;
    file.close();
    error = file.error();
    file.clear_error(); // else the destructor would end the process (report_fatal_error)
  }
  return error ? Status(Code::Io, fmt::format("cannot write {}: {}", path_, error.message())) : Status();
}

Expected<std::string> TemporaryFile::read() const {
  auto buffer = llvm::MemoryBuffer::getFile(path_);
  if (!buffer)
    return Status(Code::Io, fmt::format("cannot read {}: {}", path_, buffer.getError().message()));
  return (*buffer)->getBuffer().str();
}
