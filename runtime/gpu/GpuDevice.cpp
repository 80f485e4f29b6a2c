// SPDX-License-Identifier: Apache-2.0
// Memory, modules and streams of a GPU.
#include "runtime/gpu/GpuDevice.h"

#include "runtime/cuda/CudaDriver.h"
#include "runtime/gpu/GpuStream.h"
#include "runtime/hip/HipDriver.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::runtime {

using namespace gpu;

namespace {

class GpuModule : public Module {
public:
  GpuModule(std::shared_ptr<gpu::Context> context, ModuleHandle handle)
      : context_(std::move(context)), handle_(handle) {}
  ~GpuModule() override {
    Scope scope(*context_);
    context_->driver.moduleUnload(handle_);
  }

  Expected<KernelHandle> kernel(const Kernel &kernel) override {
    TILEWRIGHT_GPU_ENTER(*context_);
    const Driver &driver = context_->driver;
    FunctionHandle function = nullptr;
    TILEWRIGHT_GPU_TRY(driver, moduleGetFunction, fmt::format("preparing kernel '{}'", kernel.name), &function, handle_,
                       kernel.entry.c_str());
    uint64_t shared = uint64_t(kernel.staticSharedBytes) + kernel.dynamicSharedBytes;
    if (shared > context_->sharedBytes)
      return Status(Code::Device, fmt::format("kernel '{}' needs {} bytes of shared memory, {} has {} for a block",
                                              kernel.name, shared, context_->name, context_->sharedBytes));
    TILEWRIGHT_TRY(driver.prepare(function, kernel));
    return static_cast<KernelHandle>(function);
  }

  Expected<std::optional<KernelResources>> resources(const Kernel &kernel, KernelHandle handle) override {
    TILEWRIGHT_GPU_ENTER(*context_);
    auto *function = static_cast<FunctionHandle>(const_cast<void *>(handle));
    KernelResources found;
    for (auto [attribute, value] : {std::pair(Registers, &found.registers), {LocalBytes, &found.spilledBytes}})
      TILEWRIGHT_GPU_TRY(context_->driver, functionGetAttribute, fmt::format("asking about kernel '{}'", kernel.name),
                         value, attribute, function);
    return std::optional(found);
  }

private:
  std::shared_ptr<gpu::Context> context_;
  ModuleHandle handle_;
};

class GpuDevice : public Device {
public:
  GpuDevice(std::shared_ptr<gpu::Context> context, DeviceInfo info)
      : context_(std::move(context)), info_(std::move(info)) {}

  const DeviceInfo &info() const override { return info_; }

  Expected<std::shared_ptr<void>> allocate(size_t bytes) override {
    TILEWRIGHT_GPU_ENTER(*context_);
    const Driver &driver = context_->driver;
    DevicePointer pointer = nullptr;
    Result result = driver.memAlloc(&pointer, std::max<size_t>(bytes, 1));
    if (result == outOfMemory) {
      size_t freeBytes = 0, totalBytes = 0;
      driver.memGetInfo(&freeBytes, &totalBytes);
      return Status(Code::Device,
                    fmt::format("{} has {} of its {} bytes free, {} are needed; use smaller inputs or free memory",
                                info_.name, freeBytes, totalBytes, bytes));
    }
    TILEWRIGHT_TRY(driver.check(result, driver.symbols.memAlloc, fmt::format("allocating {} bytes", bytes)));
    return std::shared_ptr<void>(pointer, [context = context_](void *memory) {
      Scope freeing(*context);
      context->driver.memFree(memory);
    });
  }

  Expected<std::shared_ptr<void>> allocateStaging(size_t bytes) override { return context_->allocatePinned(bytes); }

  Expected<std::unique_ptr<Module>> loadModule(const CodeObject &code) override {
    TILEWRIGHT_GPU_ENTER(*context_);
    ModuleHandle handle = nullptr;
    TILEWRIGHT_TRY(context_->driver.load(code, info_, handle));
    return std::unique_ptr<Module>(std::make_unique<GpuModule>(context_, handle));
  }

  Expected<std::unique_ptr<Stream>> createStream(void *external) override {
    return GpuStream::create(context_, static_cast<StreamHandle>(external));
  }

private:
  std::shared_ptr<gpu::Context> context_;
  DeviceInfo info_;
};

Expected<std::shared_ptr<Device>> openGpu(const Driver &driver, int ordinal) {
  Expected<std::shared_ptr<gpu::Context>> opened = openGpuContext(driver, ordinal);
  TILEWRIGHT_TRY(opened);
  gpu::Context &context = **opened;
  std::string what = fmt::format("opening GPU number {}", ordinal);
  char name[256] = {};
  size_t bytes = 0;
  TILEWRIGHT_GPU_TRY(driver, deviceGetName, what, name, sizeof name, context.device);
  TILEWRIGHT_GPU_TRY(driver, deviceTotalMem, what, &bytes, context.device);
  DeviceInfo info;
  info.id = fmt::format("{}:{}", driver.vendor.kind, ordinal);
  info.name = context.name = name;
  info.memoryBytes = bytes;
  TILEWRIGHT_TRY(driver.describe(context.device, info, context.sharedBytes));
  return std::shared_ptr<Device>(std::make_shared<GpuDevice>(std::move(*opened), std::move(info)));
}

template <typename Kind> Expected<std::shared_ptr<Device>> openKind(int ordinal) {
  Expected<const Kind *> driver = openOnce<Kind>();
  TILEWRIGHT_TRY(driver);
  return openGpu(**driver, ordinal);
}

} // namespace

Expected<std::shared_ptr<gpu::Context>> openGpuContext(const Driver &driver, int ordinal) {
  int count = 0;
  TILEWRIGHT_GPU_TRY(driver, deviceGetCount, "counting GPUs", &count);
  if (ordinal >= count)
    return Status(Code::Device,
                  fmt::format("there is no GPU number {}: the {} driver sees {}", ordinal, driver.vendor.name, count));
  auto context = std::make_shared<gpu::Context>(driver);
  TILEWRIGHT_GPU_TRY(driver, deviceGet, fmt::format("opening GPU number {}", ordinal), &context->device, ordinal);
  TILEWRIGHT_TRY(driver.retain(*context));
  context->retained = true;
  return context;
}

Expected<std::shared_ptr<Device>> openCudaDevice(int ordinal) { return openKind<cuda::Driver>(ordinal); }
Expected<std::shared_ptr<Device>> openHipDevice(int ordinal) { return openKind<hip::Driver>(ordinal); }

} // namespace tilewright::runtime
