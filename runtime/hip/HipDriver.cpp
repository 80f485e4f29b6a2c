// SPDX-License-Identifier: Apache-2.0
// AMD's driver: devices by number, code objects, launches without attributes.
#include "runtime/hip/HipDriver.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

namespace tilewright::runtime::hip {

static constexpr gpu::Symbols symbols = {
#define X(member, cuda, hip, parameters) #hip,
    TILEWRIGHT_GPU_FUNCTIONS(X)
#undef X
};
/// The last field is false, so the error word is in device memory: for AMD's GPUs, atomic exchanges in host memory are
/// operations of PCI Express, which not every board passes on.
static constexpr gpu::Vendor amd = {"AMD", "hip", symbols, "HIP_LAUNCH_BLOCKING", UINT32_MAX, false};

/// The newest version of code objects that every release of a major version loads.
static constexpr struct {
  int hip, codeObject;
} codeObjectVersions[] = {{5, 4}, {6, 5}, {7, 5}};

Driver::Driver() : gpu::Driver(amd) {}

Status Driver::open() {
  static constexpr const char *libraries[] = {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                              "libamdhip64.so.5"};
  TILEWRIGHT_TRY(gpu::openDriver(*this, libraries, "HIP 5.2",
                                 "install ROCm, put its lib folder on LD_LIBRARY_PATH, or run on the device 'host'"));
  if (majorVersion() < 5)
    return {Code::Device,
            fmt::format("this machine has HIP {}.{}; HIP 5.2 or newer is needed", majorVersion(), minorVersion())};
  return {};
}

const char *Driver::findFunctions(void *library) {
  const char *missing = gpu::Driver::findFunctions(library);
#define X(result, member, symbol, parameters)                                                                          \
  member = reinterpret_cast<decltype(member)>(::dlsym(library, #symbol));                                              \
  missing = member ? missing : #symbol;
  TILEWRIGHT_HIP_FUNCTIONS(X)
#undef X
  for (const PropertiesLayout &layout : propertiesLayouts) {
    deviceProperties_ = reinterpret_cast<decltype(deviceProperties_)>(::dlsym(library, layout.symbol));
    layout_ = &layout;
    if (deviceProperties_)
      return missing;
  }
  return layout_->symbol;
}

Status Driver::describe(DeviceOrdinal device, DeviceInfo &info, uint64_t &sharedBytes) const {
  std::vector<char> properties(2 * layout_->bytes); // later releases may write more
  TILEWRIGHT_TRY(check(deviceProperties_(properties.data(), device), layout_->symbol, "asking what the GPU is"));
  int shared = 0;
  for (auto [attribute, value] : {std::pair(MultiprocessorCount, &info.processors), {MaxSharedPerBlock, &shared}})
    TILEWRIGHT_GPU_TRY(*this, deviceGetAttribute, "asking what the GPU is", value, attribute, device);
  const char *architecture = properties.data() + layout_->architecture;
  std::string name(architecture, ::strnlen(architecture, architectureBytes));
  if (!name.starts_with("gfx"))
    return {Code::Device, fmt::format("HIP {}.{} names the architecture of {} '{}'; expected a name such as gfx942",
                                      majorVersion(), minorVersion(), info.name, name)};
  info.targets = {
      name.substr(0, name.find(':'))}; // code without a feature suffix runs on devices with and without the feature
  info.driver = fmt::format("HIP {}.{}", majorVersion(), minorVersion());
  sharedBytes = static_cast<uint64_t>(shared);
  return {};
}

Status Driver::enter(const gpu::Context &context, int &before) const {
  TILEWRIGHT_TRY(check(getDevice(&before), "hipGetDevice", "turning to the GPU"));
  return check(setDevice(context.device), "hipSetDevice", "turning to the GPU");
}

void Driver::leave(int before) const { setDevice(before); }

/// The version of a code object (at least 2), or 0 if the bytes are not one. LLVM's "User Guide for AMDGPU Backend",
/// "Header".
static int codeObjectVersion(std::span<const std::byte> bytes) {
  bool elf =
      bytes.size() > EI_ABIVERSION && std::string_view(reinterpret_cast<const char *>(bytes.data()), SELFMAG) == ELFMAG;
  return elf ? static_cast<int>(bytes[EI_ABIVERSION]) + 2 : 0;
}

Status Driver::load(const CodeObject &code, const DeviceInfo &device, gpu::ModuleHandle &module) const {
  Result result = moduleLoad(&module, code.bytes.data(), 0, nullptr, nullptr);
  if (result == gpu::success)
    return {};
  Status status =
      check(result, vendor.symbols.moduleLoad, fmt::format("loading code for {} on {}", code.target, device.name));
  int found = codeObjectVersion(code.bytes);
  std::string advice;
  for (const auto &row : codeObjectVersions)
    if (row.hip == majorVersion() && found > row.codeObject && result != gpu::outOfMemory)
      advice = fmt::format(
          "; this code object has version {}, which {} may not know: compile again with --code-object-version {}",
          found, device.driver, row.codeObject);
  return {Code::Device, status.message() + advice};
}

Status Driver::launch(FunctionHandle function, const LaunchArgs &args, StreamHandle stream, void **parameters) const {
  const Kernel &kernel = *args.kernel;
  std::array<unsigned, 3> grid = {};
  for (size_t i = 0; i < 3; ++i)
    grid[i] = static_cast<unsigned>(args.grid[i]);
  Result result = launchKernel(function, grid[0], grid[1], grid[2], kernel.block[0], kernel.block[1], kernel.block[2],
                               kernel.dynamicSharedBytes, stream, parameters, nullptr);
  return check(result, "hipModuleLaunchKernel", fmt::format("launching kernel '{}'", kernel.name));
}

} // namespace tilewright::runtime::hip
