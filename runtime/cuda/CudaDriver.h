// SPDX-License-Identifier: Apache-2.0
// The functions that only the CUDA driver has, looked up in libcuda.so.1 (NVIDIA's "CUDA Driver API" manual).
#pragma once

#include "runtime/gpu/Driver.h"

namespace tilewright::runtime::cuda {

using gpu::ContextHandle, gpu::DeviceOrdinal, gpu::FunctionHandle, gpu::Result, gpu::StreamHandle;

inline constexpr Result noBinaryForGpu = 209; // CUDA_ERROR_NO_BINARY_FOR_GPU
inline constexpr Result unsupportedPtx = 222; // CUDA_ERROR_UNSUPPORTED_PTX_VERSION

enum DeviceAttribute : int {
  MultiprocessorCount = 16,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedPerBlockOptin = 97
};
enum FunctionAttribute : int { MaxDynamicSharedSizeBytes = 8, NonPortableClusterSizeAllowed = 14 };

/// CUlaunchAttribute with the members used here.
struct LaunchAttribute {
  int id;
  int pad;
  union {
    char bytes[64];
    unsigned cluster[3];
    int startsEarly;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);
inline constexpr int clusterDimension = 4;    // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
inline constexpr int programmaticOverlap = 6; // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
/// The first driver version that can capture launches with that attribute in graphs (CUDA 12.3).
inline constexpr int overlapsInGraphs = 12030;

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
/// One row for each function: member, name, parameters.
#define TILEWRIGHT_CUDA_FUNCTIONS(X)                                                                                   \
  X(getErrorName,          cuGetErrorName,                (Result, const char **name))                                 \
  X(getErrorString,        cuGetErrorString,              (Result, const char **text))                                 \
  X(primaryContextRetain,  cuDevicePrimaryCtxRetain,      (ContextHandle *, DeviceOrdinal))                            \
  X(primaryContextRelease, cuDevicePrimaryCtxRelease_v2,  (DeviceOrdinal))                                             \
  X(contextPush,           cuCtxPushCurrent_v2,           (ContextHandle))                                             \
  X(contextPop,            cuCtxPopCurrent_v2,            (ContextHandle *))                                           \
  X(functionSetAttribute,  cuFuncSetAttribute,            (FunctionHandle, FunctionAttribute, int value))              \
  X(launchKernel,          cuLaunchKernelEx,              (const LaunchConfig *, FunctionHandle, void **parameters,    \
                                                           void **extra))
// clang-format on

/// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, which drivers have since CUDA 12.0; only code for newer GPUs
/// needs them.
using EncodeTensorMap = Result (*)(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                   const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                   int interleave, int swizzle, int promotion, int fill);
using EncodePixelMap = Result (*)(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                  const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                                  uint32_t pixels, const uint32_t *elementStrides, int interleave, int swizzle,
                                  int promotion, int fill);

class Driver : public gpu::Driver {
public:
  Driver();
  Status open();

  const char *findFunctions(void *library) override;
  const char *nameOf(Result result) const override;
  const char *textOf(Result result) const override;
  Status describe(DeviceOrdinal device, DeviceInfo &info, uint64_t &sharedBytes) const override;
  Status retain(gpu::Context &context) const override;
  void release(gpu::Context &context) const override;
  Status enter(const gpu::Context &context, int &before) const override;
  void leave(int before) const override;
  Status load(const CodeObject &code, const DeviceInfo &device, gpu::ModuleHandle &module) const override;
  Status prepare(FunctionHandle function, const Kernel &kernel) const override;
  Status encode(const TensorMapArgs &map, const std::string &kernel, void *encoded) const override;
  Status launch(FunctionHandle function, const LaunchArgs &args, StreamHandle stream, void **parameters) const override;

private:
  EncodeTensorMap encodeTensorMap = nullptr;
  EncodePixelMap encodePixelMap = nullptr;
#define X(member, symbol, parameters) Result(*member) parameters = nullptr;
  TILEWRIGHT_CUDA_FUNCTIONS(X)
#undef X
};

/// The names of the targets whose code a GPU of this compute capability (90 for 9.0) runs, best first.
std::vector<std::string> targetsOf(int capability);

} // namespace tilewright::runtime::cuda
