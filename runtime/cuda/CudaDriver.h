// The part of the CUDA driver's interface that is used here, found by name in libcuda.so.1.
//
// Prototypes, structures and numbers follow NVIDIA's "CUDA Driver API" manual; names ending in _v2 are those that its header's macros choose.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::runtime::cuda {

using Result = int; // CUresult; 0 is success
using DeviceOrdinal = int;
using DevicePointer = uint64_t;
using ContextHandle = struct ContextTag *;
using StreamHandle = struct StreamTag *;
using EventHandle = struct EventTag *;
using ModuleHandle = struct ModuleTag *;
using FunctionHandle = struct FunctionTag *;
using GraphHandle = struct GraphTag *;
using GraphExecHandle = struct GraphExecTag *;

inline constexpr Result success = 0;
inline constexpr Result outOfMemory = 2;          // CUDA_ERROR_OUT_OF_MEMORY
inline constexpr Result noBinaryForGpu = 209;     // CUDA_ERROR_NO_BINARY_FOR_GPU
inline constexpr Result unsupportedPtx = 222;     // CUDA_ERROR_UNSUPPORTED_PTX_VERSION

enum DeviceAttribute : int { MultiprocessorCount = 16, ComputeCapabilityMajor = 75, ComputeCapabilityMinor = 76, MaxSharedPerBlockOptin = 97 };
enum FunctionAttribute : int { MaxDynamicSharedSizeBytes = 8, NonPortableClusterSizeAllowed = 14 };
enum JitOption : int { ErrorLogBuffer = 5, ErrorLogBufferSizeBytes = 6 };
enum CaptureMode : int { CaptureThreadLocal = 1 };
inline constexpr unsigned streamNonBlocking = 1;

/// CUlaunchAttribute with the one kind that is used: the size of a cluster.
struct LaunchAttribute {
  int id;
  int pad;
  union {
    char bytes[64];
    unsigned cluster[3];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);
inline constexpr int clusterDimension = 4; // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(offsetof(LaunchConfig, stream) == 32 && sizeof(LaunchConfig) == 56);

// clang-format off
/// One row for each function: member, symbol, parameters.
#define TILEWRIGHT_CUDA_FUNCTIONS(X)                                                                                        \
  X(init,                  cuInit,                        (unsigned flags))                                                 \
  X(driverGetVersion,      cuDriverGetVersion,            (int *version))                                                   \
  X(getErrorName,          cuGetErrorName,                (Result, const char **name))                                      \
  X(getErrorString,        cuGetErrorString,              (Result, const char **text))                                      \
  X(deviceGetCount,        cuDeviceGetCount,              (int *count))                                                     \
  X(deviceGet,             cuDeviceGet,                   (DeviceOrdinal *, int ordinal))                                   \
  X(deviceGetName,         cuDeviceGetName,               (char *name, int bytes, DeviceOrdinal))                           \
  X(deviceGetAttribute,    cuDeviceGetAttribute,          (int *value, DeviceAttribute, DeviceOrdinal))                     \
  X(deviceTotalMem,        cuDeviceTotalMem_v2,           (size_t *bytes, DeviceOrdinal))                                   \
  X(primaryContextRetain,  cuDevicePrimaryCtxRetain,      (ContextHandle *, DeviceOrdinal))                                 \
  X(primaryContextRelease, cuDevicePrimaryCtxRelease_v2,  (DeviceOrdinal))                                                  \
  X(contextPush,           cuCtxPushCurrent_v2,           (ContextHandle))                                                  \
  X(contextPop,            cuCtxPopCurrent_v2,            (ContextHandle *))                                                \
  X(memGetInfo,            cuMemGetInfo_v2,               (size_t *freeBytes, size_t *totalBytes))                          \
  X(memAlloc,              cuMemAlloc_v2,                 (DevicePointer *, size_t bytes))                                  \
  X(memFree,               cuMemFree_v2,                  (DevicePointer))                                                  \
  X(memAllocHost,          cuMemAllocHost_v2,             (void **, size_t bytes))                                          \
  X(memFreeHost,           cuMemFreeHost,                 (void *))                                                         \
  X(memcpyIn,              cuMemcpyHtoDAsync_v2,          (DevicePointer, const void *, size_t bytes, StreamHandle))        \
  X(memcpyOut,             cuMemcpyDtoHAsync_v2,          (void *, DevicePointer, size_t bytes, StreamHandle))              \
  X(memcpyWithin,          cuMemcpyDtoDAsync_v2,          (DevicePointer, DevicePointer, size_t bytes, StreamHandle))       \
  X(memset8,               cuMemsetD8Async,               (DevicePointer, unsigned char, size_t bytes, StreamHandle))       \
  X(streamCreate,          cuStreamCreate,                (StreamHandle *, unsigned flags))                                 \
  X(streamDestroy,         cuStreamDestroy_v2,            (StreamHandle))                                                   \
  X(streamSynchronize,     cuStreamSynchronize,           (StreamHandle))                                                   \
  X(beginCapture,          cuStreamBeginCapture_v2,       (StreamHandle, CaptureMode))                                      \
  X(endCapture,            cuStreamEndCapture,            (StreamHandle, GraphHandle *))                                    \
  X(graphInstantiate,      cuGraphInstantiateWithFlags,   (GraphExecHandle *, GraphHandle, unsigned long long flags))       \
  X(graphLaunch,           cuGraphLaunch,                 (GraphExecHandle, StreamHandle))                                  \
  X(graphExecDestroy,      cuGraphExecDestroy,            (GraphExecHandle))                                                \
  X(graphDestroy,          cuGraphDestroy,                (GraphHandle))                                                    \
  X(moduleLoad,            cuModuleLoadDataEx,            (ModuleHandle *, const void *image, unsigned count, JitOption *, void **values)) \
  X(moduleUnload,          cuModuleUnload,                (ModuleHandle))                                                   \
  X(moduleGetFunction,     cuModuleGetFunction,           (FunctionHandle *, ModuleHandle, const char *name))               \
  X(functionSetAttribute,  cuFuncSetAttribute,            (FunctionHandle, FunctionAttribute, int value))                   \
  X(launchKernel,          cuLaunchKernelEx,              (const LaunchConfig *, FunctionHandle, void **parameters, void **extra)) \
  X(eventCreate,           cuEventCreate,                 (EventHandle *, unsigned flags))                                  \
  X(eventDestroy,          cuEventDestroy_v2,             (EventHandle))                                                    \
  X(eventRecord,           cuEventRecord,                 (EventHandle, StreamHandle))                                      \
  X(eventElapsed,          cuEventElapsedTime,            (float *milliseconds, EventHandle, EventHandle))
// clang-format on

struct Driver {
#define X(member, symbol, parameters) Result(*member) parameters = nullptr;
  TILEWRIGHT_CUDA_FUNCTIONS(X)
#undef X
  int version = 0; // 13000 is 13.0

  /// The process's driver, opened and initialized at the first call. Code::Device with one sentence if that fails; failures are not kept, so that a
  /// later call may succeed.
  static Expected<const Driver *> open();

  /// Ok, or Code::Device: "cuMemAlloc_v2 failed with CUDA_ERROR_OUT_OF_MEMORY (out of memory) while ...".
  Status check(Result result, const char *call, const std::string &what) const;
};

} // namespace tilewright::runtime::cuda

/// Returns from the current function with a Status unless the driver call succeeds; `what` says what it was for.
#define TILEWRIGHT_CUDA_TRY(driver, member, what, ...)                                                                                     \
  TILEWRIGHT_TRY((driver).check((driver).member(__VA_ARGS__), #member, what))
