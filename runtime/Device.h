// SPDX-License-Identifier: Apache-2.0
// What the runtime asks of a device. One conformance suite (tests/runtime/DeviceTest.cpp) runs on every implementation.
//
//   Device ── allocate, loadModule, createStream                     shared by contexts and threads
//     Module ── kernel(entry)                                        a loaded code object
//     Stream ── copies, launches, marks, recordings, synchronize     in order; belongs to one context
//
// Work given to a stream may run later; its addresses and kernels must stay valid until synchronize() has returned.
#pragma once

#include "runtime/Status.h"
#include "runtime/plan/Plan.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewright::runtime {

struct DeviceInfo {
  std::string id;                   // what openDevice takes: "host", "cuda:0", "hip:0", "null"
  std::string name;                 // "NVIDIA H200"
  std::vector<std::string> targets; // targets whose code it runs, best first: {"sm_90a", ..., "sm_80"}
  uint64_t memoryBytes = 0;
  int processors = 0;      // cores or multiprocessors
  bool hostMemory = false; // its addresses are ordinary host memory
  std::string driver;      // its version; empty on devices without a driver
};

/// A kernel of a loaded module; opaque outside of its device.
using KernelHandle = const void *;

/// What a thread of a kernel uses, as the driver's assembler decided.
struct KernelResources {
  int registers = 0;
  int spilledBytes = 0; // in memory, because registers did not suffice
};

class Module {
public:
  virtual ~Module() = default;
  virtual Expected<KernelHandle> kernel(const Kernel &kernel) = 0;
  /// nullopt on devices without such an assembler, as the host.
  virtual Expected<std::optional<KernelResources>> resources(const Kernel &, KernelHandle) {
    return std::optional<KernelResources>();
  }
};

/// A TensorMap (Plan.h) of a launch, with the values of its expressions. Fastest dimension first; sizes and strides in
/// elements.
struct TensorMapArgs {
  void *buffer = nullptr;
  DType type = DType::F32;
  size_t rank = 0;
  int64_t start = 0;
  std::array<int64_t, maxTensorMapRank> sizes = {}, strides = {};
  std::array<uint32_t, maxTensorMapRank> box = {};
  bool rounded = false;
  /// For the dimensions between the first and the last, if `arePixels`; as in TensorMap.
  std::array<int32_t, maxTensorMapRank> lower = {}, upper = {}, steps = {};
  bool arePixels = false;
};

struct LaunchArgs {
  KernelHandle handle = nullptr;
  const Kernel *kernel = nullptr;
  std::span<void *const> buffers;
  std::span<const int64_t> scalars;
  std::span<const TensorMapArgs> tensorMaps = {};
  std::array<int64_t, 3> grid = {1, 1, 1}; // all above 0
  uint64_t workspaceBytes = 0;
  /// Set in every second step of a loop. On the host, programs are then taken backwards: what the step before read last
  /// is still in the core's cache.
  bool backwards = false;
};

/// A recorded sequence of launches and copies, with their addresses.
class Recording {
public:
  virtual ~Recording() = default;
};

class Stream {
public:
  virtual ~Stream() = default;

  virtual Status copyIn(void *device, const void *host, size_t bytes) = 0;
  virtual Status copyOut(void *host, const void *device, size_t bytes) = 0;
  virtual Status copyWithin(void *target, const void *source, size_t bytes) = 0;
  virtual Status fill(void *device, uint8_t value, size_t bytes) = 0;
  virtual Status launch(const LaunchArgs &args) = 0;

  /// Waits for all work so far. Returns the error word (KernelAbi.h; 0 means no fault) and clears it. Fails if the
  /// device has failed.
  virtual Expected<uint64_t> synchronize() = 0;

  /// Records the time at which the stream reaches this point, as mark number `index`.
  virtual Status mark(size_t index) = 0;
  /// Milliseconds between two marks; after synchronize().
  virtual Expected<double> elapsed(size_t from, size_t to) = 0;

  /// Between these two calls, launches, fills, and copies within the device or from staging memory are recorded instead
  /// of run.
  virtual bool canRecord() const { return false; }
  /// Whether beginRecording was called and endRecording was not yet.
  virtual bool isRecording() const { return false; }
  virtual Status beginRecording();
  virtual Expected<std::unique_ptr<Recording>> endRecording();
  virtual Status replay(Recording &recording);
};

class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceInfo &info() const = 0;
  /// Device memory, 64-byte aligned, freed with the last copy of the pointer. Not cleared.
  virtual Expected<std::shared_ptr<void>> allocate(size_t bytes) = 0;
  /// Host memory that copyIn may read while recording. It must stay valid as long as the recording is replayed.
  virtual Expected<std::shared_ptr<void>> allocateStaging(size_t bytes) = 0;
  virtual Expected<std::unique_ptr<Module>> loadModule(const CodeObject &code) = 0;
  /// `external`: a stream of the caller's (CUstream or hipStream_t) to work in, or nullptr for a new one.
  virtual Expected<std::unique_ptr<Stream>> createStream(void *external = nullptr) = 0;
};

} // namespace tilewright::runtime
