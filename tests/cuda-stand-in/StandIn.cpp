// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1, to test the CUDA device's calls, their order and its errors on machines without a GPU.
// Has the functions that only CUDA has; tests/gpu-stand-in has the others. A context must be current; PTX is not
// compiled, only searched for the names of its kernels.
#include "tests/gpu-stand-in/StandIn.h"

#include "runtime/cuda/CudaDriver.h"
#include "runtime/plan/KernelAbi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

using namespace tilewright::test::standin;
using namespace tilewright::runtime::cuda;

static constexpr Result invalidContext = 201, invalidPtx = 218;

static constexpr struct {
  Result result;
  const char *name, *text;
} resultNames[] = {
    {invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {invalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {invalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {captureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static thread_local std::vector<ContextHandle> current;

Result tilewright::test::standin::deviceIsCurrent() { return current.empty() ? invalidContext : success; }

std::set<std::string> tilewright::test::standin::kernelsOf(const void *image, Result &why, std::string &log) {
  std::string text = static_cast<const char *>(image);
  std::set<std::string> names;
  constexpr std::string_view mark = ".visible .entry ";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
    names.insert(text.substr(at + mark.size(), text.find('(', at) - at - mark.size()));
  if (names.empty())
    why = invalidPtx, log = "ptxas fatal: no kernel here\n";
  return names;
}

EXPORTED(Result) cuDriverGetVersion(int *version) {
  CALLED;
  return *version = static_cast<int>(setting("STAND_IN_VERSION", 12040)), success;
}
EXPORTED(Result) cuGetErrorName(Result result, const char **name) {
  for (const auto &row : resultNames)
    if (row.result == result)
      return *name = row.name, success;
  return invalidValue;
}
EXPORTED(Result) cuGetErrorString(Result result, const char **text) {
  for (const auto &row : resultNames)
    if (row.result == result)
      return *text = row.text, success;
  return invalidValue;
}

EXPORTED(Result) cuDeviceGetAttribute(int *value, int attribute, DeviceOrdinal) {
  CALLED;
  switch (attribute) {
  case MultiprocessorCount:
    return *value = 132, success;
  case ComputeCapabilityMajor:
    return *value = 9, success;
  case ComputeCapabilityMinor:
    return *value = 0, success;
  case MaxSharedPerBlockOptin:
    return *value = 232448, success;
  default:
    return invalidValue;
  }
}

/// Refuses what the driver would, tensors and strides that copies cannot address, and rows that are not swizzled over
/// their length, which the driver takes, but matrix instructions would read otherwise.
EXPORTED(Result)
cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                       const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int swizzle, int, int) {
  CALLED;
  constexpr uint64_t alignment = 16, largestBox = 256;
  constexpr uint64_t bytesOfType[] = {1, 2, 4, 0, 8, 0, 0, 0, 0, 0, 0, 4}; // the last is tf32
  if (reinterpret_cast<uintptr_t>(address) % alignment || rank < 2 || rank > 5 || bytesOfType[type] == 0 ||
      box[0] * bytesOfType[type] != uint64_t(16) << swizzle) // 1, 2, 3: over 32, 64, 128 bytes
    return invalidValue;
  for (unsigned d = 0; d < rank; ++d)
    if (!sizes[d] || !box[d] || box[d] > largestBox || (d + 1 < rank && strides[d] % alignment))
      return invalidValue;
  return std::memset(map, 0, tilewright::tensorMapBytes), success;
}

/// Refuses what the driver would: corners and steps of pixels that do not fit.
EXPORTED(Result)
cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                        const uint64_t *strides, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
                        const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  constexpr int mostCorners[] = {1 << 15, 1 << 7, 1 << 4}; // by the number of spatial dimensions
  constexpr uint32_t mostStep = 8, mostPixels = 256;
  if (rank < 3 || rank > 5 || pixels > mostPixels)
    return invalidValue;
  for (unsigned d = 0; d + 2 < rank; ++d)
    if (int most = mostCorners[rank - 3]; std::min(lower[d], upper[d]) < -most || std::max(lower[d], upper[d]) >= most)
      return invalidValue;
  for (unsigned d = 0; d < rank; ++d)
    if (steps[d] == 0 || steps[d] > mostStep)
      return invalidValue;
  uint32_t box[5] = {channels, pixels, 1, 1, 1};
  return cuTensorMapEncodeTiled(map, type, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion,
                                fill);
}

EXPORTED(Result) cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceOrdinal) {
  CALLED;
  std::scoped_lock lock(world.mutex);
  ++world.retained;
  return *context = &world.context, success;
}
EXPORTED(Result) cuDevicePrimaryCtxRelease_v2(DeviceOrdinal) {
  CALLED;
  std::scoped_lock lock(world.mutex);
  return --world.retained >= 0 ? success : invalidContext;
}
EXPORTED(Result) cuCtxPushCurrent_v2(ContextHandle context) {
  CALLED;
  if (context != &world.context)
    return invalidContext;
  current.push_back(context);
  return success;
}
EXPORTED(Result) cuCtxPopCurrent_v2(ContextHandle *context) {
  CALLED;
  if (current.empty())
    return invalidContext;
  *context = current.back();
  current.pop_back();
  return success;
}

EXPORTED(Result) cuFuncSetAttribute(FunctionHandle function, FunctionAttribute attribute, int value) {
  CALLED;
  if (attribute == MaxDynamicSharedSizeBytes)
    function->dynamicSharedBytes = value;
  return success;
}
/// Attributes are of a kind that this stand-in knows, each once. Notes whether the kernel may start early.
static bool areKnown(const LaunchConfig &config, const FunctionTag &function) {
  bool isEarly = false, isCluster = false;
  for (const LaunchAttribute &attribute : std::span(config.attributes, config.attributeCount)) {
    bool &seen = attribute.id == programmaticOverlap ? isEarly : isCluster;
    if (seen || (attribute.id != programmaticOverlap && attribute.id != clusterDimension))
      return false;
    seen = true;
  }
  if (const char *path = std::getenv("STAND_IN_LAUNCHES"))
    if (std::FILE *file = std::fopen(path, "a")) {
      std::fprintf(file, "%s %s\n", function.name.c_str(), isEarly ? "early" : "in order");
      std::fclose(file);
    }
  return true;
}

EXPORTED(Result)
cuLaunchKernelEx(const LaunchConfig *config, FunctionHandle function, void **parameters, void **extra) {
  CALLED;
  if (!areKnown(*config, *function))
    return invalidValue;
  if (extra || config->sharedBytes > std::max(48u << 10, static_cast<unsigned>(function->dynamicSharedBytes)))
    return invalidValue;
  return launch(function, config->grid, config->block, config->stream, parameters);
}
