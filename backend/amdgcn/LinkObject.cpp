// lld as a library. It works on files, keeps its state in globals (one link at a time), and resets every command-line option of LLVM in the
// process to its default; ours are CLI11's, so nothing is lost.
#include "backend/amdgcn/LinkObject.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace tilewright;

namespace {
/// A file that goes with its scope.
struct TemporaryFile {
  llvm::SmallString<128> path;
  explicit TemporaryFile(const char *suffix) { failed = bool(llvm::sys::fs::createTemporaryFile("tilewright", suffix, path)); }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
  bool failed;
};
} // namespace

Expected<std::string> tilewright::linkObject(const std::string &object) {
  static std::mutex one;
  std::lock_guard lock(one);
  TemporaryFile input("o"), output("so");
  if (input.failed || output.failed)
    return Status(Code::Io, "expected to write temporary files for the linker");
  {
    std::error_code error;
    llvm::raw_fd_ostream file(input.path, error);
    if (!error) {
      file << object;
      file.close();
      error = file.error();
      file.clear_error(); // or its destructor ends the process
    }
    if (error)
      return Status(Code::Io, "cannot write " + std::string(input.path) + ": " + error.message());
  }
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  bool linked = lld::elf::link({"ld.lld", "-shared", "--no-undefined", input.path.c_str(), "-o", output.path.c_str()}, llvm::nulls(),
                               errors, /*exitEarly=*/false,
                               /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (!linked)
    return Status(Code::Internal, "the linker refused the kernels: " + messages);
  auto bytes = llvm::MemoryBuffer::getFile(output.path);
  if (!bytes)
    return Status(Code::Io, "cannot read the linker's output " + std::string(output.path));
  return (*bytes)->getBuffer().str();
}
