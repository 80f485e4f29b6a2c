// SPDX-License-Identifier: Apache-2.0
// The test kernels for AMD's GPUs, which the build compiles from TestKernels.ll; and testKernelsFor.
#include "tests/runtime/TestKernels.h"

#include <fstream>
#include <iterator>
#include <map>

namespace tilewright::runtime {

static CodeObject testKernelsAmd(const std::string &architecture) {
  static std::map<std::string, std::string> files; // a code object does not own its bytes
  std::string &bytes = files[architecture];
  if (bytes.empty()) {
    std::ifstream file(TILEWRIGHT_BINARY_DIR "/tests/test-kernels/" + architecture + ".hsaco", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  CodeObject code;
  code.kind = CodeKind::Hsaco;
  code.target = architecture;
  code.bytes = std::as_bytes(std::span(bytes));
  return code;
}

CodeObject testKernelsFor(const DeviceInfo &device) {
  if (device.hostMemory)
    return testKernels();
  return device.id.starts_with("hip") ? testKernelsAmd(device.targets.front()) : testKernelsPtx();
}

} // namespace tilewright::runtime
