// SPDX-License-Identifier: Apache-2.0
// Schedules for targets whose programs are blocks of threads: elementwise work, reductions and windows.
//
// A tile is spread over the block's threads, so its sizes are powers of two and their product a multiple of the
// threads; edges are masked.
#include "tilegen/schedule/ColumnSchedules.h"
#include "tilegen/schedule/ContractionTiles.h"
#include "tilegen/schedule/Schedules.h"
#include "tilegen/schedule/SelectSchedule.h"
#include "tilegen/schedule/WindowSchedules.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

constexpr int64_t pointwiseElements = 1024; // of one block: 4 warps of 32 with 8 elements each
constexpr int64_t fewestElements = 128;     // of one block
constexpr int64_t stepOfWindow = 8;         // along the innermost loop of a long window
constexpr int64_t elementsPerThread = 16;   // of a row
// Of a row that a block holds in registers, with 512 threads at most. Of halves, threads have more elements where rows
// are long and there are enough elements to keep every unit busy with them (docs/performance/gpu-rows.md).
constexpr int64_t mostThreads = 512;
constexpr int64_t leastOfWideThreads = 4096, elementsPerWideThread = 32, leastElementsOfUnit = 16384;
// A step along a longer row, for 512 threads, or twice as many where elements are loaded one by one. Where the row's
// length is not known, masks take registers. The elements of a step along several loops.
constexpr int64_t stepOfLongRow = 4096, stepOfUnknownRow = 2048, stepOfLoops = 8192;
// Of rows of known number: where there are too few elements to keep every unit busy, blocks and threads have fewer, so
// that more loads are in flight. Of 197 reductions, norms and softmaxes drawn at random (H100) 26 took less than 0.9 of
// the time, down to 0.51, and 2 more than 1.06.
constexpr int64_t fewestElementsOfRows = 256, leastBlocksOfUnit = 2; // of one block
constexpr int64_t fewElementsOfUnit = 3072, elementsPerThreadOfFew = 4;
// Rows that a cluster holds: how many are few, of those shorter than `longRow` and of others; how many are not too
// many; and how much of the tile a row fills that is not padded much, and hardly (docs/performance/gpu-rows.md, "Rows
// of a cluster").
constexpr int64_t longRow = 1 << 16, longRowOfSingles = 3 << 14, fewShortRows = 32, fewLongRows = 64, someRows = 256;
constexpr double littlePadding = 3. / 4, hardlyPadded = 7. / 8;
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

/// The reduced loops of a kernel, as they are walked.
struct RowSteps {
  SmallVector<int64_t> ofLoop;
  int64_t elements = 1; // of a step of all of them
  bool isWhole = true;  // a step is the row
};
static RowSteps stepsOfRow(const KernelSpace &space) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  SmallVector<std::optional<int64_t>> padded; // of each loop
  int64_t row = 1;
  for (unsigned loop : reduced) {
    std::optional<int64_t> size = constantOf(space.loops()[loop].size);
    padded.push_back(size ? std::optional(powerAbove(*size)) : std::nullopt);
    row = size && *padded.back() <= blocks::longestRow / row ? row * *padded.back() : blocks::longestRow + 1;
  }
  RowSteps steps;
  steps.isWhole = row <= blocks::longestRow;
  for (std::optional<int64_t> whole : llvm::reverse(padded)) {
    int64_t limit = std::max<int64_t>(1, (steps.isWhole ? blocks::longestRow : stepOfLoops) / steps.elements),
            part = std::min(whole ? stepOfLongRow : stepOfUnknownRow, limit);
    steps.ofLoop.insert(steps.ofLoop.begin(), whole && *whole <= limit ? *whole : part);
    steps.elements *= steps.ofLoop.front();
  }
  return steps;
}

static bool readsHalvesOnly(const KernelSpace &space) {
  graph::KernelOp kernel = space.source;
  return llvm::all_of(kernel.getBody().getArgumentTypes(),
                      [](Type type) { return cast<RankedTensorType>(type).getElementTypeBitWidth() <= 16; });
}

/// What a block and each of its threads have of rows.
struct RowShare {
  int64_t ofBlock, ofThread;
};
static RowShare rowShareOf(const KernelSpace &space, const RowSteps &steps, const TargetDesc &target) {
  int64_t fewest = std::max<int64_t>(1, steps.elements / mostThreads); // of a thread
  RowShare share{pointwiseElements, std::max(elementsPerThread, fewest)};
  std::optional<int64_t> length = constantOf(space.loops()[space.loopsOfKind(LoopKind::Reduction).back()].size);
  bool isLongRow = length && !steps.isWhole && steps.ofLoop.size() == 1;
  if (isLongRow)
    share.ofThread = *length % 2 ? fewest / 2 : fewest;
  if (!areSizesKnown(space))
    return share;
  int64_t rows = blocks::resultsOf(space), elements = rows * steps.elements;
  while (share.ofBlock > fewestElementsOfRows && elements / share.ofBlock < leastBlocksOfUnit * target.units)
    share.ofBlock /= 2;
  if (isLongRow)
    return share;
  if (elements < fewElementsOfUnit * target.units)
    share.ofThread = std::max(fewest, elementsPerThreadOfFew);
  else if (steps.isWhole && steps.elements >= leastOfWideThreads && elements >= leastElementsOfUnit * target.units &&
           readsHalvesOnly(space))
    share.ofThread = elementsPerWideThread;
  return share;
}

/// Is there a result for each element of the rows?
static bool writesRows(const KernelSpace &space, unsigned loop) {
  return llvm::any_of(space.outputs, [&](const Exprs &coordinates) {
    return llvm::any_of(coordinates, [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); });
  });
}

/// Are the elements of everything that the kernel reads and reduces singles, or narrower?
static bool fitsRegisters(const KernelSpace &space) {
  graph::KernelOp kernel = space.source;
  auto isNarrow = [](Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() <= 32; };
  return llvm::all_of(kernel.getBody().getArguments(), isNarrow) &&
         llvm::all_of(space.loopOps, [&](Operation *reduce) { return isNarrow(reduce->getOperand(0)); });
}

/// Loops along a row read it again from the second-level cache. That is faster where much of a cluster's tile is
/// padding, and for halves mostly, unless there are so few rows that most units would have none.
static bool paysInClusters(const KernelSpace &space, unsigned loop, int64_t length) {
  int64_t rows = areSizesKnown(space) ? blocks::resultsOf(space) : someRows + 1;
  if (rows <= (length < longRow ? fewShortRows : fewLongRows))
    return true;
  bool isHalf = readsHalvesOnly(space);
  if (isHalf && (length < longRow || !writesRows(space, loop)))
    return false;
  double full = static_cast<double>(length) / static_cast<double>(powerAbove(length));
  bool mayBePadded = rows <= someRows || (!isHalf && length >= longRowOfSingles);
  return full >= (mayBePadded ? littlePadding : hardlyPadded);
}

/// All blocks of a cluster hold a row together that is too long for one of them. Null where that is not possible, or
/// does not pay.
static tile::ScheduleAttr scheduleRowsOfClusters(const KernelSpace &space, const TargetDesc &target) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  if (reduced.size() != 1)
    return {};
  std::optional<int64_t> length = constantOf(space.loops()[reduced.front()].size);
  bool isLong = length && *length > blocks::longestRow && *length <= longestHeldRow(target),
       isReadAgain = space.loopOps.size() > 1 || writesRows(space, reduced.front());
  if (!isLong || !isReadAgain || !fitsRegisters(space) || !paysInClusters(space, reduced.front(), *length))
    return {};
  int64_t row = powerAbove(*length), share = row / target.clusterBlocks;
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  return tile::ScheduleAttr::ofBlock(space.nest.context, space.root, tile, row,
                                     warpsFor(share, elementsPerWideThread, target))
      .withParts(target.clusterBlocks, /*clustered=*/true, /*mostTiles=*/0);
}

tile::ScheduleAttr blocks::scheduleReductions(const KernelSpace &space, const TargetDesc &target) {
  if (tile::ScheduleAttr schedule = scheduleSlidingWindow(space, target))
    return schedule;
  if (tile::ScheduleAttr schedule = scheduleColumns(space, target))
    return schedule;
  if (space.root == RootKind::Window) {
    // A long window reads several elements before it waits for the first.
    SmallVector<int64_t> steps, tile = blocks::tileParallelLoops(space, parallelElements(space, target));
    steps.assign(space.loopsOfKind(LoopKind::Reduction).size(), 1);
    if (constantOf(space.loops()[space.loopsOfKind(LoopKind::Reduction).back()].size).value_or(1) >= 2 * stepOfWindow)
      steps.back() = stepOfWindow;
    if (tile::ScheduleAttr schedule = scheduleShortWindow(space, tile, target))
      return schedule;
    return scheduleBlock(space, tile, steps, elementsPerThread, target);
  }
  if (tile::ScheduleAttr schedule = scheduleRowsOfClusters(space, target))
    return schedule;
  RowSteps steps = stepsOfRow(space);
  RowShare share = rowShareOf(space, steps, target);
  SmallVector<int64_t> tile = blocks::tileParallelLoops(space, std::max<int64_t>(1, share.ofBlock / steps.elements));
  return scheduleBlock(space, tile, steps.ofLoop, share.ofThread, target);
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
