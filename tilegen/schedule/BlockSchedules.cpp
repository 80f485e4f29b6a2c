// SPDX-License-Identifier: Apache-2.0
// Schedules for targets whose programs are blocks of threads: elementwise work, reductions and windows.
//
// A tile is spread over the block's threads, so its sizes are powers of two and their product a multiple of the
// threads; edges are masked.
#include "tilegen/schedule/ContractionTiles.h"
#include "tilegen/schedule/Schedules.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

constexpr int64_t pointwiseElements = 1024; // of one block: 4 warps of 32 with 8 elements each
constexpr int64_t fewestElements = 128;     // of one block
constexpr int64_t stepOfWindow = 8;         // along the innermost loop of a long window
constexpr int64_t longestRow = 8192;        // a row that one block holds in registers
constexpr int64_t stepOfLongRow = 2048;
constexpr int64_t elementsPerThread = 16; // of a row

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

static SmallVector<int64_t> tileParallelLoops(const KernelSpace &space, int64_t elements) {
  SmallVector<int64_t> tiles;
  SmallVector<unsigned> parallel =
      space.loopsOfKind(LoopKind::Parallel); // `reverse` keeps no list that it is given as a temporary
  for (unsigned loop : llvm::reverse(parallel)) {
    tiles.insert(tiles.begin(), tileOf(constantOf(space.loops()[loop].size), elements));
    elements = std::max<int64_t>(1, elements / tiles.front());
  }
  return tiles;
}

/// Elements of one block: few enough that a small problem still occupies every unit. Unknown sizes count as 1, because
/// it matters where they are small.
static int64_t parallelElements(const KernelSpace &space, const TargetDesc &target) {
  int64_t total = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    total *= constantOf(space.loops()[loop].size).value_or(1);
  return std::clamp<int64_t>(powerAbove(total / target.units), fewestElements, pointwiseElements);
}

/// Whether all that a kernel reads has at most two bytes an element.
static bool readsHalves(const KernelSpace &space) {
  graph::KernelOp kernel = space.source;
  return llvm::all_of(kernel.getBody().getArgumentTypes(), [](Type type) {
    return cast<RankedTensorType>(type).getElementType().getIntOrFloatBitWidth() <= 16;
  });
}

/// A schedule for windows of many elements, such as depthwise convolutions of 5x5 and 7x7: blocks of one warp with
/// eight results a thread. Null for others. Measured on an H100 (docs/performance.md): 7x7 of 768 channels of 7x7, 16
/// images, 14 us instead of 25; 96 channels of 56x56, one image, 11 instead of 22. Where blocks are few, a step takes
/// the whole window, so that all of its loads are in flight together: 5x5 of 480 channels of 14x14, one image, 6 us
/// instead of 15. With windows of more than 25 elements that would spill registers, and so would windows of singles,
/// of which a step takes a row.
static tile::ScheduleAttr scheduleLongWindow(const KernelSpace &space, const TargetDesc &target) {
  constexpr int64_t leastTaps = 25, mostTaps = 64, mostAtOnce = 25, columns = 32, elements = 256, blocksOfUnit = 12;
  int64_t taps = 1, total = 1;
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction),
                        parallel = space.loopsOfKind(LoopKind::Parallel);
  for (unsigned loop : reduced)
    taps *= constantOf(space.loops()[loop].size).value_or(0);
  for (unsigned loop : parallel)
    total *= constantOf(space.loops()[loop].size).value_or(1);
  if (space.root != RootKind::Window || reduced.size() != 2 || taps < leastTaps || taps > mostTaps ||
      constantOf(space.loops()[parallel.back()].size).value_or(0) < columns)
    return {};
  SmallVector<int64_t> tile = {columns}, steps(2, 1);
  int64_t left = elements / columns;
  for (unsigned loop : llvm::reverse(ArrayRef(parallel).drop_back())) {
    tile.insert(tile.begin(), tileOf(constantOf(space.loops()[loop].size), left));
    left = std::max<int64_t>(1, left / tile.front());
  }
  if (areSizesKnown(space) && taps <= mostAtOnce && total / elements < blocksOfUnit * target.units)
    for (auto [step, loop] : llvm::zip_equal(steps, reduced))
      if (loop == reduced.back() || readsHalves(space))
        step = powerAbove(*constantOf(space.loops()[loop].size));
  return tile::ScheduleAttr::ofBlock(space.nest.context, space.root, tile, steps, /*warps=*/1);
}

tile::ScheduleAttr blocks::scheduleReductions(const KernelSpace &space, const TargetDesc &target) {
  if (tile::ScheduleAttr schedule = scheduleLongWindow(space, target))
    return schedule;
  int64_t row = 1;
  SmallVector<int64_t> steps;
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  for (unsigned loop : llvm::reverse(reduced)) {
    std::optional<int64_t> size = constantOf(space.loops()[loop].size);
    int64_t limit = std::max<int64_t>(1, longestRow / row);
    // A long window reads several elements before it waits for the first.
    int64_t step = loop == reduced.back() && size.value_or(1) >= 2 * stepOfWindow ? stepOfWindow : 1;
    if (space.root == RootKind::RowReduction)
      step = size && powerAbove(*size) <= limit ? powerAbove(*size) : std::min(stepOfLongRow, limit);
    steps.insert(steps.begin(), step);
    row *= step;
  }
  int64_t each = space.root == RootKind::RowReduction ? std::max<int64_t>(1, pointwiseElements / row)
                                                      : parallelElements(space, target);
  SmallVector<int64_t> tile = tileParallelLoops(space, each);
  int64_t elements = row;
  for (int64_t size : tile)
    elements *= size;
  return tile::ScheduleAttr::ofBlock(space.nest.context, space.root, tile, steps,
                                     warpsFor(elements, elementsPerThread, target));
}

tile::ScheduleAttr blocks::schedulePointwise(const KernelSpace &space, const TargetDesc &target) {
  SmallVector<int64_t> tile = tileParallelLoops(space, pointwiseElements);
  int64_t elements = 1;
  for (int64_t size : tile)
    elements *= size;
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Pointwise, tile, {}, warpsFor(elements, 8, target));
}

} // namespace tilewright::tilegen
