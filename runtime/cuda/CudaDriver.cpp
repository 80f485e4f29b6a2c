// SPDX-License-Identifier: Apache-2.0
// NVIDIA's driver: primary contexts, PTX, clusters of blocks.
#include "runtime/cuda/CudaDriver.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <span>

namespace tilewright::runtime::cuda {

static constexpr gpu::Symbols symbols = {
#define X(member, cuda, hip, parameters) #cuda,
    TILEWRIGHT_GPU_FUNCTIONS(X)
#undef X
};
static constexpr gpu::Vendor nvidia = {"NVIDIA", "cuda", symbols, "CUDA_LAUNCH_BLOCKING", UINT64_MAX, true};

/// Compute capabilities whose code this runtime looks for, newest first. Code for an older one runs on a newer GPU (as
/// PTX, compiled by the driver), code with the suffix "a" only on its own.
static constexpr int capabilities[] = {120, 100, 90, 89, 86, 80};
static constexpr int withOwnFeatures[] = {120, 100, 90};

std::vector<std::string> targetsOf(int capability) {
  std::vector<std::string> targets;
  for (int known : capabilities) {
    if (known > capability)
      continue;
    if (known == capability && std::ranges::count(withOwnFeatures, known))
      targets.push_back(fmt::format("sm_{}a", known));
    targets.push_back(fmt::format("sm_{}", known));
  }
  return targets;
}

Driver::Driver() : gpu::Driver(nvidia) {}

Status Driver::open() {
  static constexpr const char *libraries[] = {"libcuda.so.1"};
  return gpu::openDriver(*this, libraries, "CUDA 11.8", "install it, or run on the device 'host'");
}

const char *Driver::findFunctions(void *library) {
  const char *missing = gpu::Driver::findFunctions(library);
#define X(member, symbol, parameters)                                                                                  \
  member = reinterpret_cast<decltype(member)>(::dlsym(library, #symbol));                                              \
  missing = member ? missing : #symbol;
  TILEWRIGHT_CUDA_FUNCTIONS(X)
#undef X
  encodeTensorMap = reinterpret_cast<EncodeTensorMap>(::dlsym(library, "cuTensorMapEncodeTiled"));
  encodePixelMap = reinterpret_cast<EncodePixelMap>(::dlsym(library, "cuTensorMapEncodeIm2col"));
  return missing;
}

const char *Driver::nameOf(Result result) const {
  const char *name = nullptr;
  getErrorName(result, &name);
  return name;
}

const char *Driver::textOf(Result result) const {
  const char *text = nullptr;
  getErrorString(result, &text);
  return text;
}

Status Driver::describe(DeviceOrdinal device, DeviceInfo &info, uint64_t &sharedBytes) const {
  int major = 0, minor = 0, shared = 0;
  for (auto [attribute, value] : {std::pair(ComputeCapabilityMajor, &major),
                                  {ComputeCapabilityMinor, &minor},
                                  {MultiprocessorCount, &info.processors},
                                  {MaxSharedPerBlockOptin, &shared}})
    TILEWRIGHT_GPU_TRY(*this, deviceGetAttribute, "asking what the GPU is", value, attribute, device);
  info.targets = targetsOf(major * 10 + minor);
  info.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10); // 13000 is 13.0
  sharedBytes = static_cast<uint64_t>(shared);
  if (info.targets.empty())
    return {Code::Device,
            fmt::format("{} has compute capability {}.{}, at least 8.0 is needed", info.name, major, minor)};
  return {};
}

Status Driver::retain(gpu::Context &context) const {
  return check(primaryContextRetain(&context.handle, context.device), "cuDevicePrimaryCtxRetain", "opening the GPU");
}

void Driver::release(gpu::Context &context) const { primaryContextRelease(context.device); }

Status Driver::enter(const gpu::Context &context, int &) const {
  return check(contextPush(context.handle), "cuCtxPushCurrent_v2", "turning to the GPU");
}

void Driver::leave(int) const {
  ContextHandle popped = nullptr;
  contextPop(&popped);
}

Status Driver::load(const CodeObject &code, const DeviceInfo &device, gpu::ModuleHandle &module) const {
  std::string image(reinterpret_cast<const char *>(code.bytes.data()), code.bytes.size()); // PTX must end with a zero
  char log[4096] = {};
  gpu::JitOption options[] = {gpu::ErrorLogBuffer, gpu::ErrorLogBufferSizeBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  Result result = moduleLoad(&module, image.c_str(), std::size(options), options, values);
  if (result == gpu::success)
    return {};
  std::string advice = result == unsupportedPtx   ? "; this PTX is newer than the driver: update the driver"
                       : result == noBinaryForGpu ? "; compile again for this GPU"
                                                  : "";
  std::string firstLines = std::string(log).substr(0, 600);
  std::ranges::replace(firstLines, '\n', ' ');
  Status status =
      check(result, vendor.symbols.moduleLoad, fmt::format("loading code for {} on {}", code.target, device.name));
  return {Code::Device, fmt::format("{}{}{}{}", status.message(), advice, firstLines.empty() ? "" : ": ", firstLines)};
}

Status Driver::prepare(FunctionHandle function, const Kernel &kernel) const {
  auto set = [&](FunctionAttribute attribute, uint32_t value) {
    return check(functionSetAttribute(function, attribute, static_cast<int>(value)), "cuFuncSetAttribute",
                 fmt::format("preparing kernel '{}'", kernel.name));
  };
  if (kernel.dynamicSharedBytes != 0)
    TILEWRIGHT_TRY(set(MaxDynamicSharedSizeBytes, kernel.dynamicSharedBytes));
  constexpr unsigned portableCluster = 8; // the most blocks that all GPUs with clusters support
  if (kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2] > portableCluster)
    TILEWRIGHT_TRY(set(NonPortableClusterSizeAllowed, 1));
  return {};
}

/// The swizzle of a box that wgmma reads: that of its rows, which have 128, 64 or 32 bytes.
static int swizzleOf(uint32_t rowBytes) {
  enum Swizzle { Swizzle32 = 1, Swizzle64 = 2, Swizzle128 = 3 };
  return rowBytes <= 32 ? Swizzle32 : rowBytes <= 64 ? Swizzle64 : Swizzle128;
}

/// Rows of a box have the swizzle that wgmma reads; elements outside of the tensor are zero. Elements
/// are only moved, so unsigned integers of their width stand for their type. If the map says `rounded`, the copy engine
/// rounds f32 to tf32: to nearest even, subnormals and NaN included, as observed on an H100.
Status Driver::encode(const TensorMapArgs &map, const std::string &kernel, void *encoded) const {
  enum Type { UInt8 = 0, UInt16 = 1, UInt32 = 2, UInt64 = 4, TFloat32 = 11 };
  enum { InterleaveNone = 0, PromoteTo256 = 3, FillZero = 0 };
  if (!encodeTensorMap || !encodePixelMap)
    return {Code::Device, fmt::format("kernel '{}' needs the driver of CUDA 12.0 or newer; update the driver", kernel)};
  uint32_t bytes = elementBytes(map.type);
  std::array<uint64_t, maxTensorMapRank> sizes = {}, strides = {};
  std::array<uint32_t, maxTensorMapRank> steps = {1, 1, 1, 1, 1};
  for (size_t d = 0; d < map.rank; ++d) {
    sizes[d] = static_cast<uint64_t>(std::max<int64_t>(map.sizes[d], 1)); // an empty tensor is never read
    strides[d] = static_cast<uint64_t>(map.strides[d]) * bytes;
  }
  auto type = map.rounded ? TFloat32 : bytes == 1 ? UInt8 : bytes == 2 ? UInt16 : bytes == 4 ? UInt32 : UInt64;
  auto rank = static_cast<unsigned>(map.rank);
  std::byte *start = static_cast<std::byte *>(map.buffer) + map.start * bytes;
  int swizzle = swizzleOf(map.box[0] * bytes);
  std::string doing = fmt::format("preparing the copies of kernel '{}'", kernel);
  if (!map.arePixels)
    return check(encodeTensorMap(encoded, type, rank, start, sizes.data(), strides.data() + 1, map.box.data(),
                                 steps.data(), InterleaveNone, swizzle, PromoteTo256, FillZero),
                 "cuTensorMapEncodeTiled", doing);
  std::ranges::copy(std::span(map.steps).first(map.rank - 2), steps.begin() + 1);
  return check(encodePixelMap(encoded, type, rank, start, sizes.data(), strides.data() + 1, map.lower.data(),
                              map.upper.data(), map.box[0], map.box[1], steps.data(), InterleaveNone, swizzle,
                              PromoteTo256, FillZero),
               "cuTensorMapEncodeIm2col", doing);
}

Status Driver::launch(FunctionHandle function, const LaunchArgs &args, StreamHandle stream, void **parameters) const {
  const Kernel &kernel = *args.kernel;
  LaunchConfig config = {};
  for (size_t i = 0; i < 3; ++i) {
    config.grid[i] = static_cast<unsigned>(args.grid[i]);
    config.block[i] = kernel.block[i];
  }
  config.sharedBytes = kernel.dynamicSharedBytes;
  config.stream = stream;
  std::array<LaunchAttribute, 2> attributes = {};
  config.attributes = attributes.data();
  if (kernel.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
    LaunchAttribute &cluster = attributes[config.attributeCount++];
    cluster.id = clusterDimension;
    std::ranges::copy(kernel.cluster, cluster.value.cluster);
  }
  if (kernel.flags & Kernel::startsEarly && version >= overlapsInGraphs) {
    LaunchAttribute &overlap = attributes[config.attributeCount++];
    overlap.id = programmaticOverlap;
    overlap.value.startsEarly = 1;
  }
  return check(launchKernel(&config, function, parameters, nullptr), "cuLaunchKernelEx",
               fmt::format("launching kernel '{}'", kernel.name));
}

} // namespace tilewright::runtime::cuda
