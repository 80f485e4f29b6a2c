// SPDX-License-Identifier: Apache-2.0
// Branches and loops: bodies are plans, run by contexts of their own on the same stream.
//
//   Loop, iteration t   inputs of the body                      outputs of the body
//     carried           results of t - 1, double-buffered       the other buffer
//     scanned           slice t, copied to a buffer
//     collected                                                 appended to a growing buffer, copied at the end
//
// An iteration is bound like any run of a plan, until two in a row have the same sizes. From then on only the double
// buffers alternate, and the loop is `steady`: even and odd iterations reuse the addresses that were bound before.
//
// On a device that records, each iteration is bound separately, and slices are not copied: scanned ones are read where
// they are, and collected ones are written to their place in the result, if its size is known. Loops whose iterations
// are known beforehand are recorded (isRecordableLoop in runtime/plan/PlanAnalysis.cpp), with the launches and copies
// of all iterations in one chain.
#include "runtime/execute/Addresses.h"
#include "runtime/execute/Context.h"

#include "runtime/artifact/Format.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::runtime {

/// The slices of one collected result, in the order of the iterations.
struct Collection {
  Shape slice;            // the shape of one; known after the first iteration
  uint64_t bytes = 0;     // of one slice
  OwnMemory staging;      // the current iteration's slice, as the body writes it
  OwnMemory slices;       // all slices so far, with spare capacity
  bool isInPlace = false; // slices are written to the result
};

struct LoopState {
  alignas(format::alignment) int64_t iteration = 0; // these two are inputs of the body, read in place
  alignas(format::alignment) uint8_t alwaysTrue = 1;
  int64_t tripCount = -1; // -1: the condition alone ends the loop
  bool continues = true;
  bool steady = false;
  std::array<std::vector<void *>, 2> addresses;  // of the body's values in even and odd iterations
  std::vector<TensorView> carried;               // inputs of the next iteration
  std::vector<std::array<OwnMemory, 2>> buffers; // of the carried values, written in even and odd iterations
  std::vector<TensorView> scanned;
  std::vector<OwnMemory> slices;   // the current slice of each scanned value, where it is copied
  std::vector<void *> slicePlaces; // where the body reads it
  std::vector<Collection> collected;
  OwnMemory condition;
};

//===- Recordings -------------------------------------------------------------------------------------------------===//

/// How many operations a recording of the segment would have, not counting a loop's copies of carried and collected
/// values.
uint64_t Context::nodesOf(const Segment &segment) const {
  uint64_t nodes = 0;
  for (size_t i = segment.first; i < segment.end; ++i) {
    ++nodes;
    const auto *loop = std::get_if<Loop>(&plan().steps[i]);
    if (!loop || loop->scanned.empty())
      continue;
    Expected<Shape> shape = valueShape(plan(), *sizes_, loop->scanned.front().value);
    auto iterations = shape ? static_cast<uint64_t>(shape->front()) : UINT32_MAX;
    nodes += iterations * (tree_->bodies[loop->body.body].plan->steps.size() + loop->scanned.size());
  }
  return nodes;
}

/// Appends the memory that steps of this context, a body's, work in.
void Context::addMemory(MemoryUsed &used) const {
  used.push_back({arena_->memory.get(), arena_->bytes});
  for (const OwnMemory &own : own_)
    used.push_back({own.memory.get(), own.bytes});
}

/// The memory that recordings of this segment's loops hold addresses of, besides the values of this plan. A run at
/// other sizes may have reallocated it, so a recording is valid only while this is unchanged. It has the number of
/// failures too, because after a failure bodies must clear their zeroed values, which a recording does not.
MemoryUsed Context::usedByBodies(const Segment &segment) const {
  MemoryUsed used;
  for (size_t i = segment.first; i < segment.end; ++i) {
    const auto *loop = std::get_if<Loop>(&plan().steps[i]);
    auto state = loops_.find(i);
    if (!loop || state == loops_.end())
      continue;
    auto add = [&](const OwnMemory &own) { used.push_back({own.memory.get(), own.bytes}); };
    used.push_back({nullptr, counters_->failures});
    for (const auto &[even, odd] : state->second->buffers)
      add(even), add(odd);
    for (const OwnMemory &slice : state->second->slices)
      add(slice);
    for (const Collection &collection : state->second->collected)
      add(collection.staging), add(collection.slices);
    if (const auto &body = bodies_[loop->body.body])
      body->addMemory(used);
  }
  return used;
}

//===- Bodies -----------------------------------------------------------------------------------------------------===//

Context &Context::body(uint32_t number) {
  std::unique_ptr<Context> &body = bodies_[number];
  if (body)
    return *body;
  body.reset(new Context());
  body->program_ = program_, body->device_ = device_, body->image_ = image_, body->stream_ = stream_,
  body->counters_ = counters_;
  body->tree_ = &tree_->bodies[number];
  body->kernels_ = &kernels_->bodies[number];
  body->arena_ = bodyArena_;
  body->prepare();
  return *body;
}

/// The value's current shape and address.
Expected<TensorView> Context::viewOf(ValueId id) const {
  const Value &value = plan().values[id];
  if (isObjectValue(id))
    return TensorView{value.dtype, value.dtype == DType::String ? objects_[id].shape() : Shape(), nullptr, false,
                      objects_[id]};
  Expected<Shape> shape = valueShape(plan(), *sizes_, id);
  TILEWRIGHT_TRY(shape);
  return TensorView{value.dtype, std::move(*shape), addresses_[id], !device_->info().hostMemory, {}};
}

Status Context::runBody(Context &body, const BodyUse &use, std::vector<TensorView> inputs, PlaceOutput place) {
  std::vector<int64_t> symbols;
  for (ExprId size : use.sizes) {
    Expected<int64_t> value = sizes_->get(size);
    TILEWRIGHT_TRY(value);
    symbols.push_back(*value);
  }
  for (ValueId capture : use.captures) {
    Expected<TensorView> view = viewOf(capture);
    TILEWRIGHT_TRY(view);
    inputs.push_back(std::move(*view));
  }
  body.boundOutputs_.assign(body.plan().outputs.size(), {});
  body.placeOutput_ = std::move(place);
  body.instance_ = nullptr;
  Status status = body.bindTo(inputs, symbols);
  status = status.ok() ? body.executeHere() : status;
  body.placeOutput_ = nullptr;
  return status;
}

Expected<bool> Context::readBool(const void *place) {
  uint8_t value = 0;
  TILEWRIGHT_TRY(stream_->copyOut(&value, place, 1));
  if (!device_->info().hostMemory)
    TILEWRIGHT_TRY(synchronize());
  return value != 0;
}

Expected<int64_t> Context::readInteger(ValueId id) {
  int64_t value = 0;
  TILEWRIGHT_TRY(stream_->copyOut(&value, addresses_[id], sizeof value));
  if (!device_->info().hostMemory)
    TILEWRIGHT_TRY(synchronize());
  return value;
}

static Status expectOne(const TensorView &view, const std::string &node, std::string_view what) {
  if (elementCount(view.shape) == 1)
    return {};
  return {Code::Malformed, fmt::format("node '{}': expected {} of one element, got shape [{}]", node, what,
                                       fmt::join(view.shape, ", "))};
}

/// Copies an output of a body to value `id`, unless the body has written it there.
Status Context::copyFromBody(ValueId id, const TensorView &given, const std::string &node) {
  const Value &value = plan().values[id];
  if (isObjectValue(id)) {
    objects_[id] = given.object;
    return {};
  }
  Expected<Shape> shape = valueShape(plan(), *sizes_, id);
  TILEWRIGHT_TRY(shape);
  if (given.shape != *shape)
    return {sizesDiffer, fmt::format("node '{}': '{}' would have the shape [{}], expected [{}]", node, value.name,
                                     fmt::join(given.shape, ", "), fmt::join(*shape, ", "))};
  uint64_t bytes = static_cast<uint64_t>(elementCount(*shape)) * elementBytes(value.dtype);
  return given.data == addresses_[id] || bytes == 0 ? Status() : stream_->copyWithin(addresses_[id], given.data, bytes);
}

//===- Branches ---------------------------------------------------------------------------------------------------===//

Status Context::runOne(size_t index, const Branch &branch) {
  Expected<TensorView> condition = viewOf(branch.condition);
  TILEWRIGHT_TRY(condition);
  TILEWRIGHT_TRY(expectOne(*condition, branch.node, "a condition"));
  Expected<bool> isTrue = readBool(condition->data);
  TILEWRIGHT_TRY(isTrue);
  const BodyUse &use = *isTrue ? branch.onTrue : branch.onFalse;
  Context &taken = body(use.body);
  auto place = [&](size_t output, uint64_t bytes) -> Expected<void *> {
    ValueId id = branch.outputs[output];
    if (id == none || analysis().roots[id] != id || plan().values[id].kind == ValueKind::Output)
      return nullptr;
    if (analysis().valueStep[id] == static_cast<int64_t>(index))
      return ownMemory(id, bytes); // the same memory that placeKnownAt will use
    Expected<uint64_t> known = valueBytes(plan(), *sizes_, id);
    TILEWRIGHT_TRY(known);
    return *known == bytes ? addresses_[id] : nullptr;
  };
  if (Status status = runBody(taken, use, {}, place); !status.ok())
    return status;
  std::vector<TensorView> given;
  std::vector<Shape> shapes;
  for (ValueId output : taken.plan().outputs) {
    Expected<TensorView> view = taken.viewOf(output);
    TILEWRIGHT_TRY(view);
    shapes.push_back(view->shape);
    given.push_back(std::move(*view));
  }
  TILEWRIGHT_TRY(bindLate(index, shapes));
  for (size_t i = 0; i < given.size(); ++i)
    if (branch.outputs[i] != none)
      TILEWRIGHT_TRY(copyFromBody(branch.outputs[i], given[i], branch.node));
  return {};
}

//===- Loops ------------------------------------------------------------------------------------------------------===//

Status Context::startLoop(const Loop &loop, LoopState &state) {
  state.iteration = 0, state.tripCount = -1, state.continues = true, state.steady = false;
  state.carried.clear(), state.scanned.clear();
  state.slices.resize(loop.scanned.size());
  state.slicePlaces.resize(loop.scanned.size());
  state.buffers.resize(loop.carried.size());
  state.collected.resize(loop.collected.size());
  for (Collection &collection : state.collected)
    collection.slice.clear(), collection.bytes = 0, collection.isInPlace = false;
  for (ValueId id : loop.carried) {
    Expected<TensorView> view = viewOf(id);
    TILEWRIGHT_TRY(view);
    state.carried.push_back(std::move(*view));
  }
  for (const Slices &slices : loop.scanned) {
    Expected<TensorView> view = viewOf(slices.value);
    TILEWRIGHT_TRY(view);
    int64_t count = view->shape.front();
    if (!state.scanned.empty() && count != state.tripCount)
      return {Code::Malformed, fmt::format("node '{}': expected inputs with equally many slices, got {} and {}",
                                           loop.node, state.tripCount, count)};
    state.tripCount = count;
    state.scanned.push_back(std::move(*view));
  }
  if (loop.tripCount != none) {
    Expected<TensorView> view = viewOf(loop.tripCount);
    TILEWRIGHT_TRY(view);
    TILEWRIGHT_TRY(expectOne(*view, loop.node, "a trip count"));
    Expected<int64_t> count = readInteger(loop.tripCount);
    TILEWRIGHT_TRY(count);
    state.tripCount = std::max<int64_t>(0, *count);
  }
  if (loop.condition != none) {
    Expected<TensorView> view = viewOf(loop.condition);
    TILEWRIGHT_TRY(view);
    TILEWRIGHT_TRY(expectOne(*view, loop.node, "a condition"));
    Expected<bool> first = readBool(view->data);
    TILEWRIGHT_TRY(first);
    state.continues = *first;
  }
  return {};
}

/// A view of the iteration number or the condition, with the rank that the body declares and every dimension 1.
static TensorView oneElement(const Plan &body, size_t input, DType type, void *data) {
  return {type, Shape(body.values[body.inputs[input]].dims.size(), 1), data, false, {}};
}

/// Appends one slice to a collected result.
Status Context::collect(const Loop &loop, LoopState &state, size_t i, const TensorView &slice) {
  Collection &collection = state.collected[i];
  if (state.iteration == 0) {
    collection.slice = slice.shape;
    collection.bytes = static_cast<uint64_t>(elementCount(slice.shape)) * elementBytes(slice.type);
  } else if (collection.slice != slice.shape) {
    return {Code::Malformed, fmt::format("node '{}': expected slices of one shape to collect, got [{}] and [{}]",
                                         loop.node, fmt::join(collection.slice, ", "), fmt::join(slice.shape, ", "))};
  }
  return collection.isInPlace ? Status() : append(collection, state, slice.data);
}

/// The address for this iteration's slice of a collected result: in the result itself if its size is known, is that of
/// all slices together, and keeps every slice aligned; else in `staging`.
Expected<void *> Context::placeSlice(const Loop &loop, LoopState &state, size_t i, uint64_t bytes) {
  Collection &collection = state.collected[i];
  ValueId id = loop.collected[i].value;
  collection.isInPlace = false;
  if (stream_->canRecord() && id != none && !loop.conditional && state.tripCount > 0 && !isObjectValue(id) &&
      analysis().valueStep[id] == atBind && bytes % format::alignment == 0 && isAligned(addresses_[id])) {
    Expected<uint64_t> all = valueBytes(plan(), *sizes_, id);
    TILEWRIGHT_TRY(all);
    collection.isInPlace = *all == bytes * static_cast<uint64_t>(state.tripCount);
  }
  if (!collection.isInPlace)
    return collection.staging.atLeast(*device_, bytes);
  int64_t at = loop.collected[i].reverse ? state.tripCount - 1 - state.iteration : state.iteration;
  return advance(addresses_[id], bytes * static_cast<uint64_t>(at));
}

/// Appends a slice to the buffer of all slices. If it is full it grows: to the size of all slices if the trip count is
/// known and plausible, else to twice its size.
Status Context::append(Collection &collection, const LoopState &state, const void *slice) {
  uint64_t used = collection.bytes * static_cast<uint64_t>(state.iteration), needed = used + collection.bytes;
  if (needed > collection.slices.bytes) {
    constexpr uint64_t little = 1024, most = uint64_t(1)
                                             << 48; // keeps the product in range: trip counts come from data
    uint64_t all = state.tripCount > 0
                       ? std::min(most, static_cast<uint64_t>(state.tripCount)) * std::min(most, collection.bytes)
                       : 0;
    bool whole = all >= needed && all <= 64 * std::max(little, needed);
    OwnMemory larger;
    Expected<void *> room = larger.atLeast(*device_, whole ? all : std::max(2 * needed, little));
    TILEWRIGHT_TRY(room);
    if (used)
      TILEWRIGHT_TRY(stream_->copyWithin(*room, collection.slices.memory.get(), used));
    if (!device_->info().hostMemory)
      TILEWRIGHT_TRY(synchronize()); // the old buffer is freed below
    collection.slices = std::move(larger);
  }
  return collection.bytes ? stream_->copyWithin(advance(collection.slices.memory.get(), used), slice, collection.bytes)
                          : Status();
}

/// Copies this iteration's slice of each scanned value to the buffer that the body reads, unless the body is bound to
/// each slice.
Status Context::copySlices(const Loop &loop, LoopState &state) {
  for (size_t i = 0; i < state.scanned.size(); ++i) {
    const TensorView &all = state.scanned[i];
    uint64_t bytes =
        static_cast<uint64_t>(elementCount(all.shape) / std::max<int64_t>(1, state.tripCount)) * elementBytes(all.type);
    int64_t at = loop.scanned[i].reverse ? state.tripCount - 1 - state.iteration : state.iteration;
    void *slice = advance(all.data, bytes * static_cast<uint64_t>(at));
    if (stream_->canRecord()) {
      state.slicePlaces[i] = slice;
      continue;
    }
    Expected<void *> place = state.slices[i].atLeast(*device_, bytes);
    TILEWRIGHT_TRY(place);
    state.slicePlaces[i] = *place;
    if (bytes)
      TILEWRIGHT_TRY(stream_->copyWithin(*place, slice, bytes));
  }
  return {};
}

/// Binds and runs the body for one iteration. Returns its outputs.
Expected<std::vector<TensorView>> Context::bindIteration(const Loop &loop, LoopState &state) {
  Context &inner = body(loop.body.body);
  std::vector<TensorView> inputs;
  if (loop.counted) {
    inputs.push_back(oneElement(inner.plan(), 0, DType::I64, &state.iteration));
    inputs.push_back(oneElement(inner.plan(), 1, DType::Bool, &state.alwaysTrue));
  }
  inputs.insert(inputs.end(), state.carried.begin(), state.carried.end());
  for (size_t i = 0; i < state.scanned.size(); ++i) {
    TensorView slice = state.scanned[i];
    slice.shape.erase(slice.shape.begin());
    slice.data = state.slicePlaces[i];
    inputs.push_back(std::move(slice));
  }
  size_t firstCarried = loop.conditional ? 1 : 0, firstCollected = firstCarried + loop.carried.size();
  auto place = [&](size_t output, uint64_t bytes) -> Expected<void *> {
    if (output < firstCarried)
      return state.condition.atLeast(*device_, bytes);
    if (output < firstCollected)
      return state.buffers[output - firstCarried][state.iteration % 2].atLeast(*device_, bytes);
    return placeSlice(loop, state, output - firstCollected, bytes);
  };
  TILEWRIGHT_TRY(runBody(inner, loop.body, std::move(inputs), place));
  std::vector<TensorView> given;
  for (ValueId output : inner.plan().outputs) {
    Expected<TensorView> view = inner.viewOf(output);
    TILEWRIGHT_TRY(view);
    given.push_back(std::move(*view));
  }
  return given;
}

/// An iteration with the same sizes as the one before: reuses the addresses that were bound two iterations ago.
Status Context::runSteadyIteration(const Loop &loop, LoopState &state) {
  Context &inner = body(loop.body.body);
  inner.addresses_.swap(state.addresses[state.iteration % 2]);
  Status status;
  if (loop.counted && !device_->info().hostMemory)
    status = stream_->copyIn(inner.addresses_[inner.plan().inputs[0]], &state.iteration, sizeof state.iteration);
  status = status.ok() ? inner.executeHere() : status;
  inner.addresses_.swap(state.addresses[state.iteration % 2]);
  TILEWRIGHT_TRY(status);
  for (size_t i = 0; i < loop.collected.size(); ++i)
    if (loop.collected[i].value != none)
      TILEWRIGHT_TRY(append(state.collected[i], state, state.collected[i].staging.memory.get()));
  for (size_t i = 0; i < state.carried.size(); ++i)
    state.carried[i].data = state.buffers[i][state.iteration % 2].memory.get();
  return {};
}

/// Runs one iteration. Returns whether another may follow.
Expected<bool> Context::runIteration(const Loop &loop, LoopState &state) {
  TILEWRIGHT_TRY(copySlices(loop, state));
  body(loop.body.body).backwards_ = state.iteration % 2 != 0;
  if (state.steady) {
    TILEWRIGHT_TRY(runSteadyIteration(loop, state));
    ++state.iteration;
    return loop.conditional ? readBool(state.condition.memory.get()) : Expected<bool>(true);
  }
  size_t firstCarried = loop.conditional ? 1 : 0, firstCollected = firstCarried + loop.carried.size();
  Context &inner = body(loop.body.body);
  PlanInstance *previous = state.iteration > 0 ? inner.instance_ : nullptr;
  Expected<std::vector<TensorView>> given = bindIteration(loop, state);
  TILEWRIGHT_TRY(given);
  for (size_t i = firstCollected; i < given->size(); ++i)
    if (loop.collected[i - firstCollected].value != none)
      TILEWRIGHT_TRY(collect(loop, state, i - firstCollected, (*given)[i]));
  state.addresses[state.iteration % 2] = inner.addresses_;
  bool same = previous == inner.instance_ && !inner.analysis().bindsWhileRunning;
  for (size_t i = 0; i < state.carried.size(); ++i)
    same = same && !isObject(state.carried[i].type) && (*given)[firstCarried + i].shape == state.carried[i].shape;
  state.steady = same && state.iteration >= 2 && !stream_->canRecord(); // a recording holds one set of addresses
  std::move(given->begin() + static_cast<ptrdiff_t>(firstCarried),
            given->begin() + static_cast<ptrdiff_t>(firstCollected), state.carried.begin());
  ++state.iteration;
  if (!loop.conditional)
    return true;
  TILEWRIGHT_TRY(expectOne(given->front(), loop.node, "a condition of its body"));
  return readBool(given->front().data);
}

/// Binds the symbols that the results' shapes give, and copies the results to their values.
Status Context::finishLoop(size_t index, const Loop &loop, LoopState &state) {
  std::vector<Shape> shapes;
  for (const TensorView &view : state.carried)
    shapes.push_back(view.shape);
  const Plan &inner = body(loop.body.body).plan();
  for (size_t i = 0; i < loop.collected.size(); ++i) {
    ValueId output = inner.outputs[inner.outputs.size() - loop.collected.size() + i];
    Shape slice = state.iteration > 0 ? state.collected[i].slice : Shape();
    for (size_t d = 0; state.iteration == 0 && d < inner.values[output].dims.size(); ++d) {
      const Expr &size = inner.exprs[inner.values[output].dims[d]];
      slice.push_back(size.kind == ExprKind::Constant ? size.lhs : 0); // no iteration ran, so no size is known
    }
    slice.insert(slice.begin(), state.iteration);
    shapes.push_back(std::move(slice));
  }
  TILEWRIGHT_TRY(bindLate(index, shapes));
  for (size_t i = 0; i < loop.finals.size(); ++i)
    if (loop.finals[i] != none)
      TILEWRIGHT_TRY(copyFromBody(loop.finals[i], state.carried[i], loop.node));
  for (size_t i = 0; i < loop.collected.size(); ++i) {
    ValueId id = loop.collected[i].value;
    if (id == none)
      continue;
    Collection &collection = state.collected[i];
    Expected<Shape> expected = valueShape(plan(), *sizes_, id);
    TILEWRIGHT_TRY(expected);
    const Shape &found = shapes[loop.finals.size() + i];
    if (*expected != found && !(state.iteration == 0 && expected->front() == 0))
      return {sizesDiffer, fmt::format("node '{}': '{}' would have the shape [{}], expected [{}]", loop.node,
                                       plan().values[id].name, fmt::join(found, ", "), fmt::join(*expected, ", "))};
    auto from = [&](int64_t slice) {
      return advance(collection.slices.memory.get(), static_cast<uint64_t>(slice) * collection.bytes);
    };
    uint64_t all = collection.isInPlace ? 0 : collection.bytes * static_cast<uint64_t>(state.iteration);
    if (all && !loop.collected[i].reverse)
      TILEWRIGHT_TRY(stream_->copyWithin(addresses_[id], from(0), all));
    for (int64_t slice = 0; all && loop.collected[i].reverse && slice < state.iteration; ++slice)
      TILEWRIGHT_TRY(stream_->copyWithin(advance(addresses_[id], static_cast<uint64_t>(slice) * collection.bytes),
                                         from(state.iteration - 1 - slice), collection.bytes));
  }
  return {};
}

Status Context::runOne(size_t index, const Loop &loop) {
  std::shared_ptr<LoopState> &stored = loops_[index];
  if (!stored)
    stored = std::make_shared<LoopState>();
  LoopState &state = *stored;
  TILEWRIGHT_TRY(startLoop(loop, state));
  while (state.continues && (state.tripCount < 0 || state.iteration < state.tripCount)) {
    Expected<bool> another = runIteration(loop, state);
    TILEWRIGHT_TRY(another);
    state.continues = *another;
  }
  return finishLoop(index, loop, state);
}

} // namespace tilewright::runtime
