// Copies, launches, timing and graphs on one stream.
#include "runtime/cuda/CudaStream.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::runtime {

using namespace cuda;

static DevicePointer address(const void *pointer) { return reinterpret_cast<DevicePointer>(pointer); }

namespace {

class CudaGraph : public Recording {
public:
  CudaGraph(std::shared_ptr<CudaContext> context, GraphExecHandle handle) : context_(std::move(context)), handle_(handle) {}
  ~CudaGraph() override {
    CudaScope scope(*context_);
    context_->driver.graphExecDestroy(handle_);
  }
  GraphExecHandle handle() const { return handle_; }

private:
  std::shared_ptr<CudaContext> context_;
  GraphExecHandle handle_;
};

} // namespace

Expected<std::unique_ptr<Stream>> CudaStream::create(std::shared_ptr<CudaContext> context, StreamHandle external) {
  auto stream = std::make_unique<CudaStream>(context);
  CudaScope scope(*context);
  const Driver &driver = context->driver;
  stream->stream_ = external;
  stream->ownsStream_ = external == nullptr;
  if (stream->ownsStream_)
    TILEWRIGHT_CUDA_TRY(driver, streamCreate, "creating a stream", &stream->stream_, streamNonBlocking);
  TILEWRIGHT_CUDA_TRY(driver, streamCreate, "creating a stream", &stream->recorder_, streamNonBlocking);
  TILEWRIGHT_CUDA_TRY(driver, memAlloc, "allocating the error word", &stream->errorWord_, sizeof(uint64_t));
  Expected<std::shared_ptr<void>> pinned = context->allocatePinned(sizeof(uint64_t));
  TILEWRIGHT_TRY(pinned);
  stream->errorCopy_ = *pinned;
  TILEWRIGHT_CUDA_TRY(driver, memset8, "clearing the error word", stream->errorWord_, 0, sizeof(uint64_t), stream->stream_);
  return std::unique_ptr<Stream>(std::move(stream));
}

CudaStream::~CudaStream() {
  CudaScope scope(*context_);
  // Nothing of these can be reported from here; after a failure of the device they fail as well.
  if (stream_)
    driver().streamSynchronize(stream_);
  for (EventHandle mark : marks_)
    driver().eventDestroy(mark);
  if (errorWord_)
    driver().memFree(errorWord_);
  if (recorder_)
    driver().streamDestroy(recorder_);
  if (ownsStream_ && stream_)
    driver().streamDestroy(stream_);
}

Status CudaStream::copyIn(void *device, const void *host, size_t bytes) {
  if (bytes == 0)
    return {};
  CudaScope scope(*context_);
  return driver().check(driver().memcpyIn(address(device), host, bytes, current()), "memcpyIn",
                        fmt::format("copying {} bytes to the GPU", bytes));
}

Status CudaStream::copyOut(void *host, const void *device, size_t bytes) {
  if (bytes == 0)
    return {};
  CudaScope scope(*context_);
  return driver().check(driver().memcpyOut(host, address(device), bytes, current()), "memcpyOut",
                        fmt::format("copying {} bytes from the GPU", bytes));
}

Status CudaStream::copyWithin(void *target, const void *source, size_t bytes) {
  if (bytes == 0)
    return {};
  CudaScope scope(*context_);
  return driver().check(driver().memcpyWithin(address(target), address(source), bytes, current()), "memcpyWithin",
                        fmt::format("copying {} bytes on the GPU", bytes));
}

Status CudaStream::fill(void *device, uint8_t value, size_t bytes) {
  if (bytes == 0)
    return {};
  CudaScope scope(*context_);
  return driver().check(driver().memset8(address(device), value, bytes, current()), "memset8",
                        fmt::format("filling {} bytes on the GPU", bytes));
}

Status CudaStream::launch(const LaunchArgs &args) {
  const Kernel &kernel = *args.kernel;
  // Limits of compute capability 8.0 and later: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
  if (args.grid[0] > INT32_MAX || args.grid[1] > 65535 || args.grid[2] > 65535)
    return {Code::Device, fmt::format("kernel '{}' would have a grid of {} x {} x {}, a GPU has at most 2147483647 x 65535 x 65535",
                                      kernel.name, args.grid[0], args.grid[1], args.grid[2])};
  CudaScope scope(*context_);
  parameters_.clear();
  for (void *buffer : args.buffers)
    parameters_.push_back(address(buffer));
  for (int64_t scalar : args.scalars)
    parameters_.push_back(static_cast<uint64_t>(scalar));
  parameters_.push_back(errorWord_);
  parameterPointers_.clear();
  for (uint64_t &parameter : parameters_)
    parameterPointers_.push_back(&parameter);
  LaunchConfig config = {};
  for (size_t i = 0; i < 3; ++i) {
    config.grid[i] = static_cast<unsigned>(args.grid[i]);
    config.block[i] = kernel.block[i];
  }
  config.sharedBytes = kernel.dynamicSharedBytes;
  config.stream = current();
  LaunchAttribute cluster = {};
  cluster.id = clusterDimension;
  std::ranges::copy(kernel.cluster, cluster.value.cluster);
  if (kernel.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
    config.attributes = &cluster;
    config.attributeCount = 1;
  }
  auto function = reinterpret_cast<FunctionHandle>(const_cast<void *>(args.handle));
  return driver().check(driver().launchKernel(&config, function, parameterPointers_.data(), nullptr), "launchKernel",
                        fmt::format("launching kernel '{}'", kernel.name));
}

Expected<uint64_t> CudaStream::synchronize() {
  CudaScope scope(*context_);
  TILEWRIGHT_CUDA_TRY(driver(), memcpyOut, "reading the error word", errorCopy_.get(), errorWord_, sizeof(uint64_t), stream_);
  TILEWRIGHT_CUDA_TRY(driver(), streamSynchronize, "waiting for the GPU", stream_);
  uint64_t word = *static_cast<uint64_t *>(errorCopy_.get());
  if (word != 0)
    TILEWRIGHT_CUDA_TRY(driver(), memset8, "clearing the error word", errorWord_, 0, sizeof word, stream_);
  return word;
}

Status CudaStream::mark(size_t index) {
  CudaScope scope(*context_);
  while (marks_.size() <= index) {
    EventHandle event = nullptr;
    TILEWRIGHT_CUDA_TRY(driver(), eventCreate, "creating an event", &event, 0);
    marks_.push_back(event);
  }
  return driver().check(driver().eventRecord(marks_[index], stream_), "eventRecord", "taking the time");
}

Expected<double> CudaStream::elapsed(size_t from, size_t to) {
  CudaScope scope(*context_);
  float milliseconds = 0;
  TILEWRIGHT_CUDA_TRY(driver(), eventElapsed, "reading the time", &milliseconds, marks_[from], marks_[to]);
  return static_cast<double>(milliseconds);
}

Status CudaStream::beginRecording() {
  CudaScope scope(*context_);
  TILEWRIGHT_CUDA_TRY(driver(), beginCapture, "recording a graph", recorder_, CaptureThreadLocal);
  recording_ = true;
  return {};
}

Expected<std::unique_ptr<Recording>> CudaStream::endRecording() {
  CudaScope scope(*context_);
  recording_ = false;
  GraphHandle graph = nullptr;
  TILEWRIGHT_CUDA_TRY(driver(), endCapture, "recording a graph", recorder_, &graph);
  GraphExecHandle exec = nullptr;
  Status status = driver().check(driver().graphInstantiate(&exec, graph, 0), "graphInstantiate", "preparing a recorded graph");
  driver().graphDestroy(graph);
  TILEWRIGHT_TRY(status);
  return std::unique_ptr<Recording>(std::make_unique<CudaGraph>(context_, exec));
}

Status CudaStream::replay(Recording &recording) {
  CudaScope scope(*context_);
  return driver().check(driver().graphLaunch(static_cast<CudaGraph &>(recording).handle(), stream_), "graphLaunch",
                        "replaying a recorded graph");
}

} // namespace tilewright::runtime
