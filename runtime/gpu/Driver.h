// SPDX-License-Identifier: Apache-2.0
// A vendor's driver, opened at run time: the functions that CUDA and HIP have in common, as one table with a column of
// names for each; what differs is virtual (runtime/cuda, runtime/hip).
//
// Prototypes and numbers follow NVIDIA's "CUDA Driver API" manual and AMD's "HIP Runtime API Reference"; names ending
// in _v2 are those that CUDA's header selects by macros. Handles are opaque in both, and the enumerators used here have
// the same values in both.
#pragma once

#include "runtime/Device.h"
#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace tilewright::runtime::gpu {

using Result = int; // CUresult, hipError_t; 0 is success
using DeviceOrdinal = int;
using DevicePointer = void *; // CUdeviceptr is an integer of the same size
using ContextHandle = struct ContextTag *;
using StreamHandle = struct StreamTag *;
using EventHandle = struct EventTag *;
using ModuleHandle = struct ModuleTag *;
using FunctionHandle = struct FunctionTag *;
using GraphHandle = struct GraphTag *;
using GraphExecHandle = struct GraphExecTag *;

inline constexpr Result success = 0;
inline constexpr Result outOfMemory = 2;

enum JitOption : int { ErrorLogBuffer = 5, ErrorLogBufferSizeBytes = 6 };
enum ResourceAttribute : int { LocalBytes = 3, Registers = 4 }; // of a function, for each thread
enum CaptureMode : int { CaptureThreadLocal = 1 };
inline constexpr unsigned streamNonBlocking = 1;

// clang-format off
/// One row for each function that both have: member, CUDA's name, HIP's, parameters. All return a Result.
#define TILEWRIGHT_GPU_FUNCTIONS(X)                                                                                    \
  X(init,               cuInit,                      hipInit,                      (unsigned flags))                   \
  X(getVersion,         cuDriverGetVersion,          hipRuntimeGetVersion,         (int *version))                     \
  X(deviceGetCount,     cuDeviceGetCount,            hipGetDeviceCount,            (int *count))                       \
  X(deviceGet,          cuDeviceGet,                 hipDeviceGet,                 (DeviceOrdinal *, int ordinal))     \
  X(deviceGetName,      cuDeviceGetName,             hipDeviceGetName,             (char *name, int bytes,             \
                                                                                    DeviceOrdinal))                    \
  X(deviceGetAttribute, cuDeviceGetAttribute,        hipDeviceGetAttribute,        (int *value, int attribute,         \
                                                                                    DeviceOrdinal))                    \
  X(deviceTotalMem,     cuDeviceTotalMem_v2,         hipDeviceTotalMem,            (size_t *bytes, DeviceOrdinal))     \
  X(memGetInfo,         cuMemGetInfo_v2,             hipMemGetInfo,                (size_t *freeBytes,                 \
                                                                                    size_t *totalBytes))               \
  X(memAlloc,           cuMemAlloc_v2,               hipMalloc,                    (DevicePointer *, size_t bytes))    \
  X(memFree,            cuMemFree_v2,                hipFree,                      (DevicePointer))                    \
  X(memAllocHost,       cuMemHostAlloc,              hipHostMalloc,                (void **, size_t bytes,             \
                                                                                    unsigned flags))                   \
  X(memFreeHost,        cuMemFreeHost,               hipHostFree,                  (void *))                           \
  X(memcpyIn,           cuMemcpyHtoDAsync_v2,        hipMemcpyHtoDAsync,           (DevicePointer, const void *,       \
                                                                                    size_t bytes, StreamHandle))       \
  X(memcpyOut,          cuMemcpyDtoHAsync_v2,        hipMemcpyDtoHAsync,           (void *, DevicePointer,             \
                                                                                    size_t bytes, StreamHandle))       \
  X(memcpyWithin,       cuMemcpyDtoDAsync_v2,        hipMemcpyDtoDAsync,           (DevicePointer, DevicePointer,      \
                                                                                    size_t bytes, StreamHandle))       \
  X(memset8,            cuMemsetD8Async,             hipMemsetD8Async,             (DevicePointer, unsigned char,      \
                                                                                    size_t bytes, StreamHandle))       \
  X(streamCreate,       cuStreamCreate,              hipStreamCreateWithFlags,     (StreamHandle *, unsigned flags))   \
  X(streamDestroy,      cuStreamDestroy_v2,          hipStreamDestroy,             (StreamHandle))                     \
  X(streamSynchronize,  cuStreamSynchronize,         hipStreamSynchronize,         (StreamHandle))                     \
  X(beginCapture,       cuStreamBeginCapture_v2,     hipStreamBeginCapture,        (StreamHandle, CaptureMode))        \
  X(endCapture,         cuStreamEndCapture,          hipStreamEndCapture,          (StreamHandle, GraphHandle *))      \
  X(graphInstantiate,   cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags, (GraphExecHandle *, GraphHandle,    \
                                                                                    unsigned long long flags))         \
  X(graphLaunch,        cuGraphLaunch,               hipGraphLaunch,               (GraphExecHandle, StreamHandle))    \
  X(graphExecDestroy,   cuGraphExecDestroy,          hipGraphExecDestroy,          (GraphExecHandle))                  \
  X(graphDestroy,       cuGraphDestroy,              hipGraphDestroy,              (GraphHandle))                      \
  X(moduleLoad,         cuModuleLoadDataEx,          hipModuleLoadDataEx,          (ModuleHandle *, const void *image, \
                                                                                    unsigned count, JitOption *,       \
                                                                                    void **values))                    \
  X(moduleUnload,       cuModuleUnload,              hipModuleUnload,              (ModuleHandle))                     \
  X(moduleGetFunction,  cuModuleGetFunction,         hipModuleGetFunction,         (FunctionHandle *, ModuleHandle,    \
                                                                                    const char *name))                 \
  X(functionGetAttribute, cuFuncGetAttribute,        hipFuncGetAttribute,         (int *value, ResourceAttribute,     \
                                                                                    FunctionHandle))                   \
  X(eventCreate,        cuEventCreate,               hipEventCreateWithFlags,      (EventHandle *, unsigned flags))    \
  X(eventDestroy,       cuEventDestroy_v2,           hipEventDestroy,              (EventHandle))                      \
  X(eventRecord,        cuEventRecord,               hipEventRecord,               (EventHandle, StreamHandle))        \
  X(eventElapsed,       cuEventElapsedTime,          hipEventElapsedTime,          (float *milliseconds, EventHandle,  \
                                                                                    EventHandle))
// clang-format on

struct Functions {
#define X(member, cuda, hip, parameters) Result(*member) parameters = nullptr;
  TILEWRIGHT_GPU_FUNCTIONS(X)
#undef X
};

/// The names of the functions in one of the libraries.
struct Symbols {
#define X(member, cuda, hip, parameters) const char *member;
  TILEWRIGHT_GPU_FUNCTIONS(X)
#undef X
};

/// Names and limits of a vendor's driver.
struct Vendor {
  const char *name; // "NVIDIA"
  const char *kind; // of the device: "cuda"
  const Symbols &symbols;
  const char *blockingVariable; // the environment variable that makes launches synchronous
  uint64_t maxThreadsPerAxis;   // grid times block along each axis
  bool writesOnHost;            // kernels may write to pinned host memory, at its host address
};

struct Context;

class Driver : public Functions {
public:
  explicit Driver(const Vendor &itsVendor) : vendor(itsVendor), symbols(itsVendor.symbols) {}
  virtual ~Driver() = default;

  /// Looks up all functions in `library`. Returns the name of a missing one, or null.
  virtual const char *findFunctions(void *library);
  /// Ok, or Code::Device: "cuMemAlloc_v2 failed with CUDA_ERROR_OUT_OF_MEMORY (out of memory) while ...".
  Status check(Result result, const char *symbol, const std::string &what) const;

  // Where the drivers differ.
  virtual const char *nameOf(Result result) const = 0; // null for codes unknown to the driver
  virtual const char *textOf(Result result) const = 0;
  /// Sets `targets` and `driver` of `info`, and `sharedBytes` to the largest shared memory of a block, in bytes.
  virtual Status describe(DeviceOrdinal device, DeviceInfo &info, uint64_t &sharedBytes) const = 0;
  virtual Status retain(Context &context) const = 0;
  virtual void release(Context &context) const = 0;
  /// Makes the context current on this thread; leave(before) restores the one before.
  virtual Status enter(const Context &context, int &before) const = 0;
  virtual void leave(int before) const = 0;
  virtual Status load(const CodeObject &code, const DeviceInfo &device, ModuleHandle &module) const = 0;
  virtual Status prepare(FunctionHandle function, const Kernel &kernel) const = 0;
  /// Writes the map's tensorMapBytes to `encoded`. Code::Device on GPUs without a copy engine.
  virtual Status encode(const TensorMapArgs &map, const std::string &kernel, void *encoded) const;
  virtual Status launch(FunctionHandle function, const LaunchArgs &args, StreamHandle stream,
                        void **parameters) const = 0;

  const Vendor &vendor;
  const Symbols &symbols;
  int version = 0;

protected:
  Driver(const Driver &) = default;
};

/// Opens the first of `libraries` that exists, looks up all functions, and initializes the driver. Code::Device with
/// one sentence if that fails.
Status openDriver(Driver &driver, std::span<const char *const> libraries, const char *leastVersion, const char *advice);

/// The process's driver of one kind, opened at the first call and never closed, since other libraries in this process
/// may use it too. Failures are not cached, so that a later call may succeed.
template <typename Kind> Expected<const Kind *> openOnce() {
  static std::mutex mutex;
  static const Kind *driver = nullptr;
  std::scoped_lock lock(mutex);
  if (!driver) {
    auto opened = std::make_unique<Kind>();
    TILEWRIGHT_TRY(opened->open());
    driver = opened.release();
  }
  return driver;
}

/// A GPU in use by this process, for as long as anything created in it lives. CUDA: the primary context, shared with
/// other libraries.
struct Context : std::enable_shared_from_this<Context> {
  explicit Context(const Driver &itsDriver) : driver(itsDriver) {}
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  Expected<std::shared_ptr<void>> allocatePinned(size_t bytes);

  const Driver &driver;
  DeviceOrdinal device = 0;
  ContextHandle handle = nullptr; // CUDA only
  bool retained = false;
  std::string name;
  uint64_t sharedBytes = 0; // the largest shared memory of a block
};

/// Makes a context current on this thread for a scope, then restores the caller's.
class Scope {
public:
  explicit Scope(const Context &context) : driver_(context.driver), status_(driver_.enter(context, before_)) {}
  ~Scope() {
    if (status_.ok())
      driver_.leave(before_);
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

  const Status &status() const { return status_; }

private:
  const Driver &driver_;
  int before_ = 0;
  Status status_;
};

} // namespace tilewright::runtime::gpu

/// Returns from the current function with a Status unless the driver call succeeds; `what` says what it was for.
#define TILEWRIGHT_GPU_TRY(driver, member, what, ...)                                                                  \
  TILEWRIGHT_TRY((driver).check((driver).member(__VA_ARGS__), (driver).symbols.member, what))

/// Makes `context` current until the end of the block, or returns from the current function with a Status.
#define TILEWRIGHT_GPU_ENTER(context)                                                                                  \
  ::tilewright::runtime::gpu::Scope scope(context);                                                                    \
  TILEWRIGHT_TRY(scope.status())
