// SPDX-License-Identifier: Apache-2.0
// The functions that both libraries have, exported under the names of one.
#include "tests/gpu-stand-in/StandIn.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace tilewright::test::standin {

World world;

static size_t calls;
static const std::string *injectedInto = nullptr;

size_t setting(const char *name, size_t otherwise) {
  const char *value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

Result called(const std::string &name) {
  std::scoped_lock lock(world.mutex);
  ++calls;
  if (const char *path = std::getenv("STAND_IN_LOG"))
    if (std::FILE *file = std::fopen(path, "a")) {
      std::fprintf(file, "%s\n", name.c_str());
      std::fclose(file);
    }
  const char *fails = std::getenv("STAND_IN_FAIL");
  if (injectedInto || !fails || (name != fails && std::to_string(calls) != fails))
    return success;
  injectedInto = new std::string(name);
  return unknown;
}

World::~World() {
  // After an injected failure, what the failed call would have freed may remain.
  if (injectedInto || (device.empty() && pinned.empty() && handles.empty() && retained == 0))
    return;
  std::fprintf(stderr, "left over in the driver: %zu device allocations, %zu pinned ones, %zu handles, %d contexts\n",
               device.size(), pinned.size(), handles.size(), retained);
  ::_exit(9);
}

static size_t deviceBytes() { return setting("STAND_IN_MEMORY", size_t(1) << 33); }

static bool inside(const std::map<const void *, size_t> &allocations, const void *address, size_t bytes) {
  std::scoped_lock lock(world.mutex);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return false;
  auto [start, size] = *std::prev(after);
  size_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(start);
  return offset <= size && bytes <= size - offset;
}

/// Whether the stream is capturing; 1 and 2 are the default streams, which cannot.
static bool captures(StreamHandle stream) { return reinterpret_cast<uintptr_t>(stream) > 2 && stream->capture; }

/// Runs `work` now, or records it if the stream is capturing.
static Result act(StreamHandle stream, std::function<Result()> work) {
  if (Result current = deviceIsCurrent(); current != success)
    return current;
  if (!captures(stream))
    return work();
  stream->capture->nodes.push_back(std::move(work));
  return success;
}

} // namespace tilewright::test::standin

using namespace tilewright::test::standin;

DRIVER_CALL(cuInit, hipInit)(unsigned flags) {
  CALLED;
  return flags == 0 ? success : invalidValue;
}
DRIVER_CALL(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
  CALLED;
  return *count = static_cast<int>(setting("STAND_IN_DEVICES", 1)), success;
}
DRIVER_CALL(cuDeviceGet, hipDeviceGet)(DeviceOrdinal *device, int ordinal) {
  CALLED;
  return *device = ordinal, ordinal < static_cast<int>(setting("STAND_IN_DEVICES", 1)) ? success : invalidDevice;
}
DRIVER_CALL(cuDeviceGetName, hipDeviceGetName)(char *name, int bytes, DeviceOrdinal) {
  CALLED;
  return std::snprintf(name, static_cast<size_t>(bytes), "Stand-in GPU"), success;
}
DRIVER_CALL(cuDeviceTotalMem_v2, hipDeviceTotalMem)(size_t *bytes, DeviceOrdinal) {
  CALLED;
  return *bytes = deviceBytes(), success;
}

DRIVER_CALL(cuMemGetInfo_v2, hipMemGetInfo)(size_t *freeBytes, size_t *totalBytes) {
  CALLED;
  std::scoped_lock lock(world.mutex);
  *totalBytes = deviceBytes();
  return *freeBytes = *totalBytes - world.bytes, success;
}
DRIVER_CALL(cuMemAlloc_v2, hipMalloc)(DevicePointer *pointer, size_t bytes) {
  CALLED;
  if (Result current = deviceIsCurrent(); current != success)
    return current;
  if (bytes == 0)
    return invalidValue;
  std::scoped_lock lock(world.mutex);
  if (bytes > deviceBytes() - world.bytes)
    return outOfMemory;
  *pointer = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(*pointer, 0xa5, bytes); // poisons it, so that reads of unwritten memory are detected
  world.device[*pointer] = bytes;
  world.bytes += bytes;
  return success;
}
DRIVER_CALL(cuMemFree_v2, hipFree)(DevicePointer pointer) {
  CALLED;
  std::scoped_lock lock(world.mutex);
  auto found = world.device.find(pointer);
  if (deviceIsCurrent() != success || found == world.device.end())
    return invalidValue;
  world.bytes -= found->second;
  world.device.erase(found);
  std::free(pointer);
  return success;
}
DRIVER_CALL(cuMemHostAlloc, hipHostMalloc)(void **pointer, size_t bytes, unsigned flags) {
  CALLED;
  if (Result current = deviceIsCurrent(); current != success)
    return current;
  *pointer = std::malloc(bytes);
  std::scoped_lock lock(world.mutex);
  world.pinned[*pointer] = bytes;
  return flags == 0 ? success : invalidValue;
}
DRIVER_CALL(cuMemFreeHost, hipHostFree)(void *pointer) {
  CALLED;
  std::scoped_lock lock(world.mutex);
  if (deviceIsCurrent() != success || !world.pinned.erase(pointer))
    return invalidValue;
  std::free(pointer);
  return success;
}

DRIVER_CALL(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync)(DevicePointer target, const void *source, size_t bytes,
                                                      StreamHandle stream) {
  CALLED;
  if (captures(stream) && !inside(world.pinned, source, bytes))
    return captureUnsupported; // host memory may be freed before the graph runs
  return act(stream, [=] {
    if (!inside(world.device, target, bytes))
      return illegalAddress;
    std::memcpy(target, source, bytes);
    return success;
  });
}
DRIVER_CALL(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync)(void *target, DevicePointer source, size_t bytes,
                                                      StreamHandle stream) {
  CALLED;
  return act(stream, [=] {
    if (!inside(world.device, source, bytes))
      return illegalAddress;
    std::memcpy(target, source, bytes);
    return success;
  });
}
DRIVER_CALL(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync)(DevicePointer target, DevicePointer source, size_t bytes,
                                                      StreamHandle stream) {
  CALLED;
  return act(stream, [=] {
    if (!inside(world.device, source, bytes) || !inside(world.device, target, bytes))
      return illegalAddress;
    std::memmove(target, source, bytes);
    return success;
  });
}
DRIVER_CALL(cuMemsetD8Async, hipMemsetD8Async)(DevicePointer target, unsigned char value, size_t bytes,
                                               StreamHandle stream) {
  CALLED;
  return act(stream, [=] {
    if (!inside(world.device, target, bytes))
      return illegalAddress;
    std::memset(target, value, bytes);
    return success;
  });
}

DRIVER_CALL(cuStreamCreate, hipStreamCreateWithFlags)(StreamHandle *stream, unsigned) {
  CALLED;
  Result current = deviceIsCurrent();
  return current == success ? (*stream = make<StreamTag>(), success) : current;
}
DRIVER_CALL(cuStreamDestroy_v2, hipStreamDestroy)(StreamHandle stream) {
  CALLED;
  return destroy(stream);
}
DRIVER_CALL(cuStreamSynchronize, hipStreamSynchronize)(StreamHandle stream) {
  CALLED;
  Result current = deviceIsCurrent();
  return current != success ? current
         : captures(stream) ? captureUnsupported
         : world.faulted    ? illegalAddress
                            : success;
}
DRIVER_CALL(cuStreamBeginCapture_v2, hipStreamBeginCapture)(StreamHandle stream, CaptureMode) {
  CALLED;
  if (reinterpret_cast<uintptr_t>(stream) <= 2 || stream->capture)
    return captureUnsupported;
  stream->capture = make<GraphTag>();
  return success;
}
DRIVER_CALL(cuStreamEndCapture, hipStreamEndCapture)(StreamHandle stream, GraphHandle *graph) {
  CALLED;
  *graph = stream->capture;
  stream->capture = nullptr;
  return *graph ? success : invalidValue;
}
DRIVER_CALL(cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags)(GraphExecHandle *exec, GraphHandle graph,
                                                                       unsigned long long) {
  CALLED;
  *exec = make<GraphExecTag>(graph->nodes);
  return success;
}
DRIVER_CALL(cuGraphLaunch, hipGraphLaunch)(GraphExecHandle exec, StreamHandle stream) {
  CALLED;
  return act(stream, [=] {
    for (const auto &node : exec->nodes)
      if (Result result = node(); result != success)
        return result;
    return success;
  });
}
DRIVER_CALL(cuGraphExecDestroy, hipGraphExecDestroy)(GraphExecHandle exec) {
  CALLED;
  return destroy(exec);
}
DRIVER_CALL(cuGraphDestroy, hipGraphDestroy)(GraphHandle graph) {
  CALLED;
  return destroy(graph);
}

DRIVER_CALL(cuModuleLoadDataEx, hipModuleLoadDataEx)
(ModuleHandle *module, const void *image, unsigned count, JitOption *options, void **values) {
  CALLED;
  Result why = success;
  std::string log;
  std::set<std::string> names = kernelsOf(image, why, log);
  for (unsigned i = 0; i < count && why != success; ++i)
    if (options[i] == ErrorLogBuffer)
      std::strcpy(static_cast<char *>(values[i]), log.c_str());
  if (why != success)
    return why;
  *module = make<ModuleTag>();
  for (const std::string &name : names)
    (*module)->functions[name].name = name;
  return success;
}
DRIVER_CALL(cuModuleUnload, hipModuleUnload)(ModuleHandle module) {
  CALLED;
  return destroy(module);
}
DRIVER_CALL(cuModuleGetFunction, hipModuleGetFunction)(FunctionHandle *function, ModuleHandle module,
                                                       const char *name) {
  CALLED;
  auto found = module->functions.find(name);
  return found == module->functions.end() ? notFound : (*function = &found->second, success);
}

DRIVER_CALL(cuFuncGetAttribute, hipFuncGetAttribute)(int *value, ResourceAttribute attribute, FunctionHandle function) {
  CALLED;
  if (attribute != Registers && attribute != LocalBytes)
    return invalidValue;
  const char *spills = std::getenv("STAND_IN_SPILLS");
  bool isSpilled = spills && function->name == spills;
  *value = attribute == Registers ? 64 : isSpilled ? 24 : 0;
  return success;
}

DRIVER_CALL(cuEventCreate, hipEventCreateWithFlags)(EventHandle *event, unsigned) {
  CALLED;
  Result current = deviceIsCurrent();
  return current == success ? (*event = make<EventTag>(), success) : current;
}
DRIVER_CALL(cuEventDestroy_v2, hipEventDestroy)(EventHandle event) {
  CALLED;
  return destroy(event);
}
DRIVER_CALL(cuEventRecord, hipEventRecord)(EventHandle event, StreamHandle stream) {
  CALLED;
  return act(stream, [=] {
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
    return success;
  });
}
DRIVER_CALL(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds, EventHandle from, EventHandle to) {
  CALLED;
  if (!from->recorded || !to->recorded)
    return invalidValue;
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return success;
}
