// SPDX-License-Identifier: Apache-2.0
// lld as a library. It works on files, keeps its state in globals (one link at a time), and resets every command-line
// option of LLVM in the process to its default; ours are CLI11's, so nothing is lost.
#include "backend/amdgcn/LinkObject.h"
#include "backend/TemporaryFile.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace tilewright;

Expected<std::string> tilewright::linkObject(const std::string &object) {
  static std::mutex one;
  std::lock_guard lock(one);
  Expected<TemporaryFile> input = TemporaryFile::create("o"), output = TemporaryFile::create("so");
  TILEWRIGHT_TRY(input);
  TILEWRIGHT_TRY(output);
  TILEWRIGHT_TRY(input->write(object));
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  bool linked =
      lld::elf::link({"ld.lld", "-shared", "--no-undefined", input->path().c_str(), "-o", output->path().c_str()},
                     llvm::nulls(), errors, /*exitEarly=*/false,
                     /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (!linked)
    return Status(Code::Internal, "the linker refused the kernels: " + messages);
  return output->read();
}
