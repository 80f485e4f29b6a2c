// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/gpu/SimtEngine.h"
#include "backend/gpu/Intrinsics.h"
#include "tests/backend/gpu/SimtBlock.h"
#include "tests/backend/gpu/SimtCalls.h"
#include "tests/backend/gpu/SimtDevice.h"

#include <cstring>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

//===- Calls ------------------------------------------------------------------------------------------------------===//

static void call(CopyEngine::Builder &b, EngineVerb verb, ValueRange arguments) {
  callThroughTable(b, "simt_engine", EngineVerbCount, verb, {}, arguments);
}

void SimtEngine::prefetchLine(Builder &b, Value address) { call(b, PrefetchLine, address); }
void SimtEngine::copyBox(Builder &b, Value shared, Value map, ArrayRef<Value> coordinates, ArrayRef<Value> offsets,
                         Value barrier, bool /*streamed*/) {
  SmallVector<Value> arguments{shared, map, barrier};
  llvm::append_range(arguments, coordinates);
  while (arguments.size() < 3 + 5)
    arguments.push_back(wordConstant(b, 0));
  llvm::append_range(arguments, offsets);
  while (arguments.size() < 3 + 5 + 3)
    arguments.push_back(wordConstant(b, 0));
  call(b, CopyBox, arguments);
}
void SimtEngine::storeBox(Builder &b, Value shared, Value map, ArrayRef<Value> coordinates) {
  SmallVector<Value> arguments{shared, map};
  llvm::append_range(arguments, coordinates);
  while (arguments.size() < 2 + 5)
    arguments.push_back(wordConstant(b, 0));
  call(b, StoreBox, arguments);
}
void SimtEngine::commitStores(Builder &b) { call(b, CommitStores, {}); }
void SimtEngine::awaitStores(Builder &b, unsigned pending) { call(b, AwaitStores, wordConstant(b, pending)); }
Value SimtEngine::elect(Builder &b, Value lane) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, wordConstant(b, 0));
}
void SimtEngine::writeMatrices(Builder &b, Value address, ArrayRef<Value> words) {
  SmallVector<Value> arguments{address};
  llvm::append_range(arguments, words);
  call(b, WriteMatrices, arguments);
}
void SimtEngine::meetWarp(Builder &b) { call(b, MeetWarp, {}); }
void SimtEngine::makeBarrier(Builder &b, Value address, unsigned arrivals) {
  call(b, MakeBarrier, {address, wordConstant(b, arrivals)});
}
void SimtEngine::expectBytes(Builder &b, Value barrier, unsigned bytes) {
  call(b, ExpectBytes, {barrier, wordConstant(b, bytes)});
}
void SimtEngine::arrive(Builder &b, Value barrier) { call(b, Arrive, barrier); }
void SimtEngine::waitPhase(Builder &b, Value barrier, Value parity) { call(b, WaitPhase, {barrier, parity}); }
void SimtEngine::pause(Builder &b) { call(b, Pause, {}); }
void SimtEngine::roleBarrier(Builder &b, Value number, unsigned threads) {
  call(b, RoleBarrier, {number, wordConstant(b, threads)});
}

//===- What they do -----------------------------------------------------------------------------------------------===//

namespace {

using Coordinates = std::array<int64_t, 5>;

/// PTX ISA, "Im2col mode": the pixel behind `pixel`, within the corners.
void moveToNextPixel(const SimtTensorMap &map, Coordinates &pixel) {
  for (uint32_t d = 1; d + 1 < map.rank; ++d) {
    pixel[d] += map.steps[d - 1];
    if (pixel[d] <= map.sizes[d] - 1 + map.upper[d - 1])
      return;
    pixel[d] = map.lower[d - 1];
  }
  ++pixel[map.rank - 1];
}

/// The coordinates of all elements of a box in order.
std::vector<Coordinates> elementsOf(const PendingBox &box) {
  const SimtTensorMap &map = *box.map;
  std::vector<Coordinates> all;
  Coordinates pixel = {};
  llvm::copy(box.coordinates, pixel.begin());
  for (int64_t i = 0; map.arePixels && i < map.box[1]; ++i, moveToNextPixel(map, pixel))
    for (int64_t channel = 0; channel < map.box[0]; ++channel) {
      Coordinates &element = all.emplace_back(pixel);
      element[0] += channel;
      for (uint32_t d = 1; d + 1 < map.rank; ++d)
        element[d] += box.offsets[d - 1];
    }
  int64_t elements = map.arePixels ? 0 : 1;
  for (uint32_t d = 0; d < map.rank; ++d)
    elements *= map.box[d];
  for (int64_t i = 0; i < elements; ++i) {
    Coordinates &element = all.emplace_back(pixel);
    int64_t rest = i;
    for (uint32_t d = 0; d < map.rank; rest /= map.box[d++])
      element[d] += rest % map.box[d];
  }
  return all;
}

/// CUDA Driver API, "cuTensorMapEncodeTiled": the elements of a box in order, zeros outside of the tensor, in rows
/// whose 16-byte chunks are exchanged by the number of the 128 bytes that they are in. `visit` gets the position and
/// the element, or null.
template <typename Visit> void forEachElement(const PendingBox &box, const Visit &visit) {
  const SimtTensorMap &map = *box.map;
  int64_t i = 0, rowBytes = map.box[0] * map.elementBytes;
  for (const Coordinates &coordinates : elementsOf(box)) {
    int64_t element = 0;
    bool isInside = true;
    for (uint32_t d = 0; d < map.rank; ++d) {
      isInside &= coordinates[d] >= 0 && coordinates[d] < map.sizes[d];
      element += coordinates[d] * map.strides[d];
    }
    auto address = reinterpret_cast<uintptr_t>(box.to) + i++ * map.elementBytes;
    visit(reinterpret_cast<std::byte *>(address ^ (address >> 7 << 4 & (rowBytes - 16))),
          isInside ? map.start + element * map.elementBytes : nullptr);
  }
}

int64_t bytesOf(const SimtTensorMap &map) {
  int64_t bytes = map.elementBytes;
  for (uint32_t d = 0; d < map.rank; ++d)
    bytes *= map.box[d];
  return bytes;
}

/// CUDA Driver API, "CUtensorMapDataType", TFLOAT32: to nearest even, as seen on an H100; a NaN stays one.
void roundToTf32(std::byte *single) {
  uint32_t bits;
  std::memcpy(&bits, single, sizeof bits);
  bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
  bits = isNaN ? 0x7fffffff : (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  std::memcpy(single, &bits, sizeof bits);
}

void finish(EngineBarrier &barrier) {
  for (const PendingBox &box : barrier.boxes) {
    uint32_t bytes = box.map->elementBytes;
    forEachElement(box, [&](std::byte *to, const std::byte *from) {
      from ? std::memcpy(to, from, bytes) : std::memset(to, 0, bytes);
      if (box.map->rounded)
        roundToTf32(to);
      std::memcpy(block->asSeen(to), to, bytes);
    });
    barrier.missingBytes -= bytesOf(*box.map);
  }
  barrier.boxes.clear();
}

/// Ends the phase if everything has come.
void advance(EngineBarrier &barrier) {
  if (barrier.missing || barrier.missingBytes)
    return;
  ++barrier.phase, ++block->progress;
  barrier.missing = barrier.arrivals;
}

/// By a product that its thread has not waited for.
bool isBeingRead(const std::byte *from, int64_t bytes) {
  for (const auto &fiber : block->fibers)
    for (const auto &group : fiber->products)
      for (const PendingRead &read : group)
        if (read.from < from + bytes && from < read.from + read.bytes.size())
          return true;
  return false;
}

void prefetchLine(const std::byte *line) { device->askFor(line); }

void copyBox(std::byte *to, const SimtTensorMap *map, const std::byte *barrier, int32_t c0, int32_t c1, int32_t c2,
             int32_t c3, int32_t c4, int32_t x, int32_t y, int32_t z) {
  PendingBox box{to, map, {c0, c1, c2, c3, c4}, {x, y, z}};
  block->overwritten |= isBeingRead(to, bytesOf(*map));
  block->touchedEarly |= !map->isConstant && !block->self().hasAwaited;
  std::memset(to, 0xff, bytesOf(*map));
  std::memset(block->asSeen(to), 0xff, bytesOf(*map));
  block->barriers[barrier].boxes.push_back(box);
  ++block->progress;
}
void storeBox(std::byte *from, const SimtTensorMap *map, int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4) {
  block->touchedEarly |= map->isConstant || !block->self().hasAwaited;
  block->self().stores.back().push_back({from, map, {c0, c1, c2, c3, c4}});
}
void commitStores() { block->self().stores.emplace_back(); }
void awaitStores(uint32_t pending) {
  auto &stores = block->self().stores; // the last one is open
  for (; stores.size() > size_t(pending) + 1; stores.pop_front())
    for (const PendingBox &box : stores.front())
      forEachElement(box, [&](std::byte *from, const std::byte *to) {
        if (to)
          std::memcpy(const_cast<std::byte *>(to), block->asSeen(from), box.map->elementBytes);
      });
}
/// PTX ISA, stmatrix .m8n8.x4: thread l gives the address of row l % 8 of matrix l / 8.
void writeMatrices(std::byte *address, uint32_t word0, uint32_t word1, uint32_t word2, uint32_t word3) {
  block->self().given = address;
  block->meetWarp();
  const uint32_t words[] = {word0, word1, word2, word3};
  unsigned lane = block->lane();
  for (unsigned matrix = 0; matrix < 4; ++matrix)
    for (unsigned i = 0; i < 2; ++i) {
      unsigned row = lane / 4, column = lane % 4 * 2 + i;
      auto *start = static_cast<std::byte *>(const_cast<void *>(block->inWarp(matrix * 8 + row).given));
      auto element = static_cast<uint16_t>(words[matrix] >> 16 * i);
      std::memcpy(start + column * 2, &element, sizeof element);
    }
  block->meetWarp();
}
void meetWarp() {
  block->meetWarp();
  block->leaveBarrier();
}
void makeBarrier(const std::byte *address, uint32_t arrivals) {
  block->barriers[address] = {arrivals, arrivals, 0, 0, {}};
}
/// Null, which is noted, if no barrier was made there yet: its maker was not waited for.
EngineBarrier *barrierAt(const std::byte *address) {
  auto found = block->barriers.find(address);
  if (found != block->barriers.end())
    return &found->second;
  return block->overwritten = true, nullptr;
}
void arrive(const std::byte *address) {
  ++block->progress;
  if (EngineBarrier *barrier = barrierAt(address)) {
    --barrier->missing;
    advance(*barrier);
  }
}
void expectBytes(const std::byte *address, uint32_t bytes) {
  if (EngineBarrier *barrier = barrierAt(address))
    barrier->missingBytes += bytes;
  arrive(address);
}
void waitPhase(const std::byte *address, uint32_t parity) {
  EngineBarrier *there = barrierAt(address);
  if (!there)
    return;
  EngineBarrier &barrier = *there;
  while ((barrier.phase & 1) == parity) {
    if (!barrier.boxes.empty() && !barrier.missing) {
      finish(barrier);
      advance(barrier);
    } else {
      block->yield();
    }
  }
}
/// The other threads run until they must wait, so that copies whose slots were released start.
void letOthersRun() {
  constexpr int turns = 4; // of each thread of the block; the last one that releases may be behind by some
  for (int turn = 0; turn < turns; ++turn, ++block->progress)
    block->yield();
}
void roleBarrier(uint32_t number, uint32_t threads) {
  RunningBlock::Meeting &meeting = block->meetings[number];
  uint32_t generation = meeting.generation;
  ++block->progress;
  if (++meeting.arrived == threads) {
    meeting.arrived = 0, ++meeting.generation;
    block->leaveBarrier();
    return;
  }
  while (meeting.generation == generation)
    block->yield();
}

} // namespace

std::array<const void *, EngineVerbCount> test::engineVerbs() {
  std::array<const void *, EngineVerbCount> verbs;
  auto set = [&](EngineVerb verb, auto *function) { verbs[verb] = reinterpret_cast<const void *>(function); };
  set(StoreBox, ::storeBox), set(CommitStores, ::commitStores), set(AwaitStores, ::awaitStores);
  set(WriteMatrices, ::writeMatrices), set(PrefetchLine, ::prefetchLine);
  set(MeetWarp, ::meetWarp), set(CopyBox, ::copyBox), set(MakeBarrier, ::makeBarrier), set(ExpectBytes, ::expectBytes),
      set(Arrive, ::arrive);
  set(WaitPhase, ::waitPhase), set(Pause, letOthersRun), set(RoleBarrier, ::roleBarrier);
  return verbs;
}
