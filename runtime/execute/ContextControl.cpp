// Branches and loops: bodies are plans, run by contexts of their own on the same stream.
//
//   Loop, turn t        inputs of the body                  outputs of the body
//     carried           what turn t - 1 gave (two places, in turns)
//     scanned           slice t, copied to one place
//     collected                                             appended to memory that grows, copied at the end
//
// A turn is bound like any run of a plan, until nothing changes any more but which of the two places is read and which
// is written: from then on (`steady`) the two sets of addresses take turns by themselves.
#include "runtime/execute/Context.h"

#include "runtime/artifact/Format.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::runtime {

/// Slices of one result of a loop, in the order of the turns.
struct Collection {
  Shape slice;        // of one turn; known after the first
  uint64_t bytes = 0; // of one slice
  OwnMemory staging;  // of the slice at hand
  OwnMemory slices;   // all of them, with room for more
};

struct LoopState {
  alignas(format::alignment) int64_t turn = 0; // where the body can read them
  alignas(format::alignment) uint8_t always = 1;
  int64_t turns = -1; // -1: until the condition says so
  bool goesOn = true;
  bool steady = false;
  std::array<std::vector<void *>, 2> bound;     // of even and odd turns, in memory that stays
  std::vector<TensorView> carried;              // what the next turn gets
  std::vector<std::array<OwnMemory, 2>> places; // of what is carried
  std::vector<TensorView> scanned;
  std::vector<OwnMemory> slices; // of what is scanned, at this turn
  std::vector<Collection> collected;
  OwnMemory condition;
};

static std::byte *advance(void *base, uint64_t offset) { return static_cast<std::byte *>(base) + offset; }

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

/// A value as the next step would find it.
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
  body.frame_ = nullptr;
  Status status = body.bindTo(inputs, symbols);
  status = status.ok() ? body.execute() : status;
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

/// The value becomes what a body has given for it, which may lie there already.
Status Context::takeFromBody(ValueId id, const TensorView &given, const std::string &node) {
  const Value &value = plan().values[id];
  if (isObjectValue(id)) {
    objects_[id] = given.object;
    return {};
  }
  Expected<Shape> shape = valueShape(plan(), *sizes_, id);
  TILEWRIGHT_TRY(shape);
  if (given.shape != *shape)
    return {Code::Malformed, fmt::format("node '{}': '{}' would have the shape [{}], expected [{}]", node, value.name,
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
      return ownMemory(id, bytes); // where placeKnownAt will look for it
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
      TILEWRIGHT_TRY(takeFromBody(branch.outputs[i], given[i], branch.node));
  return {};
}

//===- Loops ------------------------------------------------------------------------------------------------------===//

Status Context::startLoop(const Loop &loop, LoopState &state) {
  state.turn = 0, state.turns = -1, state.goesOn = true, state.steady = false;
  state.carried.clear(), state.scanned.clear();
  state.slices.resize(loop.scanned.size());
  state.places.resize(loop.carried.size());
  state.collected.resize(loop.collected.size());
  for (Collection &collection : state.collected)
    collection.slice.clear(), collection.bytes = 0;
  for (ValueId id : loop.carried) {
    Expected<TensorView> view = viewOf(id);
    TILEWRIGHT_TRY(view);
    state.carried.push_back(std::move(*view));
  }
  for (const Slices &slices : loop.scanned) {
    Expected<TensorView> view = viewOf(slices.value);
    TILEWRIGHT_TRY(view);
    int64_t count = view->shape.front();
    if (!state.scanned.empty() && count != state.turns)
      return {Code::Malformed, fmt::format("node '{}': expected inputs with equally many slices, got {} and {}",
                                           loop.node, state.turns, count)};
    state.turns = count;
    state.scanned.push_back(std::move(*view));
  }
  if (loop.tripCount != none) {
    Expected<TensorView> view = viewOf(loop.tripCount);
    TILEWRIGHT_TRY(view);
    TILEWRIGHT_TRY(expectOne(*view, loop.node, "a trip count"));
    Expected<int64_t> count = readInteger(loop.tripCount);
    TILEWRIGHT_TRY(count);
    state.turns = std::max<int64_t>(0, *count);
  }
  if (loop.condition != none) {
    Expected<TensorView> view = viewOf(loop.condition);
    TILEWRIGHT_TRY(view);
    TILEWRIGHT_TRY(expectOne(*view, loop.node, "a condition"));
    Expected<bool> first = readBool(view->data);
    TILEWRIGHT_TRY(first);
    state.goesOn = *first;
  }
  return {};
}

/// The turn's number or the condition, of as many dimensions of 1 as the body's input has.
static TensorView oneElement(const Plan &body, size_t input, DType type, void *data) {
  return {type, Shape(body.values[body.inputs[input]].dims.size(), 1), data, false, {}};
}

/// Keeps one slice where the slices before it are, in room that doubles.
Status Context::collect(const Loop &loop, LoopState &state, size_t i, const TensorView &slice) {
  Collection &collection = state.collected[i];
  if (state.turn == 0) {
    collection.slice = slice.shape;
    collection.bytes = static_cast<uint64_t>(elementCount(slice.shape)) * elementBytes(slice.type);
  } else if (collection.slice != slice.shape) {
    return {Code::Malformed, fmt::format("node '{}': expected slices of one shape to collect, got [{}] and [{}]",
                                         loop.node, fmt::join(collection.slice, ", "), fmt::join(slice.shape, ", "))};
  }
  return append(collection, state, slice.data);
}

Status Context::append(Collection &collection, const LoopState &state, const void *slice) {
  uint64_t used = collection.bytes * static_cast<uint64_t>(state.turn), needed = used + collection.bytes;
  if (needed > collection.slices.bytes) {
    constexpr uint64_t little = 1024, most = uint64_t(1) << 48; // a trip count may be anything
    uint64_t all =
        state.turns > 0 ? std::min(most, static_cast<uint64_t>(state.turns)) * std::min(most, collection.bytes) : 0;
    bool whole = all >= needed && all <= 64 * std::max(little, needed);
    OwnMemory larger;
    Expected<void *> room = larger.atLeast(*device_, whole ? all : std::max(2 * needed, little));
    TILEWRIGHT_TRY(room);
    if (used)
      TILEWRIGHT_TRY(stream_->copyWithin(*room, collection.slices.memory.get(), used));
    if (!device_->info().hostMemory)
      TILEWRIGHT_TRY(synchronize()); // the smaller one goes
    collection.slices = std::move(larger);
  }
  return collection.bytes ? stream_->copyWithin(advance(collection.slices.memory.get(), used), slice, collection.bytes)
                          : Status();
}

/// Slices of what is scanned to where the body reads them.
Status Context::takeSlices(const Loop &loop, LoopState &state) {
  for (size_t i = 0; i < state.scanned.size(); ++i) {
    const TensorView &all = state.scanned[i];
    uint64_t bytes =
        static_cast<uint64_t>(elementCount(all.shape) / std::max<int64_t>(1, state.turns)) * elementBytes(all.type);
    int64_t at = loop.scanned[i].reverse ? state.turns - 1 - state.turn : state.turn;
    Expected<void *> place = state.slices[i].atLeast(*device_, bytes);
    TILEWRIGHT_TRY(place);
    if (bytes)
      TILEWRIGHT_TRY(stream_->copyWithin(*place, advance(all.data, bytes * static_cast<uint64_t>(at)), bytes));
  }
  return {};
}

/// Binds and runs the body; what it gives, by its outputs.
Expected<std::vector<TensorView>> Context::bindTurn(const Loop &loop, LoopState &state) {
  Context &turn = body(loop.body.body);
  const Plan &inner = turn.plan();
  std::vector<TensorView> inputs;
  if (loop.counted) {
    inputs.push_back(oneElement(inner, 0, DType::I64, &state.turn));
    inputs.push_back(oneElement(inner, 1, DType::Bool, &state.always));
  }
  inputs.insert(inputs.end(), state.carried.begin(), state.carried.end());
  for (size_t i = 0; i < state.scanned.size(); ++i) {
    TensorView slice = state.scanned[i];
    slice.shape.erase(slice.shape.begin());
    slice.data = state.slices[i].memory.get();
    inputs.push_back(std::move(slice));
  }
  size_t firstCarried = loop.conditional ? 1 : 0, firstCollected = firstCarried + loop.carried.size();
  auto place = [&](size_t output, uint64_t bytes) -> Expected<void *> {
    if (output < firstCarried)
      return state.condition.atLeast(*device_, bytes);
    if (output < firstCollected)
      return state.places[output - firstCarried][state.turn % 2].atLeast(*device_, bytes);
    return state.collected[output - firstCollected].staging.atLeast(*device_, bytes);
  };
  TILEWRIGHT_TRY(runBody(turn, loop.body, std::move(inputs), place));
  std::vector<TensorView> given;
  for (ValueId output : inner.outputs) {
    Expected<TensorView> view = turn.viewOf(output);
    TILEWRIGHT_TRY(view);
    given.push_back(std::move(*view));
  }
  return given;
}

/// A turn like the one before the last.
Status Context::runSteadyTurn(const Loop &loop, LoopState &state) {
  Context &turn = body(loop.body.body);
  turn.addresses_.swap(state.bound[state.turn % 2]);
  Status status;
  if (loop.counted && !device_->info().hostMemory)
    status = stream_->copyIn(turn.addresses_[turn.plan().inputs[0]], &state.turn, sizeof state.turn);
  status = status.ok() ? turn.execute() : status;
  turn.addresses_.swap(state.bound[state.turn % 2]);
  TILEWRIGHT_TRY(status);
  for (size_t i = 0; i < loop.collected.size(); ++i)
    if (loop.collected[i].value != none)
      TILEWRIGHT_TRY(append(state.collected[i], state, state.collected[i].staging.memory.get()));
  for (size_t i = 0; i < state.carried.size(); ++i)
    state.carried[i].data = state.places[i][state.turn % 2].memory.get();
  return {};
}

/// One turn; whether another may follow.
Expected<bool> Context::runTurn(const Loop &loop, LoopState &state) {
  TILEWRIGHT_TRY(takeSlices(loop, state));
  if (state.steady) {
    TILEWRIGHT_TRY(runSteadyTurn(loop, state));
    ++state.turn;
    return loop.conditional ? readBool(state.condition.memory.get()) : Expected<bool>(true);
  }
  size_t firstCarried = loop.conditional ? 1 : 0, firstCollected = firstCarried + loop.carried.size();
  Context &turn = body(loop.body.body);
  Frame *frame = state.turn > 0 ? turn.frame_ : nullptr;
  Expected<std::vector<TensorView>> given = bindTurn(loop, state);
  TILEWRIGHT_TRY(given);
  for (size_t i = firstCollected; i < given->size(); ++i)
    if (loop.collected[i - firstCollected].value != none)
      TILEWRIGHT_TRY(collect(loop, state, i - firstCollected, (*given)[i]));
  state.bound[state.turn % 2] = turn.addresses_;
  bool same = frame == turn.frame_ && !turn.analysis().bindsWhileRunning;
  for (size_t i = 0; i < state.carried.size(); ++i)
    same = same && !isObject(state.carried[i].type) && (*given)[firstCarried + i].shape == state.carried[i].shape;
  state.steady = same && state.turn >= 2 && !stream_->canRecord(); // a recording belongs to one set of addresses
  std::move(given->begin() + static_cast<ptrdiff_t>(firstCarried),
            given->begin() + static_cast<ptrdiff_t>(firstCollected), state.carried.begin());
  ++state.turn;
  if (!loop.conditional)
    return true;
  TILEWRIGHT_TRY(expectOne(given->front(), loop.node, "a condition of its body"));
  return readBool(given->front().data);
}

/// Binds what the loop's results tell, and puts them where they belong.
Status Context::finishLoop(size_t index, const Loop &loop, LoopState &state) {
  std::vector<Shape> shapes;
  for (const TensorView &view : state.carried)
    shapes.push_back(view.shape);
  const Plan &inner = body(loop.body.body).plan();
  for (size_t i = 0; i < loop.collected.size(); ++i) {
    ValueId output = inner.outputs[inner.outputs.size() - loop.collected.size() + i];
    Shape slice = state.turn > 0 ? state.collected[i].slice : Shape();
    for (size_t d = 0; state.turn == 0 && d < inner.values[output].dims.size(); ++d) {
      const Expr &size = inner.exprs[inner.values[output].dims[d]];
      slice.push_back(size.kind == ExprKind::Constant ? size.lhs : 0); // nothing ran that could tell
    }
    slice.insert(slice.begin(), state.turn);
    shapes.push_back(std::move(slice));
  }
  TILEWRIGHT_TRY(bindLate(index, shapes));
  for (size_t i = 0; i < loop.finals.size(); ++i)
    if (loop.finals[i] != none)
      TILEWRIGHT_TRY(takeFromBody(loop.finals[i], state.carried[i], loop.node));
  for (size_t i = 0; i < loop.collected.size(); ++i) {
    ValueId id = loop.collected[i].value;
    if (id == none)
      continue;
    Collection &collection = state.collected[i];
    Expected<Shape> expected = valueShape(plan(), *sizes_, id);
    TILEWRIGHT_TRY(expected);
    const Shape &found = shapes[loop.finals.size() + i];
    if (*expected != found && !(state.turn == 0 && expected->front() == 0))
      return {Code::Malformed, fmt::format("node '{}': '{}' would have the shape [{}], expected [{}]", loop.node,
                                           plan().values[id].name, fmt::join(found, ", "), fmt::join(*expected, ", "))};
    auto from = [&](int64_t slice) {
      return advance(collection.slices.memory.get(), static_cast<uint64_t>(slice) * collection.bytes);
    };
    uint64_t all = collection.bytes * static_cast<uint64_t>(state.turn);
    if (all && !loop.collected[i].reverse)
      TILEWRIGHT_TRY(stream_->copyWithin(addresses_[id], from(0), all));
    for (int64_t slice = 0; all && loop.collected[i].reverse && slice < state.turn; ++slice)
      TILEWRIGHT_TRY(stream_->copyWithin(advance(addresses_[id], static_cast<uint64_t>(slice) * collection.bytes),
                                         from(state.turn - 1 - slice), collection.bytes));
  }
  return {};
}

Status Context::runOne(size_t index, const Loop &loop) {
  std::shared_ptr<LoopState> &kept = loops_[index];
  if (!kept)
    kept = std::make_shared<LoopState>();
  LoopState &state = *kept;
  TILEWRIGHT_TRY(startLoop(loop, state));
  while (state.goesOn && (state.turns < 0 || state.turn < state.turns)) {
    Expected<bool> another = runTurn(loop, state);
    TILEWRIGHT_TRY(another);
    state.goesOn = *another;
  }
  return finishLoop(index, loop, state);
}

} // namespace tilewright::runtime
