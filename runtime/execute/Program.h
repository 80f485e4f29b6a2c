// SPDX-License-Identifier: Apache-2.0
// A verified plan chosen for a device: immutable, shared by any number of contexts and threads.
#pragma once

#include "runtime/Device.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/plan/PlanAnalysis.h"

#include <atomic>
#include <map>
#include <mutex>

namespace tilewright::runtime {

/// A plan with its analysis, and likewise its bodies.
struct PlanTree {
  const Plan *plan = nullptr;
  PlanAnalysis analysis;
  std::vector<PlanTree> bodies;
};

/// A plan's kernel handles by KernelId, and likewise those of its bodies.
struct KernelTree {
  std::vector<KernelHandle> kernels;
  std::vector<KernelTree> bodies;
};

/// A program on one device: loaded code, and constants in device memory.
struct DeviceImage {
  std::shared_ptr<Device> device;
  std::vector<std::unique_ptr<Module>> modules; // by code object; null where the plan uses none of it
  KernelTree kernels;
  std::vector<void *> constants; // by entry of the pool; null where the plan does not use it
  std::shared_ptr<void> constantMemory;
};

class Program {
public:
  /// Opens and verifies the artifact, then chooses the plan for the best of DeviceInfo::targets, among those of fusion
  /// mode `mode` ("all", "epilogue", "none", "reference"). Code::Device if the code is for other machines, Code::Usage
  /// if the artifact has no plan of that mode.
  static Expected<std::shared_ptr<const Program>> load(const std::filesystem::path &path, const DeviceInfo &device,
                                                       const std::string &mode = "all");
  static Expected<std::shared_ptr<const Program>> create(Artifact artifact, const DeviceInfo &device,
                                                         const std::string &mode = "all");

  const Artifact &artifact() const { return artifact_; }
  const Plan &plan() const { return *tree_.plan; }
  const PlanAnalysis &analysis() const { return tree_.analysis; }
  const PlanTree &tree() const { return tree_; }
  /// The program for sizes that this plan refuses (Plan.h, broadcastingSuffix), or null.
  const std::shared_ptr<const Program> &broadcasting() const { return broadcasting_; }

  const Value &input(size_t index) const { return plan().values[plan().inputs[index]]; }
  const Value &output(size_t index) const { return plan().values[plan().outputs[index]]; }

  /// The program's code and constants on `device`. Created at the first call, and shared as long as any caller holds
  /// it.
  Expected<std::shared_ptr<const DeviceImage>> image(std::shared_ptr<Device> device) const;
  /// How often code was loaded on a device, which is when an NVIDIA driver compiles PTX. Running at other sizes loads
  /// nothing.
  uint64_t codeLoads() const { return codeLoads_; }

private:
  Artifact artifact_;
  PlanTree tree_;
  std::shared_ptr<const Program> broadcasting_;
  mutable std::atomic<uint64_t> codeLoads_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<const Device *, std::weak_ptr<const DeviceImage>> images_;
};

} // namespace tilewright::runtime
