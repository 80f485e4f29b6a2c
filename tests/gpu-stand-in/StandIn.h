// SPDX-License-Identifier: Apache-2.0
// The common part of the stand-ins for libcuda.so.1 and libamdhip64.so: memory is host memory and streams run
// synchronously, but a driver's rules are checked.
//
// Addresses must lie in live allocations, a capturing stream records instead of running and rejects what a capture
// forbids, and a leak at exit is a failure. Code is not executed: the runtime's test kernels are known by name
// (tests/runtime/TestKernels.h) and computed in C++; launches of other kernels are only recorded. Environment variables
// make it log and fail:
//   STAND_IN_LOG      a file that gets a line for each call, with the kernel's name and grid for a launch
//   STAND_IN_FAIL     the call that fails with error 999: its number, from 1, or the name of a function
//                     whose first call it is
//   STAND_IN_FAULT    the name of a kernel that faults: waiting for it fails, or launching it where
//                     CUDA_LAUNCH_BLOCKING or HIP_LAUNCH_BLOCKING is 1
//   STAND_IN_SPILLS   the name of a kernel that keeps 24 bytes a thread in memory for want of registers
//   STAND_IN_MEMORY   bytes of the device's memory; 8 GiB by default
//   STAND_IN_DEVICES  how many devices there are; 1 by default
//   STAND_IN_LAUNCHES a file that gets a line for each launch: the kernel, and whether it may start early (CUDA)
//   STAND_IN_VERSION  the driver's version, 12040 by default (CUDA)
#pragma once

#include "runtime/gpu/Driver.h"

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tilewright::runtime::gpu {
struct ContextTag {};
struct GraphTag {
  std::vector<std::function<Result()>> nodes;
};
struct GraphExecTag {
  std::vector<std::function<Result()>> nodes;
};
struct StreamTag {
  GraphTag *capture = nullptr;
};
struct EventTag {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};
struct FunctionTag {
  std::string name;
  int dynamicSharedBytes = 0;
};
struct ModuleTag {
  std::map<std::string, FunctionTag> functions;
};
} // namespace tilewright::runtime::gpu

namespace tilewright::test::standin {

using namespace runtime::gpu;

// The same numbers in both; outOfMemory is gpu::outOfMemory.
inline constexpr Result invalidValue = 1, invalidDevice = 101, noBinary = 209, notFound = 500, illegalAddress = 700,
                        launchFailure = 719, captureUnsupported = 900, unknown = 999;

/// All live objects, to detect wrong handles, wrong addresses and leaks.
struct World {
  std::mutex mutex;
  std::map<const void *, size_t> device, pinned; // address to bytes
  size_t bytes = 0;                              // of the device's memory in use
  std::set<const void *> handles;
  int retained = 0; // contexts
  ContextTag context;
  bool faulted = false;
  ~World();
};
extern World world;

/// The number in an environment variable, or `otherwise`.
size_t setting(const char *name, size_t otherwise);
/// Logs a call. Returns the error if this is the call that must fail.
Result called(const std::string &name);
#define CALLED                                                                                                         \
  if (Result injected = called(__func__); injected != success)                                                         \
  return injected

template <typename Handle, typename... Args> Handle *make(Args &&...args) {
  auto *handle = new Handle{std::forward<Args>(args)...};
  std::scoped_lock lock(world.mutex);
  world.handles.insert(handle);
  return handle;
}
template <typename Handle> Result destroy(Handle *handle) {
  {
    std::scoped_lock lock(world.mutex);
    if (!world.handles.erase(handle))
      return invalidValue;
  }
  delete handle;
  return success;
}

/// Runs or records a launch. Parameters are pointers to 64-bit values, in the order of KernelAbi.h.
Result launch(FunctionHandle function, const unsigned (&grid)[3], const unsigned (&block)[3], StreamHandle stream,
              void **parameters);

// What the two libraries implement differently.
/// Success, or the error of calls without a current device on this thread.
Result deviceIsCurrent();
/// The names of the kernels in an image. If it is rejected, `why` is the error.
std::set<std::string> kernelsOf(const void *image, Result &why, std::string &log);

} // namespace tilewright::test::standin

/// An exported function, named by CUDA or HIP: CUDA's stand-in is compiled with STAND_IN_CUDA.
#define EXPORTED(result) extern "C" __attribute__((visibility("default"))) result
#ifdef STAND_IN_CUDA
#define DRIVER_CALL(cuda, hip) EXPORTED(Result) cuda
#else
#define DRIVER_CALL(cuda, hip) EXPORTED(Result) hip
#endif
