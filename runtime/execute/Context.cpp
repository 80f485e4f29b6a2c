// SPDX-License-Identifier: Apache-2.0
// Binding: gives every value an address, from the caller's tensors on. ContextSteps.cpp then runs the steps.
#include "runtime/execute/Context.h"
#include "runtime/execute/Addresses.h"

#include "runtime/artifact/Format.h"
#include "runtime/artifact/StringConstants.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::runtime {

static constexpr size_t keptInstances = 16;

Context::~Context() {
  // Waits, so that memory in use is not freed. A failure cannot be reported here. Contexts of bodies need not wait:
  // their root's destructor, which destroys them, has.
  if (stream_ && program_ && tree_ == &program_->tree())
    static_cast<void>(stream_->synchronize().ok());
}

Expected<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Program> program,
                                                   std::shared_ptr<Device> device, void *externalStream) {
  std::unique_ptr<Context> context(new Context());
  Expected<std::shared_ptr<const DeviceImage>> image = program->image(device);
  TILEWRIGHT_TRY(image);
  Expected<std::unique_ptr<Stream>> stream = device->createStream(externalStream);
  TILEWRIGHT_TRY(stream);
  context->tree_ = &program->tree();
  context->kernels_ = &(*image)->kernels;
  context->arena_ = std::make_shared<Arena>();
  context->counters_ = std::make_shared<Counters>();
  context->program_ = std::move(program);
  context->externalStream_ = externalStream;
  context->device_ = std::move(device);
  context->image_ = *image;
  context->stream_ = std::move(*stream);
  context->prepare();
  return context;
}

/// Sizes the tables by value that do not depend on the bound sizes.
void Context::prepare() {
  own_.resize(plan().values.size());
  objects_.resize(plan().values.size());
  bodyArena_ = std::make_shared<Arena>();
  bodies_.resize(plan().bodies.size());
  decodeConstants();
}

Expected<void *> OwnMemory::atLeast(Device &device, uint64_t needed) {
  if (!memory || bytes < needed || memory.use_count() > 1) {
    *this = {};
    Expected<std::shared_ptr<void>> made = device.allocate(needed);
    TILEWRIGHT_TRY(made);
    memory = *made;
    bytes = needed;
  }
  return memory.get();
}

/// Decodes string constants. Dimensions of constants are constant expressions.
void Context::decodeConstants() {
  for (ValueId id = 0; id < plan().values.size(); ++id) {
    const Value &value = plan().values[id];
    if (value.kind != ValueKind::Constant || value.dtype != DType::String)
      continue;
    Shape shape;
    for (ExprId dim : value.dims)
      shape.push_back(plan().exprs[dim].lhs);
    objects_[id] = decodeStrings(program_->artifact().contents().constants[value.source], std::move(shape));
  }
}

/// Writes the elements of WriteDims steps to staging memory, where a recording can read them. Only for devices with
/// memory of their own.
Status Context::stageDims(PlanInstance &instance) {
  const std::vector<Step> &steps = plan().steps;
  instance.dimsOffset.assign(steps.size(), noPlace);
  uint64_t bytes = 0;
  for (const Segment &segment : analysis().segments)
    for (size_t i = segment.first; segment.recordable && i < segment.end; ++i)
      if (const auto *write = std::get_if<WriteDims>(&steps[i])) {
        instance.dimsOffset[i] = bytes;
        bytes += write->elements.size() * sizeof(int64_t);
      }
  if (bytes == 0)
    return {};
  Expected<std::shared_ptr<void>> staging = device_->allocateStaging(bytes);
  TILEWRIGHT_TRY(staging);
  instance.dims = *staging;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (instance.dimsOffset[i] == noPlace)
      continue;
    auto *elements = reinterpret_cast<int64_t *>(advance(instance.dims.get(), instance.dimsOffset[i]));
    for (ExprId element : std::get<WriteDims>(steps[i]).elements) {
      Expected<int64_t> value = instance.sizes.get(element);
      TILEWRIGHT_TRY(value);
      *elements++ = *value;
    }
  }
  return {};
}

Status Context::selectInstance(std::vector<int64_t> symbols) {
  auto known =
      std::ranges::find(instances_, symbols, [](const auto &instance) -> const auto & { return instance->symbols; });
  if (known != instances_.end()) {
    std::rotate(instances_.begin(), known, known + 1);
  } else {
    bool hostMemory = device_->info().hostMemory;
    Expected<std::unique_ptr<PlanInstance>> made = instantiate(
        plan(), analysis(), std::move(symbols), hostMemory ? ArenaScope::Temporaries : ArenaScope::InputsAndOutputsToo);
    TILEWRIGHT_TRY(made);
    if (!hostMemory)
      TILEWRIGHT_TRY(stageDims(**made));
    instances_.insert(instances_.begin(), std::move(*made));
    ++counters_->instances;
    if (instances_.size() > keptInstances) {
      TILEWRIGHT_TRY(synchronize()); // recordings of the evicted instance may still be running
      instances_.pop_back();
    }
  }
  instance_ = instances_.front().get();
  sizes_ = &instance_->sizes;
  return growArena(instance_->arenaBytes);
}

Status Context::growArena(uint64_t bytes) {
  if (bytes <= arena_->bytes)
    return {};
  TILEWRIGHT_TRY(synchronize());
  *arena_ = {}; // freed before the new one is allocated: both together may not fit
  Expected<std::shared_ptr<void>> memory = device_->allocate(bytes);
  TILEWRIGHT_TRY(memory);
  *arena_ = {*memory, bytes};
  return {};
}

Expected<void *> Context::ownMemory(ValueId id, uint64_t bytes) { return own_[id].atLeast(*device_, bytes); }

Status Context::placeInputs(std::span<const TensorView> inputs) {
  bool hostMemory = device_->info().hostMemory;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ValueId id = plan().inputs[i];
    uint64_t bytes = instance_->bytes[id];
    const TensorView &given = inputs[i];
    if (isObjectValue(id)) {
      objects_[id] = given.object;
      continue;
    }
    if (!given.data && bytes != 0)
      return {Code::Usage, fmt::format("input '{}' has no data", plan().values[id].name)};
    if ((hostMemory || given.onDevice) && given.data && isAligned(given.data)) {
      addresses_[id] = given.data;
      continue;
    }
    Expected<void *> place =
        hostMemory ? ownMemory(id, bytes) : Expected<void *>(advance(arena_->memory.get(), instance_->offsets[id]));
    TILEWRIGHT_TRY(place);
    addresses_[id] = *place;
    if (bytes != 0)
      TILEWRIGHT_TRY(given.onDevice ? stream_->copyWithin(*place, given.data, bytes)
                                    : stream_->copyIn(*place, given.data, bytes));
  }
  return {};
}

Status Context::placeOutput(ValueId id, uint64_t bytes) {
  const Value &output = plan().values[id];
  if (placeOutput_ && !isObjectValue(id)) {
    Expected<void *> place = placeOutput_(output.source, bytes);
    TILEWRIGHT_TRY(place);
    addresses_[id] = *place;
    if (*place)
      return {};
  }
  const TensorView &given = boundOutputs_[output.source];
  if (isObjectValue(id))
    return given.data ? Status(Code::Usage, fmt::format("output '{}' is a {}, which no memory of the caller's can take",
                                                        output.name, name(output.dtype)))
                      : Status();
  bool hostMemory = device_->info().hostMemory;
  if (given.data) {
    Expected<Shape> shape = valueShape(plan(), *sizes_, id);
    TILEWRIGHT_TRY(shape);
    if (given.type != output.dtype || given.shape != *shape)
      return {Code::Usage, fmt::format("the memory for output '{}' has another type or shape than {} {}", output.name,
                                       name(output.dtype), describeDims(plan(), output))};
    if ((hostMemory || given.onDevice) && isAligned(given.data)) {
      addresses_[id] = given.data;
      return {};
    }
  }
  bool inArena = instance_->offsets[id] != noPlace;
  Expected<void *> place =
      inArena ? Expected<void *>(advance(arena_->memory.get(), instance_->offsets[id])) : ownMemory(id, bytes);
  TILEWRIGHT_TRY(place);
  addresses_[id] = *place;
  return {};
}

/// Assigns an address to each value whose size becomes known at `step`.
Status Context::placeKnownAt(int64_t step) {
  for (ValueId id = 0; id < plan().values.size(); ++id) {
    const Value &value = plan().values[id];
    if (analysis().valueStep[id] != step || value.kind == ValueKind::Input)
      continue;
    Expected<uint64_t> bytes =
        step == atBind ? Expected<uint64_t>(instance_->bytes[id]) : valueBytes(plan(), *sizes_, id);
    TILEWRIGHT_TRY(bytes);
    if (value.kind == ValueKind::Constant) {
      addresses_[id] = image_->constants[value.source];
    } else if (value.kind == ValueKind::Alias) {
      Expected<int64_t> offset = sizes_->get(value.byteOffset);
      TILEWRIGHT_TRY(offset);
      addresses_[id] = advance(addresses_[value.source], static_cast<uint64_t>(*offset));
    } else if (value.kind == ValueKind::Output) {
      TILEWRIGHT_TRY(placeOutput(id, *bytes));
    } else if (instance_->offsets[id] != noPlace) {
      addresses_[id] = advance(arena_->memory.get(), instance_->offsets[id]);
    } else if (analysis().firstUse[id] != INT64_MAX) {
      Expected<void *> place = ownMemory(id, *bytes);
      TILEWRIGHT_TRY(place);
      addresses_[id] = *place;
    }
  }
  return {};
}

Status Context::bindHere(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  instance_ = nullptr; // after a failed bind there is nothing to execute
  hasRun_ = false;
  if (!outputs.empty() && outputs.size() != plan().outputs.size())
    return {Code::Usage,
            fmt::format("the model gives {} outputs, got memory for {}", plan().outputs.size(), outputs.size())};
  boundOutputs_.assign(outputs.begin(), outputs.end());
  boundOutputs_.resize(plan().outputs.size());
  return bindTo(inputs, {});
}

Status Context::bindTo(std::span<const TensorView> inputs, std::span<const int64_t> givenSymbols) {
  Expected<std::vector<int64_t>> symbols = bindSymbols(plan(), inputs, givenSymbols);
  TILEWRIGHT_TRY(symbols);
  addresses_.assign(plan().values.size(), nullptr);
  Status status = selectInstance(std::move(*symbols));
  status = status.ok() ? placeInputs(inputs) : status;
  status = status.ok() ? placeKnownAt(atBind) : status;
  if (!status.ok()) {
    instance_ = nullptr;
    return status;
  }
  if (instance_->recordedAddresses != addresses_) {
    for (std::unique_ptr<Recording> &recording : instance_->recordings)
      recording.reset();
    instance_->recordedAddresses = addresses_;
    instance_->runs = 0;
  }
  return {};
}

Status Context::synchronize() {
  if (isBroadcasting_)
    return broadcasting_->synchronize();
  Expected<uint64_t> errorWord = stream_->synchronize();
  if (errorWord && *errorWord == 0)
    return {};
  ++counters_->failures;
  TILEWRIGHT_TRY(errorWord);
  auto sentence = static_cast<uint32_t>(*errorWord);
  const std::vector<std::string> &faults = program_->plan().faults; // those of bodies included
  if (sentence >= faults.size())
    return {Code::Internal, fmt::format("a kernel reported fault {:#x}, which its plan does not list", *errorWord)};
  return {Code::Malformed, faults[sentence]};
}

Expected<std::vector<Tensor>> Context::outputs() {
  if (isBroadcasting_)
    return broadcasting_->outputs();
  if (!hasRun_)
    return Status(Code::Usage, "there are no outputs: bind inputs and execute first");
  std::vector<Tensor> tensors;
  for (ValueId id : plan().outputs) {
    if (isObjectValue(id)) {
      tensors.push_back(objects_[id]);
      continue;
    }
    Expected<Shape> shape = valueShape(plan(), *sizes_, id);
    TILEWRIGHT_TRY(shape);
    DType type = plan().values[id].dtype;
    auto *bytes = static_cast<std::byte *>(addresses_[id]);
    if (device_->info().hostMemory) {
      bool isOwn = addresses_[id] == own_[id].memory.get();
      std::shared_ptr<std::byte[]> memory =
          isOwn ? std::shared_ptr<std::byte[]>(own_[id].memory, bytes)
                : std::shared_ptr<std::byte[]>(bytes, [](std::byte *) {}); // owned by the caller
      tensors.push_back(Tensor(type, *shape, std::move(memory)));
      continue;
    }
    tensors.push_back(Tensor::allocate(type, *shape));
    TILEWRIGHT_TRY(stream_->copyOut(tensors.back().bytes(), bytes, tensors.back().byteSize()));
  }
  TILEWRIGHT_TRY(synchronize());
  return tensors;
}

static std::vector<TensorView> viewsOf(std::span<const Tensor> tensors) {
  std::vector<TensorView> views;
  for (const Tensor &tensor : tensors) {
    bool object = isObject(tensor.type()), shaped = !object || tensor.type() == DType::String;
    views.push_back({tensor.type(), shaped ? tensor.shape() : Shape(),
                     object ? nullptr : const_cast<std::byte *>(tensor.bytes()), false, object ? tensor : Tensor()});
  }
  return views;
}

Expected<std::vector<Tensor>> Context::run(std::span<const Tensor> inputs) {
  TILEWRIGHT_TRY(bind(viewsOf(inputs)));
  TILEWRIGHT_TRY(execute());
  TILEWRIGHT_TRY(synchronize());
  return outputs();
}

Status Context::runInto(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].data)
      return {Code::Usage, fmt::format("the memory for output '{}' is null",
                                       program_->output(std::min(i, plan().outputs.size() - 1)).name)};
  TILEWRIGHT_TRY(bind(inputs, outputs));
  TILEWRIGHT_TRY(execute());
  return isBroadcasting_ ? broadcasting_->copyOutputs(outputs) : copyOutputs(outputs);
}

/// Copies outputs to the caller's memory, except those written there directly.
Status Context::copyOutputs(std::span<const TensorView> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    ValueId id = plan().outputs[i];
    if (addresses_[id] == outputs[i].data)
      continue;
    Expected<uint64_t> bytes = valueBytes(plan(), *sizes_, id);
    TILEWRIGHT_TRY(bytes);
    TILEWRIGHT_TRY(outputs[i].onDevice ? stream_->copyWithin(outputs[i].data, addresses_[id], *bytes)
                                       : stream_->copyOut(outputs[i].data, addresses_[id], *bytes));
  }
  return synchronize();
}

Expected<std::optional<KernelResources>> Context::resources(KernelId id) const {
  const Context &context = active();
  const Kernel &kernel = context.program_->plan().kernels[id];
  Module &module = *context.image_->modules[kernel.code];
  return module.resources(kernel, context.kernels_->kernels[id]);
}

} // namespace tilewright::runtime
