// SPDX-License-Identifier: Apache-2.0
// A stream on a GPU: its error word, timing marks, and recordings as the driver's graphs.
#pragma once

#include "runtime/gpu/Driver.h"
#include "runtime/plan/KernelAbi.h"

namespace tilewright::runtime {

/// The kernels launched since the last wait. Drivers report a kernel's failure only at a wait, so any of them may have
/// failed.
struct KernelsInFlight {
  static constexpr size_t most = 4; // the others are only counted
  std::array<const Kernel *, most> first = {};
  size_t count = 0;

  void add(const Kernel *kernel);
  void add(const KernelsInFlight &others);
  /// "kernel 'k0'", or "one of the kernels 'k0', 'k1' and 3 more".
  std::string text(const gpu::Vendor &vendor) const;
};

struct alignas(tensorMapAlignment) EncodedTensorMap {
  std::byte bytes[tensorMapBytes];
};

class GpuStream : public Stream {
public:
  static Expected<std::unique_ptr<Stream>> create(const std::shared_ptr<gpu::Context> &context,
                                                  gpu::StreamHandle external);
  explicit GpuStream(std::shared_ptr<gpu::Context> context) : context_(std::move(context)) {}
  ~GpuStream() override;

  Status copyIn(void *device, const void *host, size_t bytes) override;
  Status copyOut(void *host, const void *device, size_t bytes) override;
  Status copyWithin(void *target, const void *source, size_t bytes) override;
  Status fill(void *device, uint8_t value, size_t bytes) override;
  Status launch(const LaunchArgs &args) override;
  Expected<uint64_t> synchronize() override;
  Status mark(size_t index) override;
  Expected<double> elapsed(size_t from, size_t to) override;
  bool canRecord() const override { return true; }
  bool isRecording() const override { return recording_; }
  Status beginRecording() override;
  Expected<std::unique_ptr<Recording>> endRecording() override;
  Status replay(Recording &recording) override;

private:
  /// The stream to issue work to. Recordings are captured on a stream of their own, because a caller's stream may be
  /// the default stream, which cannot be captured.
  gpu::StreamHandle current() const { return recording_ ? recorder_ : stream_; }
  const gpu::Driver &driver() const { return context_->driver; }
  /// Whether kernels write the error word where synchronize() reads it, so that no transfer is needed.
  bool readsErrorInPlace() const { return errorWord_ == errorOnHost_.get(); }

  std::shared_ptr<gpu::Context> context_;
  gpu::StreamHandle stream_ = nullptr;
  bool ownsStream_ = false;
  gpu::StreamHandle recorder_ = nullptr;
  bool recording_ = false;
  gpu::DevicePointer errorWord_ = nullptr;
  std::shared_ptr<uint64_t> errorOnHost_; // pinned memory: the word itself, or a copy for synchronize()
  KernelsInFlight launched_, recorded_;
  std::vector<gpu::EventHandle> marks_;
  std::vector<uint64_t> parameters_;
  std::vector<EncodedTensorMap> tensorMaps_;
  std::vector<void *> parameterPointers_;
};

} // namespace tilewright::runtime
