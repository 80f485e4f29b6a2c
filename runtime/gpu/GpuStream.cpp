// SPDX-License-Identifier: Apache-2.0
// Copies, launches, timing and graphs on one stream.
#include "runtime/gpu/GpuStream.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::runtime {

using namespace gpu;

static DevicePointer address(const void *pointer) { return const_cast<void *>(pointer); }

namespace {

class GpuGraph : public Recording {
public:
  GpuGraph(std::shared_ptr<gpu::Context> context, GraphExecHandle handle, KernelsInFlight recorded)
      : kernels(recorded), context_(std::move(context)), handle_(handle) {}
  ~GpuGraph() override {
    Scope scope(*context_);
    context_->driver.graphExecDestroy(handle_);
  }
  GraphExecHandle handle() const { return handle_; }

  const KernelsInFlight kernels;

private:
  std::shared_ptr<gpu::Context> context_;
  GraphExecHandle handle_;
};

} // namespace

void KernelsInFlight::add(const Kernel *kernel) {
  auto *end = first.begin() + std::min(count, most);
  if (std::find(first.begin(), end, kernel) != end)
    return;
  if (count < most)
    first[count] = kernel;
  ++count;
}

void KernelsInFlight::add(const KernelsInFlight &others) {
  for (size_t i = 0; i < std::min(others.count, most); ++i)
    add(others.first[i]);
  count += others.count > most ? others.count - most : 0;
}

std::string KernelsInFlight::text(const Vendor &vendor) const {
  if (count == 0)
    return "the GPU";
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(count, most); ++i)
    names.push_back(fmt::format("'{}'", first[i]->name));
  if (count == 1)
    return "kernel " + names[0];
  return fmt::format("the kernels {}{}, of which running with {}=1 tells the one", fmt::join(names, ", "),
                     count > most ? fmt::format(" and {} more", count - most) : "", vendor.blockingVariable);
}

Expected<std::unique_ptr<Stream>> GpuStream::create(const std::shared_ptr<gpu::Context> &context,
                                                    StreamHandle external) {
  auto stream = std::make_unique<GpuStream>(context);
  TILEWRIGHT_GPU_ENTER(*context);
  const Driver &driver = context->driver;
  stream->stream_ = external;
  stream->ownsStream_ = external == nullptr;
  if (stream->ownsStream_)
    TILEWRIGHT_GPU_TRY(driver, streamCreate, "creating a stream", &stream->stream_, streamNonBlocking);
  TILEWRIGHT_GPU_TRY(driver, streamCreate, "creating a stream", &stream->recorder_, streamNonBlocking);
  Expected<std::shared_ptr<void>> pinned = context->allocatePinned(sizeof(uint64_t));
  TILEWRIGHT_TRY(pinned);
  stream->errorOnHost_ = std::shared_ptr<uint64_t>(*pinned, static_cast<uint64_t *>(pinned->get()));
  *stream->errorOnHost_ = 0;
  if (driver.vendor.writesOnHost) { // pinned memory has one address for both (CUDA's "Unified Addressing")
    stream->errorWord_ = pinned->get();
    return std::unique_ptr<Stream>(std::move(stream));
  }
  TILEWRIGHT_GPU_TRY(driver, memAlloc, "allocating the error word", &stream->errorWord_, sizeof(uint64_t));
  TILEWRIGHT_GPU_TRY(driver, memset8, "clearing the error word", stream->errorWord_, 0, sizeof(uint64_t),
                     stream->stream_);
  return std::unique_ptr<Stream>(std::move(stream));
}

GpuStream::~GpuStream() {
  Scope scope(*context_);
  // A destructor cannot report failures; after a failure of the device these calls fail too.
  if (stream_)
    driver().streamSynchronize(stream_);
  for (EventHandle mark : marks_)
    driver().eventDestroy(mark);
  if (errorWord_ && !readsErrorInPlace())
    driver().memFree(errorWord_);
  if (recorder_)
    driver().streamDestroy(recorder_);
  if (ownsStream_ && stream_)
    driver().streamDestroy(stream_);
}

Status GpuStream::copyIn(void *device, const void *host, size_t bytes) {
  if (bytes == 0)
    return {};
  TILEWRIGHT_GPU_ENTER(*context_);
  return driver().check(driver().memcpyIn(address(device), host, bytes, current()), driver().symbols.memcpyIn,
                        fmt::format("copying {} bytes to the GPU", bytes));
}

Status GpuStream::copyOut(void *host, const void *device, size_t bytes) {
  if (bytes == 0)
    return {};
  TILEWRIGHT_GPU_ENTER(*context_);
  return driver().check(driver().memcpyOut(host, address(device), bytes, current()), driver().symbols.memcpyOut,
                        fmt::format("copying {} bytes from the GPU", bytes));
}

Status GpuStream::copyWithin(void *target, const void *source, size_t bytes) {
  if (bytes == 0)
    return {};
  TILEWRIGHT_GPU_ENTER(*context_);
  return driver().check(driver().memcpyWithin(address(target), address(source), bytes, current()),
                        driver().symbols.memcpyWithin, fmt::format("copying {} bytes on the GPU", bytes));
}

Status GpuStream::fill(void *device, uint8_t value, size_t bytes) {
  if (bytes == 0)
    return {};
  TILEWRIGHT_GPU_ENTER(*context_);
  return driver().check(driver().memset8(address(device), value, bytes, current()), driver().symbols.memset8,
                        fmt::format("filling {} bytes on the GPU", bytes));
}

Status GpuStream::launch(const LaunchArgs &args) {
  const Kernel &kernel = *args.kernel;
  // Limits of compute capability 8.0 and later (CUDA C++ Programming Guide, "Technical Specifications per Compute
  // Capability"), and of the packets that start kernels on AMD's GPUs, which count threads in 32 bits (HSA Runtime
  // Specification, "AQL kernel dispatch packet").
  if (args.grid[0] > INT32_MAX || args.grid[1] > 65535 || args.grid[2] > 65535)
    return {Code::Device,
            fmt::format("kernel '{}' would have a grid of {} x {} x {}, a GPU has at most 2147483647 x 65535 x 65535",
                        kernel.name, args.grid[0], args.grid[1], args.grid[2])};
  const Vendor &vendor = driver().vendor;
  for (size_t i = 0; i < 3; ++i)
    if (uint64_t threads = static_cast<uint64_t>(args.grid[i]) * kernel.block[i]; threads > vendor.maxThreadsPerAxis)
      return {Code::Device,
              fmt::format("kernel '{}' would have {} blocks of {} threads side by side, {} counts {} threads at most; "
                          "use smaller inputs",
                          kernel.name, args.grid[i], kernel.block[i], context_->name, vendor.maxThreadsPerAxis)};
  TILEWRIGHT_GPU_ENTER(*context_);
  parameters_.clear();
  for (void *buffer : args.buffers)
    parameters_.push_back(reinterpret_cast<uint64_t>(buffer));
  for (int64_t scalar : args.scalars)
    parameters_.push_back(static_cast<uint64_t>(scalar));
  parameters_.push_back(reinterpret_cast<uint64_t>(errorWord_));
  parameterPointers_.clear();
  for (uint64_t &parameter : parameters_)
    parameterPointers_.push_back(&parameter);
  tensorMaps_.resize(args.tensorMaps.size());
  for (size_t i = 0; i < args.tensorMaps.size(); ++i) {
    TILEWRIGHT_TRY(driver().encode(args.tensorMaps[i], kernel.name, &tensorMaps_[i]));
    parameterPointers_.push_back(&tensorMaps_[i]);
  }
  auto function = reinterpret_cast<FunctionHandle>(const_cast<void *>(args.handle));
  TILEWRIGHT_TRY(driver().launch(function, args, current(), parameterPointers_.data()));
  (recording_ ? recorded_ : launched_).add(&kernel);
  return {};
}

Expected<uint64_t> GpuStream::synchronize() {
  TILEWRIGHT_GPU_ENTER(*context_);
  if (!readsErrorInPlace())
    TILEWRIGHT_GPU_TRY(driver(), memcpyOut, "reading the error word", errorOnHost_.get(), errorWord_, sizeof(uint64_t),
                       stream_);
  Status waited = driver().check(driver().streamSynchronize(stream_), driver().symbols.streamSynchronize,
                                 "waiting for " + launched_.text(driver().vendor));
  launched_ = {};
  TILEWRIGHT_TRY(waited);
  uint64_t word = std::atomic_ref(*errorOnHost_).load(); // written by kernels
  if (word == 0)
    return word;
  if (readsErrorInPlace())
    std::atomic_ref(*errorOnHost_).store(0);
  else
    TILEWRIGHT_GPU_TRY(driver(), memset8, "clearing the error word", errorWord_, 0, sizeof word, stream_);
  return word;
}

Status GpuStream::mark(size_t index) {
  TILEWRIGHT_GPU_ENTER(*context_);
  while (marks_.size() <= index) {
    EventHandle event = nullptr;
    TILEWRIGHT_GPU_TRY(driver(), eventCreate, "creating an event", &event, 0);
    marks_.push_back(event);
  }
  return driver().check(driver().eventRecord(marks_[index], stream_), driver().symbols.eventRecord, "taking the time");
}

Expected<double> GpuStream::elapsed(size_t from, size_t to) {
  TILEWRIGHT_GPU_ENTER(*context_);
  float milliseconds = 0;
  TILEWRIGHT_GPU_TRY(driver(), eventElapsed, "reading the time", &milliseconds, marks_[from], marks_[to]);
  return static_cast<double>(milliseconds);
}

Status GpuStream::beginRecording() {
  TILEWRIGHT_GPU_ENTER(*context_);
  TILEWRIGHT_GPU_TRY(driver(), beginCapture, "recording a graph", recorder_, CaptureThreadLocal);
  recording_ = true;
  recorded_ = {};
  return {};
}

Expected<std::unique_ptr<Recording>> GpuStream::endRecording() {
  TILEWRIGHT_GPU_ENTER(*context_);
  recording_ = false;
  GraphHandle graph = nullptr;
  TILEWRIGHT_GPU_TRY(driver(), endCapture, "recording a graph", recorder_, &graph);
  GraphExecHandle exec = nullptr;
  Status status = driver().check(driver().graphInstantiate(&exec, graph, 0), driver().symbols.graphInstantiate,
                                 "preparing a recorded graph");
  driver().graphDestroy(graph);
  TILEWRIGHT_TRY(status);
  return std::unique_ptr<Recording>(std::make_unique<GpuGraph>(context_, exec, recorded_));
}

Status GpuStream::replay(Recording &recording) {
  TILEWRIGHT_GPU_ENTER(*context_);
  auto &graph = static_cast<GpuGraph &>(recording);
  TILEWRIGHT_GPU_TRY(driver(), graphLaunch, "replaying a recorded graph", graph.handle(), stream_);
  launched_.add(graph.kernels);
  return {};
}

} // namespace tilewright::runtime
