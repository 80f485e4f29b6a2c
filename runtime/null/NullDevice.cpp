// SPDX-License-Identifier: Apache-2.0
// Copies are real, so that host calls still have data; launches are only recorded.
#include "runtime/null/NullDevice.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace tilewright::runtime {

namespace {

class NullModule : public Module {
public:
  Expected<KernelHandle> kernel(const Kernel &kernel) override { return static_cast<KernelHandle>(&kernel); }
};

struct NullRecording : Recording {
  std::vector<std::function<void()>> work;
};

} // namespace

class NullStream : public Stream {
public:
  explicit NullStream(NullDevice &device) : device_(device) {}

  Status copyIn(void *device, const void *host, size_t bytes) override { return copyWithin(device, host, bytes); }
  Status copyOut(void *host, const void *device, size_t bytes) override { return copyWithin(host, device, bytes); }
  Status copyWithin(void *target, const void *source, size_t bytes) override {
    return act([=] { std::memmove(target, source, bytes); });
  }
  Status fill(void *device, uint8_t value, size_t bytes) override {
    return act([=] { std::memset(device, value, bytes); });
  }
  Status launch(const LaunchArgs &args) override {
    RecordedLaunch launch = {args.kernel->name,
                             args.grid,
                             {args.buffers.begin(), args.buffers.end()},
                             {args.scalars.begin(), args.scalars.end()}};
    return act([this, launch = std::move(launch)] {
      std::scoped_lock lock(device_.mutex_);
      device_.launches_.push_back(launch);
    });
  }
  Expected<uint64_t> synchronize() override { return uint64_t(0); }
  Status mark(size_t) override { return {}; }
  Expected<double> elapsed(size_t, size_t) override { return 0.0; }

  bool canRecord() const override { return true; }
  bool isRecording() const override { return recording_ != nullptr; }
  Status beginRecording() override {
    recording_ = std::make_unique<NullRecording>();
    return {};
  }
  Expected<std::unique_ptr<Recording>> endRecording() override {
    ++device_.recordings_;
    return std::unique_ptr<Recording>(std::move(recording_));
  }
  Status replay(Recording &recording) override {
    ++device_.replays_;
    for (const auto &work : static_cast<NullRecording &>(recording).work)
      work();
    return {};
  }

private:
  Status act(std::function<void()> work) {
    if (recording_)
      recording_->work.push_back(std::move(work));
    else
      work();
    return {};
  }

  NullDevice &device_;
  std::unique_ptr<NullRecording> recording_; // while recording
};

NullDevice::NullDevice(const std::string &target) {
  info_.id = "null:" + target;
  info_.name = "nothing, as " + target;
  info_.targets = {target};
}

Expected<std::shared_ptr<void>> NullDevice::allocate(size_t bytes) {
  size_t rounded = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  void *memory = std::aligned_alloc(64, rounded);
  if (!memory)
    return Status(Code::Device, "cannot allocate memory for the null device; use smaller inputs");
  return std::shared_ptr<void>(memory, [](void *p) { std::free(p); });
}

Expected<std::unique_ptr<Module>> NullDevice::loadModule(const CodeObject &) {
  return std::unique_ptr<Module>(std::make_unique<NullModule>());
}

Expected<std::unique_ptr<Stream>> NullDevice::createStream(void *) {
  return std::unique_ptr<Stream>(std::make_unique<NullStream>(*this));
}

std::vector<RecordedLaunch> NullDevice::launches() const {
  std::scoped_lock lock(mutex_);
  return launches_;
}

} // namespace tilewright::runtime
