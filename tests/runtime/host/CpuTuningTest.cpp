// SPDX-License-Identifier: Apache-2.0
// What is chosen for this machine's make of processor reaches the kernels.
#include "runtime/host/CpuTuning.h"

#include "runtime/Devices.h"
#include "tests/runtime/TestKernels.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace tilewright::runtime {
namespace {

/// As Linux reads it from the processor: "GenuineIntel", "AuthenticAMD", ...
std::string vendor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("vendor_id"))
      return line.substr(line.find(": ") + 2);
  return "";
}

TEST(CpuTuning, FetchDistanceIsTheVendors) {
  EXPECT_EQ(weightFetchDistance(), vendor() == "GenuineIntel" ? 4096 : 0) << vendor();
}

TEST(CpuTuning, KernelsGetTheFetchDistance) {
  std::shared_ptr<Device> device = *openDevice("host");
  std::unique_ptr<Module> module = std::move(*device->loadModule(testKernels()));
  std::unique_ptr<Stream> stream = std::move(*device->createStream());
  Kernel kernel;
  kernel.name = kernel.entry = "writeFetchAhead";
  int64_t found = -1;
  std::vector<void *> buffers = {&found};
  LaunchArgs args;
  args.handle = *module->kernel(kernel);
  args.kernel = &kernel;
  args.buffers = buffers;
  ASSERT_TRUE(stream->launch(args).ok());
  EXPECT_EQ(*stream->synchronize(), 0u);
  EXPECT_EQ(found, weightFetchDistance());
}

} // namespace
} // namespace tilewright::runtime
