// SPDX-License-Identifier: Apache-2.0
// Schedules for targets whose programs are blocks of threads: elementwise work, reductions and windows.
//
// A tile is spread over the block's threads, so its sizes are powers of two and their product a multiple of the
// threads; edges are masked.
#include "tilegen/schedule/ColumnSchedules.h"
#include "tilegen/schedule/ContractionTiles.h"
#include "tilegen/schedule/Schedules.h"
#include "tilegen/schedule/WindowSchedules.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

constexpr int64_t pointwiseElements = 1024; // of one block: 4 warps of 32 with 8 elements each
constexpr int64_t fewestElements = 128;     // of one block
constexpr int64_t stepOfWindow = 8;         // along the innermost loop of a long window
constexpr int64_t longestRow = 8192;        // a row that one block holds in registers
// Of a longer row. Rows that are fewer than two for each unit have more threads each, if their length is known: masks
// of unknown ones take registers.
constexpr int64_t stepOfLongRow = 2048, stepOfFewRows = 8192;
constexpr int64_t elementsPerThread = 16; // of a row
// Of rows of known number: where there are too few elements to keep every unit busy, blocks and threads have fewer, so
// that more loads are in flight. Of 197 reductions, norms and softmaxes drawn at random (H100) 26 took less than 0.9 of
// the time, down to 0.51, and 2 more than 1.06.
constexpr int64_t fewestElementsOfRows = 256, leastBlocksOfUnit = 2; // of one block
constexpr int64_t fewElementsOfUnit = 3072, elementsPerThreadOfFew = 4, mostThreadsOfFew = 512;
constexpr int64_t leastTransposed = 32, mostTransposed = 64; // elements along both loops of a transposing kernel
constexpr int64_t elementsOfTransposed = 32;                 // of a thread

} // namespace

/// The largest power of two up to `limit` whose tiles exceed `size` by at most an eighth; at least 32 for that reason.
static int64_t tileOf(std::optional<int64_t> size, int64_t limit) {
  if (!size)
    return limit;
  if (powerAbove(*size) <= 32)
    return std::min(limit, powerAbove(*size));
  for (int64_t tile = std::min(limit, powerAbove(*size)); tile > 32; tile /= 2)
    if ((*size + tile - 1) / tile * tile <= *size + *size / 8)
      return tile;
  return std::min<int64_t>(limit, 32);
}

SmallVector<int64_t> blocks::tileParallelLoops(const KernelSpace &space, int64_t elements) {
  SmallVector<int64_t> tiles;
  SmallVector<unsigned> parallel =
      space.loopsOfKind(LoopKind::Parallel); // `reverse` keeps no list that it is given as a temporary
  for (unsigned loop : llvm::reverse(parallel)) {
    tiles.insert(tiles.begin(), tileOf(constantOf(space.loops()[loop].size), elements));
    elements = std::max<int64_t>(1, elements / tiles.front());
  }
  return tiles;
}

int64_t blocks::resultsOf(const KernelSpace &space) {
  int64_t total = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    total *= constantOf(space.loops()[loop].size).value_or(1);
  return total;
}

/// Elements of one block: few enough that a small problem still occupies every unit.
static int64_t parallelElements(const KernelSpace &space, const TargetDesc &target) {
  return std::clamp<int64_t>(powerAbove(blocks::resultsOf(space) / target.units), fewestElements, pointwiseElements);
}

/// Blocks of `tile` results, each of which takes `steps` of the reduced loops at a time, `ofThread` elements a thread.
static tile::ScheduleAttr scheduleBlock(const KernelSpace &space, ArrayRef<int64_t> tile, ArrayRef<int64_t> steps,
                                        int64_t ofThread, const TargetDesc &target) {
  int64_t elements = 1;
  for (int64_t size : llvm::concat<const int64_t>(tile, steps))
    elements *= size;
  return tile::ScheduleAttr::ofBlock(space.nest.context, space.root, tile, steps, warpsFor(elements, ofThread, target));
}

/// What a block and each of its threads have of rows that are padded to `row` elements.
struct RowShare {
  int64_t ofBlock, ofThread;
};
static RowShare rowShareOf(const KernelSpace &space, int64_t row, const TargetDesc &target) {
  RowShare share{pointwiseElements, elementsPerThread};
  if (!areSizesKnown(space))
    return share;
  int64_t elements = blocks::resultsOf(space) * row;
  while (share.ofBlock > fewestElementsOfRows && elements / share.ofBlock < leastBlocksOfUnit * target.units)
    share.ofBlock /= 2;
  if (elements < fewElementsOfUnit * target.units)
    share.ofThread = std::max(elementsPerThreadOfFew, std::min(elementsPerThread, row / mostThreadsOfFew));
  return share;
}

tile::ScheduleAttr blocks::scheduleReductions(const KernelSpace &space, const TargetDesc &target) {
  if (tile::ScheduleAttr schedule = scheduleSlidingWindow(space, target))
    return schedule;
  if (tile::ScheduleAttr schedule = scheduleColumns(space, target))
    return schedule;
  int64_t row = 1, stepOfLong = blocks::resultsOf(space) < int64_t(2) * target.units ? stepOfFewRows : stepOfLongRow;
  SmallVector<int64_t> steps;
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  for (unsigned loop : llvm::reverse(reduced)) {
    std::optional<int64_t> size = constantOf(space.loops()[loop].size);
    int64_t limit = std::max<int64_t>(1, longestRow / row);
    // A long window reads several elements before it waits for the first.
    int64_t step = loop == reduced.back() && size.value_or(1) >= 2 * stepOfWindow ? stepOfWindow : 1;
    if (space.root == RootKind::RowReduction)
      step =
          size && powerAbove(*size) <= limit ? powerAbove(*size) : std::min(size ? stepOfLong : stepOfLongRow, limit);
    steps.insert(steps.begin(), step);
    row *= step;
  }
  if (space.root == RootKind::Window) {
    SmallVector<int64_t> tile = blocks::tileParallelLoops(space, parallelElements(space, target));
    if (tile::ScheduleAttr schedule = scheduleShortWindow(space, tile, target))
      return schedule;
    return scheduleBlock(space, tile, steps, elementsPerThread, target);
  }
  RowShare share = rowShareOf(space, row, target);
  SmallVector<int64_t> tile = blocks::tileParallelLoops(space, std::max<int64_t>(1, share.ofBlock / row));
  return scheduleBlock(space, tile, steps, share.ofThread, target);
}

/// The loop along which neighbours are neighbours in memory in some access that jumps along the innermost loop; nullopt
/// where none does. Such a kernel transposes.
static std::optional<unsigned> transposedLoop(const KernelSpace &space) {
  SmallVector<unsigned> parallel = space.loopsOfKind(LoopKind::Parallel);
  auto strideOf = [&](const Access &access, unsigned loop) {
    auto stride = dyn_cast_if_present<AffineConstantExpr>(space.strideOf(access, loop));
    return stride ? std::optional(stride.getValue()) : std::nullopt;
  };
  for (const Access &access : space.nest.accesses)
    if (access.indexSizes.empty() && strideOf(access, parallel.back()).value_or(0) > 1)
      for (unsigned loop : ArrayRef(parallel).drop_back())
        if (strideOf(access, loop) == 1)
          return loop;
  return std::nullopt;
}

/// A kernel that transposes takes as much of both loops, so that of halves each warp loads pieces of 32 bytes and
/// stores pieces of 128. Null where a loop is too short for that, or the device would be idle.
static tile::ScheduleAttr scheduleTransposed(const KernelSpace &space, const TargetDesc &target) {
  SmallVector<unsigned> parallel = space.loopsOfKind(LoopKind::Parallel);
  std::optional<unsigned> across = parallel.empty() ? std::nullopt : transposedLoop(space);
  if (!across)
    return {};
  int64_t programs = 1, elements = 1;
  SmallVector<int64_t> tile;
  for (unsigned loop : parallel) {
    std::optional<int64_t> size = constantOf(space.loops()[loop].size);
    bool isTiled = loop == *across || loop == parallel.back();
    if (isTiled && size && *size < leastTransposed)
      return {};
    tile.push_back(isTiled ? tileOf(size, mostTransposed) : 1);
    programs *= llvm::divideCeil(size.value_or(1), tile.back());
    elements *= tile.back();
  }
  if (programs < target.units)
    return {};
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Pointwise, tile, {},
                                     warpsFor(elements, elementsOfTransposed, target));
}

tile::ScheduleAttr blocks::schedulePointwise(const KernelSpace &space, const TargetDesc &target) {
  if (tile::ScheduleAttr schedule = scheduleTransposed(space, target))
    return schedule;
  SmallVector<int64_t> tile = blocks::tileParallelLoops(space, pointwiseElements);
  int64_t elements = 1;
  for (int64_t size : tile)
    elements *= size;
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Pointwise, tile, {}, warpsFor(elements, 8, target));
}

} // namespace tilewright::tilegen
