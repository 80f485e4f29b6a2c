// SPDX-License-Identifier: Apache-2.0
// A device that computes nothing and records its launches: for tests of plans, and for plans of absent devices.
#pragma once

#include "runtime/Device.h"

#include <atomic>
#include <mutex>

namespace tilewright::runtime {

struct RecordedLaunch {
  std::string kernel; // Kernel::name
  std::array<int64_t, 3> grid;
  std::vector<void *> buffers;
  std::vector<int64_t> scalars;
  bool operator==(const RecordedLaunch &) const = default;
};

/// Its memory is host memory reported as device memory, so that every copy goes through a stream. Launches are recorded
/// and can be replayed; they write nothing.
class NullDevice : public Device {
public:
  explicit NullDevice(const std::string &target);

  const DeviceInfo &info() const override { return info_; }
  Expected<std::shared_ptr<void>> allocate(size_t bytes) override;
  Expected<std::shared_ptr<void>> allocateStaging(size_t bytes) override { return allocate(bytes); }
  Expected<std::unique_ptr<Module>> loadModule(const CodeObject &code) override;
  Expected<std::unique_ptr<Stream>> createStream(void *external) override;

  /// All launches so far in execution order, replays included.
  std::vector<RecordedLaunch> launches() const;
  int recordings() const { return recordings_; }
  int replays() const { return replays_; }

private:
  friend class NullStream;

  DeviceInfo info_;
  mutable std::mutex mutex_;
  std::vector<RecordedLaunch> launches_;
  std::atomic<int> recordings_ = 0;
  std::atomic<int> replays_ = 0;
};

} // namespace tilewright::runtime
