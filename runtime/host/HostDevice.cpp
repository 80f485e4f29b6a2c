// SPDX-License-Identifier: Apache-2.0
// Work runs synchronously on the calling thread and the pool, so a stream never has to wait.
#include "runtime/host/HostDevice.h"

#include "runtime/CpuFeatures.h"
#include "runtime/execute/HostMemory.h"
#include "runtime/execute/ThreadPool.h"
#include "runtime/host/CpuTuning.h"
#include "runtime/plan/KernelAbi.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace tilewright::runtime {
namespace {

constexpr int64_t copyChunk = int64_t(1) << 20; // bytes that a thread copies at a time

Expected<std::shared_ptr<void>> allocateHost(size_t bytes) {
  void *memory = allocateHostMemory(bytes);
  if (!memory)
    return Status(Code::Device, fmt::format("cannot allocate {} bytes of host memory; use smaller inputs", bytes));
  return std::shared_ptr<void>(memory, [](void *p) { std::free(p); });
}

class HostModule : public Module {
public:
  static Expected<std::unique_ptr<Module>> load(const CodeObject &code) {
    auto module = std::make_unique<HostModule>();
    module->symbols_ = code.symbols;
    module->bytes_ = std::max<size_t>(code.bytes.size(), 1);
    // Written first, then made executable: never both at once.
    void *memory = ::mmap(nullptr, module->bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return Status(Code::Device, fmt::format("cannot map {} bytes of code: {}", module->bytes_, std::strerror(errno)));
    module->base_ = static_cast<std::byte *>(memory);
    std::memcpy(module->base_, code.bytes.data(), code.bytes.size());
    if (::mprotect(memory, module->bytes_, PROT_READ | PROT_EXEC) != 0)
      return Status(Code::Device,
                    fmt::format("this system does not let code be made executable: {}", std::strerror(errno)));
    return std::unique_ptr<Module>(std::move(module));
  }

  ~HostModule() override {
    if (base_)
      ::munmap(base_, bytes_);
  }

  Expected<KernelHandle> kernel(const Kernel &kernel) override {
    auto symbol = std::ranges::find(symbols_, kernel.entry, &CodeSymbol::name);
    if (symbol == symbols_.end())
      return Status(Code::Internal, fmt::format("kernel '{}' has no entry '{}'", kernel.name, kernel.entry));
    return static_cast<KernelHandle>(base_ + symbol->offset);
  }

private:
  std::vector<CodeSymbol> symbols_;
  std::byte *base_ = nullptr;
  size_t bytes_ = 0;
};

/// -fsanitize=function would look for type information in front of the entry, which compiled kernels do not have.
__attribute__((no_sanitize("function"))) void call(HostKernel entry, const HostKernelArgs &args, int64_t first,
                                                   int64_t last) {
  entry(&args, first, last);
}

/// The same, from the last programs to the first ones, a sixteenth of them at a time. Within that they go forwards.
void callBackwards(HostKernel entry, const HostKernelArgs &args, int64_t first, int64_t last) {
  constexpr int64_t pieces = 16;
  int64_t size = std::max<int64_t>((last - first) / pieces, 1);
  for (int64_t end = last, begin = last; end > first; end = begin) {
    begin = std::max(first, end - size);
    call(entry, args, begin, end);
  }
}

class HostStream : public Stream {
public:
  Status copyIn(void *device, const void *host, size_t bytes) override { return copyWithin(device, host, bytes); }
  Status copyOut(void *host, const void *device, size_t bytes) override { return copyWithin(host, device, bytes); }
  Status copyWithin(void *target, const void *source, size_t bytes) override {
    auto size = static_cast<int64_t>(bytes);
    ThreadPool::instance().forRange((size + copyChunk - 1) / copyChunk, [&](int64_t first, int64_t last, int) {
      int64_t from = first * copyChunk, to = std::min(last * copyChunk, size);
      std::memcpy(static_cast<std::byte *>(target) + from, static_cast<const std::byte *>(source) + from,
                  static_cast<size_t>(to - from));
    });
    return {};
  }
  Status fill(void *device, uint8_t value, size_t bytes) override {
    std::memset(device, value, bytes);
    return {};
  }

  Status launch(const LaunchArgs &args) override {
    int64_t programs = 1;
    for (int64_t extent : args.grid)
      if (__builtin_mul_overflow(programs, extent, &programs))
        return {Code::Malformed,
                fmt::format("kernel '{}' has more programs than 64 bits count; use smaller inputs", args.kernel->name)};
    TILEWRIGHT_TRY(growWorkspaces(args.workspaceBytes));
    auto entry = reinterpret_cast<HostKernel>(const_cast<void *>(args.handle));
    ThreadPool::instance().forRange(programs, [&](int64_t first, int64_t last, int worker) {
      void *workspace = args.workspaceBytes ? workspaces_[static_cast<size_t>(worker)].get() : nullptr;
      HostKernelArgs kernelArgs = {args.buffers.data(), args.scalars.data(), args.grid.data(),
                                   workspace,           &errorWord_,         fetchAhead_};
      (args.backwards ? callBackwards : call)(entry, kernelArgs, first, last);
    });
    return {};
  }

  Expected<uint64_t> synchronize() override { return std::exchange(errorWord_, 0); }

  Status mark(size_t index) override {
    marks_.resize(std::max(marks_.size(), index + 1));
    marks_[index] = Clock::now();
    return {};
  }
  Expected<double> elapsed(size_t from, size_t to) override {
    return std::chrono::duration<double, std::milli>(marks_[to] - marks_[from]).count();
  }

private:
  using Clock = std::chrono::steady_clock;

  Status growWorkspaces(uint64_t bytes) {
    if (bytes <= workspaceBytes_)
      return {};
    workspaces_.clear();
    workspaceBytes_ = 0;
    for (int worker = 0; worker < ThreadPool::instance().threads(); ++worker) {
      Expected<std::shared_ptr<void>> memory = allocateHost(bytes);
      TILEWRIGHT_TRY(memory);
      workspaces_.push_back(*memory);
    }
    workspaceBytes_ = bytes;
    return {};
  }

  std::vector<std::shared_ptr<void>> workspaces_; // one for each thread of the pool
  uint64_t workspaceBytes_ = 0;
  uint64_t errorWord_ = 0;
  int64_t fetchAhead_ = weightFetchDistance();
  std::vector<Clock::time_point> marks_;
};

class HostDevice : public Device {
public:
  HostDevice() {
    info_.id = "host";
    info_.name = cpuLevel() + " processor";
    info_.targets = {"host"};
    info_.memoryBytes =
        static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    info_.processors = ThreadPool::instance().threads();
    info_.hostMemory = true;
  }

  const DeviceInfo &info() const override { return info_; }
  Expected<std::shared_ptr<void>> allocate(size_t bytes) override { return allocateHost(bytes); }
  Expected<std::shared_ptr<void>> allocateStaging(size_t bytes) override { return allocateHost(bytes); }
  Expected<std::unique_ptr<Module>> loadModule(const CodeObject &code) override { return HostModule::load(code); }
  Expected<std::unique_ptr<Stream>> createStream(void *) override {
    return std::unique_ptr<Stream>(std::make_unique<HostStream>());
  }

private:
  DeviceInfo info_;
};

} // namespace

Expected<std::shared_ptr<Device>> openHostDevice() {
  Expected<int> wanted = threadSetting();
  TILEWRIGHT_TRY(wanted);
  if (int threads = ThreadPool::instance().threads(); threads < *wanted)
    return Status(
        Code::Device,
        fmt::format("the system gives {} threads, expected {}: set TILEWRIGHT_NUM_THREADS lower, or allow this process "
                    "more memory",
                    threads, *wanted));
  return std::shared_ptr<Device>(std::make_shared<HostDevice>());
}

} // namespace tilewright::runtime
