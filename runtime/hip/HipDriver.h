// SPDX-License-Identifier: Apache-2.0
// The functions that only HIP's runtime has, looked up in libamdhip64.so of HIP 5, 6 or 7 (AMD's "HIP Runtime API
// Reference").
#pragma once

#include "runtime/gpu/Driver.h"

namespace tilewright::runtime::hip {

using gpu::DeviceOrdinal, gpu::FunctionHandle, gpu::Result, gpu::StreamHandle;

// The same in 5, 6 and 7.
enum DeviceAttribute : int { MultiprocessorCount = 63, MaxSharedPerBlock = 74 };

/// hipDeviceProp_t, of which only the name of the architecture is read ("gfx90a:sramecc+:xnack-"). HIP 6 gave the
/// structure another layout and its function another name; the old function still exists.
struct PropertiesLayout {
  const char *symbol;
  size_t bytes, architecture;
};
inline constexpr PropertiesLayout propertiesLayouts[] = {
    {"hipGetDevicePropertiesR0600", 1472, 1160},
    {"hipGetDeviceProperties", 792, 396},
};
inline constexpr size_t architectureBytes = 256;

// clang-format off
/// One row for each function: result, member, name, parameters.
#define TILEWRIGHT_HIP_FUNCTIONS(X)                                                                                    \
  X(const char *, getErrorName,   hipGetErrorName,       (Result))                                                     \
  X(const char *, getErrorString, hipGetErrorString,     (Result))                                                     \
  X(Result,       getDevice,      hipGetDevice,          (int *ordinal))                                               \
  X(Result,       setDevice,      hipSetDevice,          (int ordinal))                                                \
  X(Result,       launchKernel,   hipModuleLaunchKernel, (FunctionHandle, unsigned gridX, unsigned gridY,              \
                                                          unsigned gridZ, unsigned blockX,                             \
                                                          unsigned blockY, unsigned blockZ, unsigned sharedBytes,      \
StreamHandle,                                                                                                          \
                                                          void **parameters, void **extra))
// clang-format on

class Driver : public gpu::Driver {
public:
  Driver();
  Status open();

  const char *findFunctions(void *library) override;
  const char *nameOf(Result result) const override { return getErrorName(result); }
  const char *textOf(Result result) const override { return getErrorString(result); }
  Status describe(DeviceOrdinal device, DeviceInfo &info, uint64_t &sharedBytes) const override;
  Status retain(gpu::Context &) const override { return {}; } // devices have no contexts to hold
  void release(gpu::Context &) const override {}
  Status enter(const gpu::Context &context, int &before) const override;
  void leave(int before) const override;
  Status load(const CodeObject &code, const DeviceInfo &device, gpu::ModuleHandle &module) const override;
  Status prepare(FunctionHandle, const Kernel &) const override { return {}; } // the code object declares LDS
  Status launch(FunctionHandle function, const LaunchArgs &args, StreamHandle stream, void **parameters) const override;

private:
  int majorVersion() const { return version / 10000000; } // 60342134 is 6.3
  int minorVersion() const { return version / 100000 % 100; }

#define X(result, member, symbol, parameters) result(*member) parameters = nullptr;
  TILEWRIGHT_HIP_FUNCTIONS(X)
#undef X
  Result (*deviceProperties_)(void *properties, int ordinal) = nullptr;
  const PropertiesLayout *layout_ = nullptr;
};

} // namespace tilewright::runtime::hip
