// Binding: from the caller's tensors to an address for every value. ContextSteps.cpp then runs the steps.
#include "runtime/execute/Context.h"

#include "runtime/artifact/Format.h"
#include "runtime/artifact/StringConstants.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::runtime {

static constexpr size_t keptFrames = 16;

static bool isAligned(const void *address) { return reinterpret_cast<uintptr_t>(address) % format::alignment == 0; }

static std::byte *advance(void *base, uint64_t offset) { return static_cast<std::byte *>(base) + offset; }

Context::~Context() {
  if (stream_ && program_ && tree_ == &program_->tree()) // bodies end with their root
    static_cast<void>(stream_->synchronize()
                          .ok()); // the memory that this frees may still be in use; a failure has no reader any more
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

/// Room for what the plan's values need outside of the arena.
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

/// Constants that are strings; their dimensions are constants too.
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

/// On a device with memory of its own, the elements of dims tensors wait in staging memory, where a recording can find
/// them.
Status Context::stageDims(Frame &frame) {
  const std::vector<Step> &steps = plan().steps;
  frame.dimsOffset.assign(steps.size(), noPlace);
  uint64_t bytes = 0;
  for (const Segment &segment : analysis().segments)
    for (size_t i = segment.first; segment.recordable && i < segment.end; ++i)
      if (const auto *write = std::get_if<WriteDims>(&steps[i])) {
        frame.dimsOffset[i] = bytes;
        bytes += write->elements.size() * sizeof(int64_t);
      }
  if (bytes == 0)
    return {};
  Expected<std::shared_ptr<void>> staging = device_->allocateStaging(bytes);
  TILEWRIGHT_TRY(staging);
  frame.dims = *staging;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (frame.dimsOffset[i] == noPlace)
      continue;
    auto *elements = reinterpret_cast<int64_t *>(advance(frame.dims.get(), frame.dimsOffset[i]));
    for (ExprId element : std::get<WriteDims>(steps[i]).elements) {
      Expected<int64_t> value = frame.sizes.get(element);
      TILEWRIGHT_TRY(value);
      *elements++ = *value;
    }
  }
  return {};
}

Status Context::selectFrame(std::vector<int64_t> symbols) {
  auto known = std::ranges::find(frames_, symbols, [](const auto &frame) -> const auto & { return frame->symbols; });
  if (known != frames_.end()) {
    std::rotate(frames_.begin(), known, known + 1);
  } else {
    bool hostMemory = device_->info().hostMemory;
    Expected<std::unique_ptr<Frame>> made = makeFrame(
        plan(), analysis(), std::move(symbols), hostMemory ? ArenaScope::Temporaries : ArenaScope::InputsAndOutputsToo);
    TILEWRIGHT_TRY(made);
    if (!hostMemory)
      TILEWRIGHT_TRY(stageDims(**made));
    frames_.insert(frames_.begin(), std::move(*made));
    ++counters_->frames;
    if (frames_.size() > keptFrames) {
      TILEWRIGHT_TRY(synchronize()); // its recordings may still be running
      frames_.pop_back();
    }
  }
  frame_ = frames_.front().get();
  sizes_ = &frame_->sizes;
  return growArena(frame_->arenaBytes);
}

Status Context::growArena(uint64_t bytes) {
  if (bytes <= arena_->bytes)
    return {};
  TILEWRIGHT_TRY(synchronize());
  *arena_ = {}; // before the new one is there: the two together may not fit
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
    uint64_t bytes = frame_->bytes[id];
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
        hostMemory ? ownMemory(id, bytes) : Expected<void *>(advance(arena_->memory.get(), frame_->offsets[id]));
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
    if ((addresses_[id] = *place))
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
  bool inArena = frame_->offsets[id] != noPlace;
  Expected<void *> place =
      inArena ? Expected<void *>(advance(arena_->memory.get(), frame_->offsets[id])) : ownMemory(id, bytes);
  TILEWRIGHT_TRY(place);
  addresses_[id] = *place;
  return {};
}

/// Gives an address to each value whose place and size become known at `step`.
Status Context::placeKnownAt(int64_t step) {
  for (ValueId id = 0; id < plan().values.size(); ++id) {
    const Value &value = plan().values[id];
    if (analysis().valueStep[id] != step || value.kind == ValueKind::Input)
      continue;
    Expected<uint64_t> bytes = step == atBind ? Expected<uint64_t>(frame_->bytes[id]) : valueBytes(plan(), *sizes_, id);
    TILEWRIGHT_TRY(bytes);
    if (value.kind == ValueKind::Constant) {
      addresses_[id] = image_->constants[value.source];
    } else if (value.kind == ValueKind::Alias) {
      Expected<int64_t> offset = sizes_->get(value.byteOffset);
      TILEWRIGHT_TRY(offset);
      addresses_[id] = advance(addresses_[value.source], static_cast<uint64_t>(*offset));
    } else if (value.kind == ValueKind::Output) {
      TILEWRIGHT_TRY(placeOutput(id, *bytes));
    } else if (frame_->offsets[id] != noPlace) {
      addresses_[id] = advance(arena_->memory.get(), frame_->offsets[id]);
    } else if (analysis().firstUse[id] != INT64_MAX) {
      Expected<void *> place = ownMemory(id, *bytes);
      TILEWRIGHT_TRY(place);
      addresses_[id] = *place;
    }
  }
  return {};
}

/// This plan first: it is the faster one.
Status Context::bind(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  isBroadcasting_ = false;
  Status status = bindHere(inputs, outputs);
  bool isSizes = status.code() == Code::Usage || status.code() == Code::Malformed;
  if (status.ok() || !isSizes || !program_->broadcasting())
    return status;
  if (!broadcasting_) {
    Expected<std::unique_ptr<Context>> made = create(program_->broadcasting(), device_, externalStream_);
    TILEWRIGHT_TRY(made);
    broadcasting_ = std::move(*made);
  }
  isBroadcasting_ = broadcasting_->bindHere(inputs, outputs).ok();
  return isBroadcasting_ ? Status() : status;
}

Status Context::bindHere(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  frame_ = nullptr; // a failed bind leaves nothing to execute
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
  Status status = selectFrame(std::move(*symbols));
  status = status.ok() ? placeInputs(inputs) : status;
  status = status.ok() ? placeKnownAt(atBind) : status;
  if (!status.ok()) {
    frame_ = nullptr;
    return status;
  }
  if (frame_->recordedAddresses != addresses_) {
    for (std::unique_ptr<Recording> &recording : frame_->recordings)
      recording.reset();
    frame_->recordedAddresses = addresses_;
    frame_->runs = 0;
  }
  return {};
}

Status Context::synchronize() {
  if (isBroadcasting_)
    return broadcasting_->synchronize();
  Expected<uint64_t> errorWord = stream_->synchronize();
  TILEWRIGHT_TRY(errorWord);
  if (*errorWord == 0)
    return {};
  auto sentence = static_cast<uint32_t>(*errorWord);
  const std::vector<std::string> &faults = program_->plan().faults; // of bodies too
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
                : std::shared_ptr<std::byte[]>(bytes, [](std::byte *) {}); // the caller's
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

/// To where the caller wants them, unless they were made there.
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

} // namespace tilewright::runtime
