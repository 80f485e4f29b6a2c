// SPDX-License-Identifier: Apache-2.0
// Choosing a plan, and putting a program on a device.
#include "runtime/execute/Program.h"

#include "runtime/CpuFeatures.h"
#include "runtime/artifact/Format.h"
#include "runtime/plan/MemoryRanges.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tilewright::runtime {

/// The distinct values of a field over all plans, for messages.
static std::string listed(const Contents &contents, std::string Plan::*field) {
  std::set<std::string> values;
  for (const Plan &plan : contents.plans)
    values.insert(plan.*field);
  return fmt::format("{}", fmt::join(values, ", "));
}

static Expected<const Plan *> choosePlan(const Artifact &artifact, const DeviceInfo &device, const std::string &mode) {
  const Contents &contents = artifact.contents();
  Status refused;
  bool targetFound = false;
  for (const std::string &target : device.targets)
    for (const Plan &plan : contents.plans) {
      targetFound = targetFound || plan.target == target;
      if (plan.target != target || plan.mode != mode)
        continue;
      Status features = checkCpuFeatures(plan.requirements, artifact.name());
      if (features.ok())
        return &plan;
      refused = refused.ok() ? features : refused;
    }
  if (!refused.ok())
    return refused;
  if (targetFound)
    return Status(Code::Usage,
                  fmt::format("{} has no plan for fusion mode '{}' on {}, it has {}; compile with --fuse={}",
                              artifact.name(), mode, device.name, listed(contents, &Plan::mode), mode));
  return Status(Code::Device, fmt::format("{} holds code for {}, {} runs {}; compile again with --target {}",
                                          artifact.name(), listed(contents, &Plan::target), device.name,
                                          fmt::join(device.targets, ", "), device.targets.front()));
}

static Status checkHostCalls(const Plan &plan) {
  for (const Step &step : plan.steps)
    if (const auto *call = std::get_if<HostCall>(&step); call && !hasReference(call->op, call->domain, call->opset))
      return {Code::Unsupported, fmt::format("node '{}' needs {} of opset {}, which this runtime has no kernel for",
                                             call->node, call->op, call->opset)};
  for (const Plan &body : plan.bodies)
    TILEWRIGHT_TRY(checkHostCalls(body));
  return {};
}

static PlanTree analyzeTree(const Plan &plan) {
  PlanTree tree = {&plan, analyzePlan(plan), {}};
  for (const Plan &body : plan.bodies)
    tree.bodies.push_back(analyzeTree(body));
  return tree;
}

Expected<std::shared_ptr<const Program>> Program::load(const std::filesystem::path &path, const DeviceInfo &device,
                                                       const std::string &mode) {
  Expected<Artifact> artifact = Artifact::open(path);
  TILEWRIGHT_TRY(artifact);
  return create(*artifact, device, mode);
}

Expected<std::shared_ptr<const Program>> Program::create(Artifact artifact, const DeviceInfo &device,
                                                         const std::string &mode) {
  Expected<const Plan *> plan = choosePlan(artifact, device, mode);
  TILEWRIGHT_TRY(plan);
  TILEWRIGHT_TRY(checkHostCalls(**plan));
  auto program = std::make_shared<Program>();
  program->artifact_ = std::move(artifact);
  program->tree_ = analyzeTree(**plan);
  std::string other = mode + std::string(broadcastingSuffix);
  if (std::ranges::any_of(program->artifact_.contents().plans,
                          [&](const Plan &p) { return p.mode == other && p.target == (*plan)->target; })) {
    auto broadcasting = create(program->artifact_, device, other);
    TILEWRIGHT_TRY(broadcasting);
    program->broadcasting_ = std::move(*broadcasting);
  }
  return std::shared_ptr<const Program>(std::move(program));
}

static Status loadKernels(const Contents &contents, const Plan &plan, DeviceImage &image, KernelTree &tree) {
  for (const Kernel &kernel : plan.kernels) {
    std::unique_ptr<Module> &module = image.modules[kernel.code];
    if (!module) {
      Expected<std::unique_ptr<Module>> loaded = image.device->loadModule(contents.code[kernel.code]);
      TILEWRIGHT_TRY(loaded);
      module = std::move(*loaded);
    }
    Expected<KernelHandle> handle = module->kernel(kernel);
    TILEWRIGHT_TRY(handle);
    tree.kernels.push_back(*handle);
  }
  tree.bodies.resize(plan.bodies.size());
  for (size_t i = 0; i < plan.bodies.size(); ++i)
    TILEWRIGHT_TRY(loadKernels(contents, plan.bodies[i], image, tree.bodies[i]));
  return {};
}

/// Whether host kernels can read a constant where it is, without a copy: in a process that has just compiled the model,
/// packed constants are in huge pages already.
static bool isInPlace(const DeviceImage &image, std::span<const std::byte> constant) {
  return image.device->info().hostMemory && liesIn(Backing::HugePages, constant);
}

static constexpr size_t copyChunk = size_t(16)
                                    << 20; // the part of a constant that is in memory twice while it is copied

static void markConstants(const Plan &plan, std::vector<bool> &used) {
  for (const Value &value : plan.values)
    if (value.kind == ValueKind::Constant && !isObject(value.dtype))
      used[value.source] = true;
  for (const Plan &body : plan.bodies)
    markConstants(body, used);
}

/// Copies the plan's constants to one block of device memory. On the host too: a mapped file has small pages, which
/// halve the rate at which weights are read (HostMemory.h). Copied pages of the file are released.
static Status placeConstants(const Contents &contents, const Plan &plan, DeviceImage &image) {
  image.constants.resize(contents.constants.size());
  std::vector<bool> used(contents.constants.size());
  markConstants(plan, used);
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i] && isInPlace(image, contents.constants[i])) {
      image.constants[i] = const_cast<std::byte *>(contents.constants[i].data()); // kernels never write it
      used[i] = false;
    }
  uint64_t bytes = 0;
  for (size_t i = 0; i < used.size(); ++i)
    bytes += used[i] ? format::alignUp(contents.constants[i].size()) : 0;
  Expected<std::shared_ptr<void>> memory = image.device->allocate(bytes);
  TILEWRIGHT_TRY(memory);
  image.constantMemory = *memory;
  Expected<std::unique_ptr<Stream>> stream = image.device->createStream();
  TILEWRIGHT_TRY(stream);
  auto *next = static_cast<std::byte *>(image.constantMemory.get());
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i])
      continue;
    image.constants[i] = next;
    std::span<const std::byte> bytes = contents.constants[i];
    for (size_t at = 0; at < bytes.size(); at += copyChunk) {
      std::span<const std::byte> part = bytes.subspan(at, std::min(copyChunk, bytes.size() - at));
      TILEWRIGHT_TRY((*stream)->copyIn(next + at, part.data(), part.size()));
      releasePages(part);
    }
    next += format::alignUp(bytes.size());
  }
  return statusOf((*stream)->synchronize());
}

static uint64_t countModules(const DeviceImage &image) {
  return std::count_if(image.modules.begin(), image.modules.end(),
                       [](const std::unique_ptr<Module> &module) { return module != nullptr; });
}

Expected<std::shared_ptr<const DeviceImage>> Program::image(std::shared_ptr<Device> device) const {
  std::scoped_lock lock(mutex_);
  if (std::shared_ptr<const DeviceImage> image = images_[device.get()].lock())
    return image;
  auto image = std::make_shared<DeviceImage>();
  image->device = device;
  image->modules.resize(artifact_.contents().code.size());
  TILEWRIGHT_TRY(loadKernels(artifact_.contents(), plan(), *image, image->kernels));
  codeLoads_ += countModules(*image);
  TILEWRIGHT_TRY(placeConstants(artifact_.contents(), plan(), *image));
  images_[device.get()] = image;
  return std::shared_ptr<const DeviceImage>(std::move(image));
}

} // namespace tilewright::runtime
