// SPDX-License-Identifier: Apache-2.0
// Schedules for targets whose programs are blocks of threads: elementwise work, reductions and windows.
//
// A tile is spread over the block's threads, so its sizes are powers of two and their product a multiple of the
// threads; edges are masked.
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

tile::ScheduleAttr blocks::scheduleReductions(const KernelSpace &space, const TargetDesc &target) {
  if (tile::ScheduleAttr schedule = scheduleSlidingWindow(space, target))
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
