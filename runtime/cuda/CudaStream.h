// A stream on an NVIDIA GPU, with its error word, its marks, and recordings as CUDA graphs.
#pragma once

#include "runtime/Device.h"
#include "runtime/cuda/CudaDriver.h"

namespace tilewright::runtime {

/// A GPU's primary context, retained for as long as anything made in it lives.
struct CudaContext : std::enable_shared_from_this<CudaContext> {
  explicit CudaContext(const cuda::Driver &itsDriver) : driver(itsDriver) {}
  ~CudaContext();

  Expected<std::shared_ptr<void>> allocatePinned(size_t bytes);

  const cuda::Driver &driver;
  cuda::DeviceOrdinal device = 0;
  cuda::ContextHandle handle = nullptr;
  std::string name;
  uint64_t sharedBytes = 0; // the most that a block may ask for
};

/// Makes the context current on this thread for a block of code, and puts back what the caller had.
class CudaScope {
public:
  explicit CudaScope(const CudaContext &context) : driver_(context.driver) { driver_.contextPush(context.handle); }
  ~CudaScope() {
    cuda::ContextHandle popped = nullptr;
    driver_.contextPop(&popped);
  }
  CudaScope(const CudaScope &) = delete;
  CudaScope &operator=(const CudaScope &) = delete;

private:
  const cuda::Driver &driver_;
};

class CudaStream : public Stream {
public:
  static Expected<std::unique_ptr<Stream>> create(std::shared_ptr<CudaContext> context, cuda::StreamHandle external);
  explicit CudaStream(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}
  ~CudaStream() override;

  Status copyIn(void *device, const void *host, size_t bytes) override;
  Status copyOut(void *host, const void *device, size_t bytes) override;
  Status copyWithin(void *target, const void *source, size_t bytes) override;
  Status fill(void *device, uint8_t value, size_t bytes) override;
  Status launch(const LaunchArgs &args) override;
  Expected<uint64_t> synchronize() override;
  Status mark(size_t index) override;
  Expected<double> elapsed(size_t from, size_t to) override;
  bool canRecord() const override { return true; }
  Status beginRecording() override;
  Expected<std::unique_ptr<Recording>> endRecording() override;
  Status replay(Recording &recording) override;

private:
  /// Where work goes now. The caller's stream may be one that cannot be captured (the default stream), so a stream of ours records.
  cuda::StreamHandle current() const { return recording_ ? recorder_ : stream_; }
  const cuda::Driver &driver() const { return context_->driver; }

  std::shared_ptr<CudaContext> context_;
  cuda::StreamHandle stream_ = nullptr;
  bool ownsStream_ = false;
  cuda::StreamHandle recorder_ = nullptr;
  bool recording_ = false;
  cuda::DevicePointer errorWord_ = 0;
  std::shared_ptr<void> errorCopy_; // pinned: where synchronize() reads the word
  std::vector<cuda::EventHandle> marks_;
  std::vector<uint64_t> parameters_;
  std::vector<void *> parameterPointers_;
};

} // namespace tilewright::runtime
