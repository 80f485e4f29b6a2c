// A GPU's primary context, shared with whatever else in this process uses the GPU; streams of ours, or the caller's.
#include "runtime/cuda/CudaDevice.h"

#include "runtime/cuda/CudaStream.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::runtime {

using namespace cuda;

namespace {

/// Compute capabilities whose code this runtime looks for, newest first. Code for an older one runs on a newer GPU (as PTX, compiled by
/// the driver), code with the suffix "a" only on its own.
constexpr int capabilities[] = {120, 100, 90, 89, 86, 80};
constexpr int withOwnFeatures[] = {120, 100, 90};

class CudaModule : public Module {
public:
  CudaModule(std::shared_ptr<CudaContext> context, ModuleHandle handle) : context_(std::move(context)), handle_(handle) {}
  ~CudaModule() override {
    CudaScope scope(*context_);
    context_->driver.moduleUnload(handle_);
  }

  Expected<KernelHandle> kernel(const Kernel &kernel) override {
    CudaScope scope(*context_);
    const Driver &driver = context_->driver;
    FunctionHandle function = nullptr;
    std::string what = fmt::format("preparing kernel '{}'", kernel.name);
    TILEWRIGHT_CUDA_TRY(driver, moduleGetFunction, what, &function, handle_, kernel.entry.c_str());
    uint64_t shared = uint64_t(kernel.staticSharedBytes) + kernel.dynamicSharedBytes;
    if (shared > context_->sharedBytes)
      return Status(Code::Device, fmt::format("kernel '{}' needs {} bytes of shared memory, {} has {} for a block", kernel.name, shared,
                                              context_->name, context_->sharedBytes));
    if (kernel.dynamicSharedBytes != 0)
      TILEWRIGHT_CUDA_TRY(driver, functionSetAttribute, what, function, MaxDynamicSharedSizeBytes,
                          static_cast<int>(kernel.dynamicSharedBytes));
    if (kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2] > 8) // the most that every GPU with clusters has
      TILEWRIGHT_CUDA_TRY(driver, functionSetAttribute, what, function, NonPortableClusterSizeAllowed, 1);
    return static_cast<KernelHandle>(function);
  }

private:
  std::shared_ptr<CudaContext> context_;
  ModuleHandle handle_;
};

class CudaDevice : public Device {
public:
  CudaDevice(std::shared_ptr<CudaContext> context, DeviceInfo info) : context_(std::move(context)), info_(std::move(info)) {}

  const DeviceInfo &info() const override { return info_; }

  Expected<std::shared_ptr<void>> allocate(size_t bytes) override {
    CudaScope scope(*context_);
    DevicePointer pointer = 0;
    Result result = context_->driver.memAlloc(&pointer, std::max<size_t>(bytes, 1));
    if (result == outOfMemory) {
      size_t freeBytes = 0, totalBytes = 0;
      context_->driver.memGetInfo(&freeBytes, &totalBytes);
      return Status(Code::Device, fmt::format("{} has {} of its {} bytes free, {} are needed; use smaller inputs or free memory",
                                              info_.name, freeBytes, totalBytes, bytes));
    }
    TILEWRIGHT_TRY(context_->driver.check(result, "memAlloc", fmt::format("allocating {} bytes", bytes)));
    return std::shared_ptr<void>(reinterpret_cast<void *>(pointer), [context = context_](void *memory) {
      CudaScope freeing(*context);
      context->driver.memFree(reinterpret_cast<DevicePointer>(memory));
    });
  }

  Expected<std::shared_ptr<void>> allocateStaging(size_t bytes) override { return context_->allocatePinned(bytes); }

  Expected<std::unique_ptr<Module>> loadModule(const CodeObject &code) override {
    CudaScope scope(*context_);
    std::string image(reinterpret_cast<const char *>(code.bytes.data()), code.bytes.size()); // PTX must end with a zero
    char log[4096] = {};
    JitOption options[] = {ErrorLogBuffer, ErrorLogBufferSizeBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    ModuleHandle handle = nullptr;
    Result result = context_->driver.moduleLoad(&handle, image.c_str(), std::size(options), options, values);
    if (result != success) {
      std::string advice = result == unsupportedPtx   ? "; this PTX is newer than the driver: update the driver"
                           : result == noBinaryForGpu ? "; compile again for this GPU"
                                                      : "";
      std::string firstLines = std::string(log).substr(0, 600);
      std::ranges::replace(firstLines, '\n', ' ');
      Status status = context_->driver.check(result, "moduleLoad", fmt::format("loading code for {} on {}", code.target, info_.name));
      return Status(Code::Device, fmt::format("{}{}{}{}", status.message(), advice, firstLines.empty() ? "" : ": ", firstLines));
    }
    return std::unique_ptr<Module>(std::make_unique<CudaModule>(context_, handle));
  }

  Expected<std::unique_ptr<Stream>> createStream(void *external) override {
    return CudaStream::create(context_, static_cast<StreamHandle>(external));
  }

private:
  std::shared_ptr<CudaContext> context_;
  DeviceInfo info_;
};

} // namespace

CudaContext::~CudaContext() {
  if (handle)
    driver.primaryContextRelease(device);
}

Expected<std::shared_ptr<void>> CudaContext::allocatePinned(size_t bytes) {
  CudaScope scope(*this);
  void *memory = nullptr;
  TILEWRIGHT_CUDA_TRY(driver, memAllocHost, fmt::format("allocating {} bytes of pinned host memory", bytes), &memory,
                      std::max<size_t>(bytes, 1));
  return std::shared_ptr<void>(memory, [context = shared_from_this()](void *pinned) {
    CudaScope freeing(*context);
    context->driver.memFreeHost(pinned);
  });
}

std::vector<std::string> cudaTargets(int capability) {
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

Expected<std::shared_ptr<Device>> openCudaDevice(int ordinal) {
  Expected<const Driver *> opened = Driver::open();
  TILEWRIGHT_TRY(opened);
  const Driver &driver = **opened;
  int count = 0;
  TILEWRIGHT_CUDA_TRY(driver, deviceGetCount, "counting GPUs", &count);
  if (ordinal >= count)
    return Status(Code::Device, fmt::format("there is no GPU number {}: the NVIDIA driver sees {}", ordinal, count));
  auto context = std::make_shared<CudaContext>(driver);
  std::string what = fmt::format("opening GPU number {}", ordinal);
  TILEWRIGHT_CUDA_TRY(driver, deviceGet, what, &context->device, ordinal);
  char name[256] = {};
  size_t bytes = 0;
  int major = 0, minor = 0, processors = 0, sharedBytes = 0;
  TILEWRIGHT_CUDA_TRY(driver, deviceGetName, what, name, sizeof name, context->device);
  TILEWRIGHT_CUDA_TRY(driver, deviceTotalMem, what, &bytes, context->device);
  TILEWRIGHT_CUDA_TRY(driver, deviceGetAttribute, what, &major, ComputeCapabilityMajor, context->device);
  TILEWRIGHT_CUDA_TRY(driver, deviceGetAttribute, what, &minor, ComputeCapabilityMinor, context->device);
  TILEWRIGHT_CUDA_TRY(driver, deviceGetAttribute, what, &processors, MultiprocessorCount, context->device);
  TILEWRIGHT_CUDA_TRY(driver, deviceGetAttribute, what, &sharedBytes, MaxSharedPerBlockOptin, context->device);
  TILEWRIGHT_CUDA_TRY(driver, primaryContextRetain, what, &context->handle, context->device);
  context->name = name;
  context->sharedBytes = static_cast<uint64_t>(sharedBytes);
  DeviceInfo info;
  info.id = fmt::format("cuda:{}", ordinal);
  info.name = name;
  info.targets = cudaTargets(major * 10 + minor);
  info.memoryBytes = bytes;
  info.processors = processors;
  info.driver = fmt::format("CUDA {}.{}", driver.version / 1000, driver.version % 1000 / 10);
  if (info.targets.empty())
    return Status(Code::Device, fmt::format("{} has compute capability {}.{}, at least 8.0 is needed", info.name, major, minor));
  return std::shared_ptr<Device>(std::make_shared<CudaDevice>(std::move(context), std::move(info)));
}

} // namespace tilewright::runtime
