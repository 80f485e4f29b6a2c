// SPDX-License-Identifier: Apache-2.0
// Executing: segment by segment, step by step.
#include "runtime/execute/Context.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::runtime {

Status Context::startExecution() {
  if (!instance_)
    return {Code::Usage, "nothing is bound to execute: bind the inputs first"};
  hasRun_ = false;
  sizes_ = &instance_->sizes;
  lateSymbols_ = instance_->symbols;
  return clearZeroed();
}

/// Clears the zeroed values (ValueKind::Zeroed). Kernels leave them zero, so this is done once, and again after a
/// failure, which may have ended a kernel early.
Status Context::clearZeroed() {
  if (clearedAt_ == counters_->failures)
    return {};
  for (ValueId id = 0; id < plan().values.size(); ++id)
    if (plan().values[id].kind == ValueKind::Zeroed && addresses_[id])
      TILEWRIGHT_TRY(stream_->fill(addresses_[id], 0, instance_->bytes[id]));
  clearedAt_ = counters_->failures;
  return {};
}

Status Context::executeHere() {
  TILEWRIGHT_TRY(startExecution());
  for (size_t i = 0; i < analysis().segments.size(); ++i)
    TILEWRIGHT_TRY(runSegment(i));
  ++instance_->runs;
  hasRun_ = true;
  if (counters_->bodies) // this is a body of a context that is being profiled
    for (const Step &step : plan().steps)
      *counters_->bodies += workOf(step);
  return {};
}

Work &Work::operator+=(const Work &other) {
  launches += other.launches, hostCalls += other.hostCalls;
  bytes += other.bytes, flops += other.flops;
  return *this;
}

/// Whether a launch's grid is empty: its tensor is empty, or its kernel is a variant for other sizes.
bool Context::isEmpty(const Launch &launch) const {
  return std::ranges::any_of(launch.grid, [&](ExprId extent) {
    Expected<int64_t> value = sizes_->get(extent);
    return value && *value == 0;
  });
}

/// The work of a step, without that of its bodies. Expressions that have no value yet count as 0.
Work Context::workOf(const Step &step) const {
  if (const auto *launch = std::get_if<Launch>(&step); launch && isEmpty(*launch))
    return {};
  GroupId group = std::visit(
      [](const auto &s) -> GroupId {
        if constexpr (requires { s.group; })
          return s.group;
        else
          return none;
      },
      step);
  Work work{std::holds_alternative<Launch>(step), std::holds_alternative<HostCall>(step)};
  auto valueOf = [&](ExprId id) {
    Expected<int64_t> value = id == none ? Expected<int64_t>(0) : sizes_->get(id);
    return value ? static_cast<double>(*value) : 0.0;
  };
  if (group != none)
    work.bytes = valueOf(plan().groups[group].bytesMoved), work.flops = valueOf(plan().groups[group].flops);
  return work;
}

Expected<std::vector<StepProfile>> Context::profileHere() {
  TILEWRIGHT_TRY(startExecution());
  std::vector<StepProfile> profile(plan().steps.size());
  for (const Segment &segment : analysis().segments)
    for (size_t i = segment.first; i < segment.end; ++i) {
      const Step &step = plan().steps[i];
      if (!segment.recordable)
        TILEWRIGHT_TRY(checkStepSizes(plan(), analysis(), *sizes_, step));
      counters_->bodies = &profile[i].work;
      Status status = stream_->mark(2 * i);
      status = status.ok() ? runStep(i) : status;
      status = status.ok() ? stream_->mark(2 * i + 1) : status;
      counters_->bodies = nullptr;
      TILEWRIGHT_TRY(status);
      profile[i].work += workOf(step);
    }
  TILEWRIGHT_TRY(synchronize());
  for (size_t i = 0; i < profile.size(); ++i) {
    Expected<double> begin = stream_->elapsed(0, 2 * i), time = stream_->elapsed(2 * i, 2 * i + 1);
    TILEWRIGHT_TRY(begin);
    TILEWRIGHT_TRY(time);
    profile[i].beginMs = *begin, profile[i].ms = *time;
  }
  hasRun_ = true;
  return profile;
}

/// Whether a segment is to be recorded or replayed, not run step by step: from the second run with the same sizes and
/// addresses on. Not at the first, because recording costs as much as a few runs, and memory cannot be allocated
/// meanwhile.
bool Context::isReplayable(size_t index) const {
  constexpr uint64_t mostNodes = 4096; // of a recording, which has all iterations of a loop
  const Segment &segment = analysis().segments[index];
  return segment.recordable && stream_->canRecord() && !stream_->isRecording() && instance_->runs > 0 &&
         nodesOf(segment) <= mostNodes && instance_->usedByBodies[index] == usedByBodies(segment);
}

Status Context::runSegment(size_t index) {
  const Segment &segment = analysis().segments[index];
  std::unique_ptr<Recording> &recording = instance_->recordings[index];
  if (!isReplayable(index)) {
    recording.reset();
    Status status = runSteps(segment);
    instance_->usedByBodies[index] = usedByBodies(segment);
    return status;
  }
  if (!recording) {
    TILEWRIGHT_TRY(stream_->beginRecording());
    Status status = runSteps(segment);
    Expected<std::unique_ptr<Recording>> recorded = stream_->endRecording(); // also after a failure, to stop recording
    TILEWRIGHT_TRY(status);
    TILEWRIGHT_TRY(recorded);
    recording = std::move(*recorded);
    ++counters_->recordings;
  }
  ++counters_->replays;
  return stream_->replay(*recording);
}

Status Context::runSteps(const Segment &segment) {
  for (size_t i = segment.first; i < segment.end; ++i) {
    if (!segment.recordable) // instantiate has checked the sizes of the others
      TILEWRIGHT_TRY(checkStepSizes(plan(), analysis(), *sizes_, plan().steps[i]));
    TILEWRIGHT_TRY(runStep(i));
  }
  return {};
}

Status Context::runStep(size_t index) {
  return std::visit([&](const auto &step) { return runOne(index, step); }, plan().steps[index]);
}

static TensorMapArgs tensorMapArgs(const TensorMap &map, DType type, void *buffer, const ExprValues &sizes) {
  TensorMapArgs args{buffer, type, map.sizes.size(), *sizes.get(map.start)};
  for (size_t d = 0; d < args.rank; ++d) {
    args.sizes[d] = *sizes.get(map.sizes[d]); // have values: checkStepSizes has checked them
    args.strides[d] = *sizes.get(map.strides[d]);
    args.box[d] = map.box[d];
  }
  args.rounded = map.rounded != 0;
  args.arePixels = !map.lower.empty();
  std::ranges::copy(map.lower, args.lower.begin());
  std::ranges::copy(map.upper, args.upper.begin());
  std::ranges::copy(map.steps, args.steps.begin());
  return args;
}

Status Context::runOne(size_t, const Launch &launch) {
  LaunchArgs args;
  args.handle = kernels_->kernels[launch.kernel];
  args.kernel = &plan().kernels[launch.kernel];
  if (isEmpty(launch))
    return {};
  for (size_t i = 0; i < launch.grid.size(); ++i)
    args.grid[i] = *sizes_->get(launch.grid[i]); // has a value: checkStepSizes has checked it
  args.workspaceBytes = launch.workspaceBytes == none ? 0 : static_cast<uint64_t>(*sizes_->get(launch.workspaceBytes));
  launchBuffers_.clear();
  for (ValueId id : launch.buffers)
    launchBuffers_.push_back(addresses_[id]);
  launchScalars_.clear();
  for (ExprId id : launch.scalars)
    launchScalars_.push_back(*sizes_->get(id));
  launchTensorMaps_.clear();
  for (const TensorMap &map : launch.tensorMaps)
    launchTensorMaps_.push_back(
        tensorMapArgs(map, plan().values[launch.buffers[map.buffer]].dtype, launchBuffers_[map.buffer], *sizes_));
  args.tensorMaps = launchTensorMaps_;
  args.buffers = launchBuffers_;
  args.scalars = launchScalars_;
  args.backwards = backwards_;
  ++counters_->launches;
  return stream_->launch(args);
}

Status Context::runOne(size_t index, const WriteDims &write) {
  size_t bytes = write.elements.size() * sizeof(int64_t);
  if (instance_->dims && instance_->dimsOffset[index] != noPlace)
    return stream_->copyIn(addresses_[write.value],
                           static_cast<std::byte *>(instance_->dims.get()) + instance_->dimsOffset[index], bytes);
  std::vector<int64_t> elements;
  for (ExprId id : write.elements) {
    Expected<int64_t> value = sizes_->get(id);
    TILEWRIGHT_TRY(value);
    elements.push_back(*value);
  }
  TILEWRIGHT_TRY(stream_->copyIn(addresses_[write.value], elements.data(), bytes));
  return device_->info().hostMemory ? Status() : synchronize();
}

Status Context::runOne(size_t, const Copy &copy) {
  if (isObjectValue(copy.source)) {
    objects_[copy.target] = objects_[copy.source];
    return {};
  }
  Expected<uint64_t> bytes = valueBytes(plan(), *sizes_, copy.source);
  TILEWRIGHT_TRY(bytes);
  return stream_->copyWithin(addresses_[copy.target], addresses_[copy.source], *bytes);
}

Status Context::runOne(size_t, const Guard &) { return {}; } // checked by checkStepSizes

/// A value as a host tensor for reference kernels. On the host it shares the value's memory; on other devices it is a
/// copy, which is complete only after synchronize().
Expected<Tensor> Context::onHost(ValueId id) {
  const Value &value = plan().values[id];
  if (isObjectValue(id))
    return objects_[id];
  Expected<Shape> shape = valueShape(plan(), *sizes_, id);
  TILEWRIGHT_TRY(shape);
  const Value &root = plan().values[analysis().roots[id]];
  if (device_->info().hostMemory)
    return Tensor::view(value.dtype, *shape, addresses_[id]);
  if (root.kind == ValueKind::Constant) {
    ptrdiff_t offset =
        static_cast<std::byte *>(addresses_[id]) - static_cast<std::byte *>(image_->constants[root.source]);
    const std::byte *bytes = program_->artifact().contents().constants[root.source].data();
    return Tensor::view(value.dtype, *shape, const_cast<std::byte *>(bytes + offset));
  }
  Tensor tensor = Tensor::allocate(value.dtype, *shape);
  TILEWRIGHT_TRY(stream_->copyOut(tensor.bytes(), addresses_[id], tensor.byteSize()));
  return tensor;
}

/// Binds a step's symbols to dimensions of its outputs, and places the values whose sizes are now known.
Status Context::bindLate(size_t index, std::span<const Shape> outputs) {
  std::span<const BoundSymbol> binds = bindsOf(plan().steps[index]);
  if (binds.empty())
    return {};
  for (const BoundSymbol &bound : binds) {
    if (bound.output >= outputs.size() || bound.dim >= outputs[bound.output].size())
      return {sizesDiffer, fmt::format("step {} gave no dimension {} of output {}, which the model declares or uses{}",
                                       index, bound.dim, bound.output, sizesNeedPlan)};
    lateSymbols_[bound.symbol] = outputs[bound.output][bound.dim];
  }
  lateSizes_ = ExprValues::evaluate(plan().exprs, lateSymbols_);
  sizes_ = &lateSizes_;
  return placeKnownAt(static_cast<int64_t>(index));
}

/// Copies an output of a reference kernel to value `id`. If its type or shape is another one, the Status's message is
/// the end of a sentence that runOne begins.
Status Context::copyFromHost(ValueId id, const Tensor &output) {
  const Value &value = plan().values[id];
  Expected<Shape> shape = valueShape(plan(), *sizes_, id);
  TILEWRIGHT_TRY(shape);
  bool shaped = !isObjectValue(id) || value.dtype == DType::String;
  bool typed = output.defined() && output.type() == value.dtype;
  if (!typed || (shaped && output.shape() != *shape))
    return {typed ? sizesDiffer : Code::Malformed,
            fmt::format("which the model declares, or uses, as {} [{}]{}", name(value.dtype), fmt::join(*shape, ", "),
                        sizesNeedPlan)};
  if (isObjectValue(id)) {
    objects_[id] = output;
    return {};
  }
  return stream_->copyIn(addresses_[id], output.bytes(), output.byteSize());
}

/// A deep copy of the tensor; objects own their memory already.
static Tensor ownCopy(const Tensor &tensor) {
  if (!tensor.defined() || isObject(tensor.type()))
    return tensor;
  Tensor copy = Tensor::allocate(tensor.type(), tensor.shape());
  if (tensor.byteSize())
    std::memcpy(copy.bytes(), tensor.bytes(), tensor.byteSize());
  return copy;
}

Status Context::runOne(size_t index, const ReadSizes &read) {
  Expected<Tensor> numbers = onHost(read.value);
  TILEWRIGHT_TRY(numbers);
  if (!device_->info().hostMemory)
    TILEWRIGHT_TRY(synchronize());
  Shape elements(numbers->data<int64_t>(), numbers->data<int64_t>() + numbers->count());
  for (const BoundSymbol &bound : read.binds)
    if (elements[bound.dim] < 0)
      return {Code::Malformed,
              fmt::format("node '{}': expected sizes of at least 0, got {}", read.node, elements[bound.dim])};
  return bindLate(index, std::span(&elements, 1));
}

Status Context::runOne(size_t index, const HostCall &call) {
  ++counters_->hostCalls;
  bool hostMemory = device_->info().hostMemory;
  std::vector<Tensor> inputs;
  for (ValueId id : call.inputs) {
    Expected<Tensor> input = id == none ? Expected<Tensor>(Tensor()) : onHost(id);
    TILEWRIGHT_TRY(input);
    inputs.push_back(*input);
  }
  if (!hostMemory)
    TILEWRIGHT_TRY(synchronize());
  // A sequence may keep an input, whose memory later steps would overwrite.
  if (std::ranges::any_of(call.outputs, [&](ValueId id) { return id != none && isObjectValue(id); }))
    for (Tensor &input : inputs)
      input = ownCopy(input);
  ReferenceCall reference = {call.op, call.domain, call.opset, &call.attributes, call.outputs.size(), &caches_[index]};
  Expected<std::vector<Tensor>> outputs = evaluate(reference, inputs);
  if (!outputs)
    return {outputs.status().code(), fmt::format("node '{}': {}", call.node, outputs.status().message())};
  std::vector<Shape> shapes;
  for (const Tensor &output : *outputs)
    shapes.push_back(output.shape());
  TILEWRIGHT_TRY(bindLate(index, shapes));
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    ValueId id = call.outputs[i];
    if (id == none)
      continue;
    const Tensor output = i < outputs->size() ? (*outputs)[i] : Tensor();
    if (Status taken = copyFromHost(id, output); !taken)
      return {taken.code(), fmt::format("node '{}' gave {} [{}] as output {}, {}", call.node, name(output.type()),
                                        fmt::join(output.shape(), ", "), i, taken.message())};
  }
  return hostMemory ? Status() : synchronize(); // the copies read `outputs`, which end here
}

} // namespace tilewright::runtime
