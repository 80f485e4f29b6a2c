// A stand-in for libcuda.so.1, so that the CUDA device's calls, their order and its errors are tested on machines without a GPU.
//
// Memory is host memory and streams run at once, but the rules of the driver hold: a context must be current, addresses must lie in live
// allocations, a capturing stream notes instead of runs and refuses what a capture forbids, and what is left over at exit is a failure. It
// cannot compile PTX; it knows the runtime's test kernels by name (tests/runtime/TestKernelsPtx.cpp) and computes them in C++.
#include "runtime/cuda/CudaDriver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <unistd.h>
#include <vector>

using namespace tilewright::runtime::cuda;

namespace tilewright::runtime::cuda {
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
} // namespace tilewright::runtime::cuda

static constexpr Result invalidValue = 1, invalidContext = 201, invalidPtx = 218, notFound = 500, illegalAddress = 700,
                        captureUnsupported = 900;

static constexpr struct {
  Result result;
  const char *name, *text;
} resultNames[] = {
    {invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {invalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {captureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
};

/// Everything alive, so that wrong handles, wrong addresses and leaks are seen.
struct World {
  std::mutex mutex;
  std::map<uint64_t, size_t> device, pinned; // address to bytes
  std::set<const void *> handles;
  int retained = 0;
  ContextTag context;

  ~World() {
    if (device.empty() && pinned.empty() && handles.empty() && retained == 0)
      return;
    std::fprintf(stderr, "left over in the CUDA driver: %zu device allocations, %zu pinned ones, %zu handles, %d contexts\n", device.size(),
                 pinned.size(), handles.size(), retained);
    ::_exit(9);
  }
};
static World world;
static thread_local std::vector<ContextTag *> current;

static bool inside(const std::map<uint64_t, size_t> &allocations, uint64_t address, size_t bytes) {
  std::scoped_lock lock(world.mutex);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return false;
  auto [start, size] = *std::prev(after);
  return address - start <= size && bytes <= size - (address - start);
}

template <typename Handle, typename... Args> static Handle *make(Args &&...args) {
  auto *handle = new Handle{std::forward<Args>(args)...};
  std::scoped_lock lock(world.mutex);
  world.handles.insert(handle);
  return handle;
}
template <typename Handle> static Result destroy(Handle *handle) {
  {
    std::scoped_lock lock(world.mutex);
    if (!world.handles.erase(handle))
      return invalidValue;
  }
  delete handle;
  return success;
}

/// Runs `work` now, or notes it if the stream captures. `stream` 1 is the default stream, which cannot.
static Result act(StreamHandle stream, std::function<Result()> work) {
  if (current.empty())
    return invalidContext;
  if (reinterpret_cast<uintptr_t>(stream) <= 2 || !stream->capture)
    return work();
  stream->capture->nodes.push_back(std::move(work));
  return success;
}

// The kernels. Parameters are pointers to 64-bit values, in the order of KernelAbi.h.

struct KernelCall {
  std::vector<uint64_t> parameters;
  unsigned grid[3];
  template <typename T> T *pointer(size_t i) const { return reinterpret_cast<T *>(parameters[i]); }
};

static void addBias(const KernelCall &call) {
  const float *x = call.pointer<float>(0), *bias = call.pointer<float>(1);
  float *y = call.pointer<float>(2);
  uint64_t columns = call.parameters[3];
  for (uint64_t i = 0; i < call.grid[0] * columns; ++i)
    y[i] = x[i] + bias[i % columns];
}

static void gatherChecked(const KernelCall &call) {
  for (unsigned i = 0; i < call.grid[0]; ++i) {
    uint64_t at = call.pointer<uint64_t>(1)[i];
    if (at >= call.parameters[3]) {
      *call.pointer<uint64_t>(5) = uint64_t(1) << 32 | call.parameters[4];
      at = 0;
    }
    call.pointer<float>(2)[i] = call.pointer<float>(0)[at];
  }
}

static void writeCoordinates(const KernelCall &call) {
  uint64_t *y = call.pointer<uint64_t>(0);
  for (uint64_t p = 0, z = 0; z < call.grid[2]; ++z)
    for (uint64_t row = 0; row < call.grid[1]; ++row)
      for (uint64_t x = 0; x < call.grid[0]; ++x, ++p, y += 4) {
        y[0] = p;
        y[1] = x;
        y[2] = row;
        y[3] = z;
      }
}

static constexpr struct {
  const char *name;
  size_t parameters;
  void (*run)(const KernelCall &);
} kernels[] = {{"addBias", 5, addBias}, {"gatherChecked", 6, gatherChecked}, {"writeCoordinates", 2, writeCoordinates}};

#define DRIVER_CALL extern "C" __attribute__((visibility("default"))) Result

DRIVER_CALL cuInit(unsigned flags) { return flags == 0 ? success : invalidValue; }
DRIVER_CALL cuDriverGetVersion(int *version) { return *version = 12040, success; }
DRIVER_CALL cuDeviceGetCount(int *count) { return *count = 1, success; }
DRIVER_CALL cuDeviceGet(DeviceOrdinal *device, int ordinal) { return *device = ordinal, ordinal == 0 ? success : 101; }
DRIVER_CALL cuDeviceGetName(char *name, int bytes, DeviceOrdinal) {
  return std::snprintf(name, static_cast<size_t>(bytes), "Stand-in GPU"), success;
}
DRIVER_CALL cuDeviceTotalMem_v2(size_t *bytes, DeviceOrdinal) { return *bytes = size_t(1) << 33, success; }

DRIVER_CALL cuGetErrorName(Result result, const char **name) {
  for (const auto &row : resultNames)
    if (row.result == result)
      return *name = row.name, success;
  return invalidValue;
}
DRIVER_CALL cuGetErrorString(Result result, const char **text) {
  for (const auto &row : resultNames)
    if (row.result == result)
      return *text = row.text, success;
  return invalidValue;
}

DRIVER_CALL cuDeviceGetAttribute(int *value, DeviceAttribute attribute, DeviceOrdinal) {
  switch (attribute) {
  case MultiprocessorCount:
    return *value = 132, success;
  case ComputeCapabilityMajor:
    return *value = 9, success;
  case ComputeCapabilityMinor:
    return *value = 0, success;
  case MaxSharedPerBlockOptin:
    return *value = 232448, success;
  }
  return invalidValue;
}

DRIVER_CALL cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceOrdinal) {
  std::scoped_lock lock(world.mutex);
  ++world.retained;
  return *context = &world.context, success;
}
DRIVER_CALL cuDevicePrimaryCtxRelease_v2(DeviceOrdinal) {
  std::scoped_lock lock(world.mutex);
  return --world.retained >= 0 ? success : invalidContext;
}
DRIVER_CALL cuCtxPushCurrent_v2(ContextHandle context) {
  if (context != &world.context)
    return invalidContext;
  current.push_back(context);
  return success;
}
DRIVER_CALL cuCtxPopCurrent_v2(ContextHandle *context) {
  if (current.empty())
    return invalidContext;
  *context = current.back();
  current.pop_back();
  return success;
}

DRIVER_CALL cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) { return *freeBytes = *totalBytes = size_t(1) << 33, success; }
DRIVER_CALL cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  if (current.empty())
    return invalidContext;
  void *memory = bytes == 0 || bytes > size_t(1) << 33 ? nullptr : std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (!memory)
    return bytes == 0 ? invalidValue : outOfMemory;
  std::scoped_lock lock(world.mutex);
  *pointer = reinterpret_cast<DevicePointer>(memory);
  world.device[*pointer] = bytes;
  return success;
}
DRIVER_CALL cuMemFree_v2(DevicePointer pointer) {
  std::scoped_lock lock(world.mutex);
  if (current.empty() || !world.device.erase(pointer))
    return invalidValue;
  std::free(reinterpret_cast<void *>(pointer));
  return success;
}
DRIVER_CALL cuMemAllocHost_v2(void **pointer, size_t bytes) {
  if (current.empty())
    return invalidContext;
  *pointer = std::malloc(bytes);
  std::scoped_lock lock(world.mutex);
  world.pinned[reinterpret_cast<uint64_t>(*pointer)] = bytes;
  return success;
}
DRIVER_CALL cuMemFreeHost(void *pointer) {
  std::scoped_lock lock(world.mutex);
  if (current.empty() || !world.pinned.erase(reinterpret_cast<uint64_t>(pointer)))
    return invalidValue;
  std::free(pointer);
  return success;
}

DRIVER_CALL cuMemcpyHtoDAsync_v2(DevicePointer target, const void *source, size_t bytes, StreamHandle stream) {
  bool captures = reinterpret_cast<uintptr_t>(stream) > 2 && stream->capture;
  if (captures && !inside(world.pinned, reinterpret_cast<uint64_t>(source), bytes))
    return captureUnsupported; // its bytes may be gone when the graph runs
  return act(stream, [=] {
    if (!inside(world.device, target, bytes))
      return illegalAddress;
    std::memcpy(reinterpret_cast<void *>(target), source, bytes);
    return success;
  });
}
DRIVER_CALL cuMemcpyDtoHAsync_v2(void *target, DevicePointer source, size_t bytes, StreamHandle stream) {
  return act(stream, [=] {
    if (!inside(world.device, source, bytes))
      return illegalAddress;
    std::memcpy(target, reinterpret_cast<void *>(source), bytes);
    return success;
  });
}
DRIVER_CALL cuMemcpyDtoDAsync_v2(DevicePointer target, DevicePointer source, size_t bytes, StreamHandle stream) {
  return act(stream, [=] {
    if (!inside(world.device, source, bytes) || !inside(world.device, target, bytes))
      return illegalAddress;
    std::memmove(reinterpret_cast<void *>(target), reinterpret_cast<void *>(source), bytes);
    return success;
  });
}
DRIVER_CALL cuMemsetD8Async(DevicePointer target, unsigned char value, size_t bytes, StreamHandle stream) {
  return act(stream, [=] {
    if (!inside(world.device, target, bytes))
      return illegalAddress;
    std::memset(reinterpret_cast<void *>(target), value, bytes);
    return success;
  });
}

DRIVER_CALL cuStreamCreate(StreamHandle *stream, unsigned) {
  return current.empty() ? invalidContext : (*stream = make<StreamTag>(), success);
}
DRIVER_CALL cuStreamDestroy_v2(StreamHandle stream) { return destroy(stream); }
DRIVER_CALL cuStreamSynchronize(StreamHandle stream) {
  bool captures = reinterpret_cast<uintptr_t>(stream) > 2 && stream->capture;
  return current.empty() ? invalidContext : captures ? captureUnsupported : success;
}
DRIVER_CALL cuStreamBeginCapture_v2(StreamHandle stream, CaptureMode) {
  if (reinterpret_cast<uintptr_t>(stream) <= 2 || stream->capture)
    return captureUnsupported;
  stream->capture = make<GraphTag>();
  return success;
}
DRIVER_CALL cuStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  *graph = stream->capture;
  stream->capture = nullptr;
  return *graph ? success : invalidValue;
}
DRIVER_CALL cuGraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle graph, unsigned long long) {
  *exec = make<GraphExecTag>(graph->nodes);
  return success;
}
DRIVER_CALL cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  return act(stream, [=] {
    for (const auto &node : exec->nodes)
      if (Result result = node(); result != success)
        return result;
    return success;
  });
}
DRIVER_CALL cuGraphExecDestroy(GraphExecHandle exec) { return destroy(exec); }
DRIVER_CALL cuGraphDestroy(GraphHandle graph) { return destroy(graph); }

DRIVER_CALL cuModuleLoadDataEx(ModuleHandle *module, const void *image, unsigned count, JitOption *options, void **values) {
  std::string text = static_cast<const char *>(image);
  auto *loaded = make<ModuleTag>();
  constexpr std::string_view mark = ".visible .entry ";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    std::string name = text.substr(at + mark.size(), text.find('(', at) - at - mark.size());
    loaded->functions[name].name = name;
  }
  *module = loaded;
  if (!loaded->functions.empty())
    return success;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == ErrorLogBuffer)
      std::strcpy(static_cast<char *>(values[i]), "ptxas fatal: no kernel here\n");
  destroy(loaded);
  return invalidPtx;
}
DRIVER_CALL cuModuleUnload(ModuleHandle module) { return destroy(module); }
DRIVER_CALL cuModuleGetFunction(FunctionHandle *function, ModuleHandle module, const char *name) {
  auto found = module->functions.find(name);
  return found == module->functions.end() ? notFound : (*function = &found->second, success);
}
DRIVER_CALL cuFuncSetAttribute(FunctionHandle function, FunctionAttribute attribute, int value) {
  if (attribute == MaxDynamicSharedSizeBytes)
    function->dynamicSharedBytes = value;
  return success;
}
DRIVER_CALL cuLaunchKernelEx(const LaunchConfig *config, FunctionHandle function, void **parameters, void **extra) {
  unsigned threads = config->block[0] * config->block[1] * config->block[2];
  if (threads == 0 || threads > 1024 || extra ||
      config->sharedBytes > std::max(48u << 10, static_cast<unsigned>(function->dynamicSharedBytes)))
    return invalidValue;
  for (const auto &kernel : kernels)
    if (function->name == kernel.name) {
      KernelCall call = {{}, {config->grid[0], config->grid[1], config->grid[2]}};
      for (size_t i = 0; i < kernel.parameters; ++i)
        call.parameters.push_back(*static_cast<uint64_t *>(parameters[i])); // a launch takes its parameters' values at once
      return act(config->stream, [run = kernel.run, call] { return run(call), success; });
    }
  return notFound;
}

DRIVER_CALL cuEventCreate(EventHandle *event, unsigned) { return current.empty() ? invalidContext : (*event = make<EventTag>(), success); }
DRIVER_CALL cuEventDestroy_v2(EventHandle event) { return destroy(event); }
DRIVER_CALL cuEventRecord(EventHandle event, StreamHandle stream) {
  return act(stream, [=] {
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
    return success;
  });
}
DRIVER_CALL cuEventElapsedTime(float *milliseconds, EventHandle from, EventHandle to) {
  if (!from->recorded || !to->recorded)
    return invalidValue;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return success;
}
