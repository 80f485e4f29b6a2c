// SPDX-License-Identifier: Apache-2.0
// Windows with channels last: those of neighbouring results overlap, so a thread computes several neighbours, and loads
// what their windows share once. The elements of a step are straight code (`unrolled`), so that their loads are in
// flight together. Where there are many results, each thread computes more of them, in short steps; where there are
// few, there are more threads, and steps are long.
//
// The shares were found by timing 40 depthwise convolutions of halves and singles on an H100, 3x3 to 7x7, of 1 to 16
// images, each with up to 30 schedules (docs/performance/gpu-convolutions.md, "Windows in straight code").
#include "tilegen/schedule/WindowSchedules.h"

#include "tilegen/schedule/ContractionTiles.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

constexpr int64_t mostElements = 128;                 // of a window
constexpr int64_t leastColumns = 8, mostColumns = 64; // channels of a block
constexpr int64_t resultsOfVector = 8;
// Of a thread, where windows are those of planes: with 1 or 4, 32 poolings of 2x2 to 5x5 took 1.02 and 1.01 times as
// long (H100).
constexpr int64_t resultsOfThread = 2;
// Elements of a window that a step may take. With more, registers spill, since all of them are loaded first, each with
// its weight.
constexpr int64_t elementsOfStep = 28, elementsOfStepOfSingles = 25;
// Of a window that is one row, which is cut where it is longer. 33, 39 and 51 halves spill at most 32 bytes (ptxas for
// sm_90a) and took 7 to 8 us for 400 results of 256 or 512 channels; 63, 75 and 87 spill 1,428 to 2,216 bytes and took
// 35, 46 and 56 for 512 channels (H100). 39 singles and more spill 1,196 bytes and more.
constexpr int64_t elementsOfRow = 52, elementsOfRowOfSingles = 34;

/// What a thread computes in a step.
struct Share {
  int64_t mostElements;       // of the window for which the row holds
  int64_t leastVectorsOfLane; // of results, for each lane of the device's multiprocessors
  int64_t vectors;            // of results of a thread
  int64_t rows;               // of the window in a step
};
// clang-format off
constexpr Share shares[] = {
    {9, 16, 4, 3},            {9, 0, 1, 3},
    {25, 24, 4, 1},           {25, 8, 2, 2}, {25, 0, 1, 5},
    {mostElements, 12, 4, 1}, {mostElements, 0, 1, 4}};
// clang-format on
// Where there may be any number of images.
constexpr Share sharesOfUnknown[] = {{9, 0, 2, 3}, {mostElements, 0, 2, 2}};

/// Chooses the sizes of a block's tile along all parallel loops but the innermost, all powers of two.
class TileSearch {
public:
  TileSearch(const KernelSpace &space, int64_t vectors);
  /// The tile of `positions` results that reads the fewest elements, padding included.
  SmallVector<int64_t> find(int64_t positions) {
    tile.assign(loops.size(), 1);
    search(loops.size(), positions, 1);
    return best;
  }

private:
  void search(size_t open, int64_t positions, double cost);

  const KernelSpace &space;
  int64_t vectors;
  SmallVector<unsigned> loops;
  SmallVector<int64_t> windows; // how many elements a window has along each loop; 1 where windows do not overlap
  SmallVector<int64_t> tile, best;
  double leastCost = std::numeric_limits<double>::infinity();
};

} // namespace

/// How far `coordinate` moves where `loop` goes `steps` steps from its beginning; nullopt if that is not a number.
static std::optional<int64_t> distanceAlong(AffineExpr coordinate, unsigned loop, int64_t steps, unsigned loops) {
  MLIRContext *context = coordinate.getContext();
  auto at = [&](int64_t step) {
    SmallVector<AffineExpr> dims(loops, getAffineConstantExpr(0, context));
    dims[loop] = getAffineConstantExpr(step, context);
    return coordinate.replaceDims(dims);
  };
  auto number = dyn_cast<AffineConstantExpr>(graph::canonicalSize(at(steps) - at(0)));
  return number ? std::optional(number.getValue()) : std::nullopt;
}

std::optional<unsigned> windowAlong(const KernelSpace &space, unsigned loop) {
  unsigned loops = space.loops().size();
  for (const Access &access : space.nest.accesses)
    for (AffineExpr coordinate : access.coordinates)
      for (unsigned reduced : space.loopsOfKind(LoopKind::Reduction)) {
        std::optional<int64_t> size = constantOf(space.loops()[reduced].size);
        if (!access.indexSizes.empty() || !size || !dependsOn(coordinate, loop) || !dependsOn(coordinate, reduced))
          continue;
        std::optional<int64_t> stride = distanceAlong(coordinate, loop, 1, loops),
                               extent = distanceAlong(coordinate, reduced, *size - 1, loops);
        if (stride && extent && *stride > 0 && *stride <= *extent)
          return reduced;
      }
  return std::nullopt;
}

/// The elements of `count` results along `loop`, with those of tiles that are not full, as a share of the results.
static double paddedShare(const KernelSpace &space, unsigned loop, int64_t count) {
  std::optional<int64_t> size = constantOf(space.loops()[loop].size);
  return size && *size > 0 ? static_cast<double>(llvm::alignTo(*size, count)) / static_cast<double>(*size) : 1;
}

TileSearch::TileSearch(const KernelSpace &space, int64_t vectors)
    : space(space), vectors(vectors), loops(space.loopsOfKind(LoopKind::Parallel)) {
  loops.pop_back();
  for (unsigned loop : loops) {
    std::optional<unsigned> reduced = windowAlong(space, loop);
    windows.push_back(reduced ? *constantOf(space.loops()[*reduced].size) : 1);
  }
}

/// Tries all sizes of the first `open` loops, whose product is `positions`.
void TileSearch::search(size_t open, int64_t positions, double cost) {
  if (open == 0) {
    if (positions == 1 && cost < leastCost) {
      leastCost = cost;
      best = tile;
    }
    return;
  }
  size_t i = open - 1;
  // A thread's vectors are neighbours along the innermost loop.
  int64_t least = open == loops.size() && windows[i] > 1 ? std::min(vectors, positions) : 1;
  for (int64_t size = least; size <= positions; size *= 2) {
    tile[i] = size;
    auto read = static_cast<double>(size - 1 + windows[i]);
    search(i, positions / size, cost * read * paddedShare(space, loops[i], size));
  }
}

/// The channels of a block: the most that pad no more than a quarter.
static int64_t columnsOf(const KernelSpace &space, unsigned loop) {
  int64_t columns = mostColumns;
  while (columns > leastColumns && paddedShare(space, loop, columns) > 1.25)
    columns /= 2;
  return columns;
}

static bool readsHalves(const KernelSpace &space) {
  graph::KernelOp kernel = space.source;
  return llvm::all_of(kernel.getBody().getArgumentTypes(), [](Type type) {
    return cast<RankedTensorType>(type).getElementType().getIntOrFloatBitWidth() <= 16;
  });
}

static Share shareOf(const KernelSpace &space, int64_t elements, const TargetDesc &target) {
  int64_t vectorsOfLane = 0;
  if (areSizesKnown(space)) {
    int64_t results = 1;
    for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
      results *= *constantOf(space.loops()[loop].size);
    vectorsOfLane = results / (resultsOfVector * target.warpWidth * target.units);
  }
  ArrayRef<Share> table = areSizesKnown(space) ? ArrayRef(shares) : ArrayRef(sharesOfUnknown);
  return *llvm::find_if(table, [&](const Share &share) {
    return elements <= share.mostElements && vectorsOfLane >= share.leastVectorsOfLane;
  });
}

/// How many elements of the window a step takes along each reduced loop: whole rows along the innermost loop, and as
/// many of them as registers and `mostRows` allow. Rows that are too long are cut into steps of about equal length.
static SmallVector<int64_t> stepsOf(const KernelSpace &space, int64_t mostRows) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  SmallVector<int64_t> steps(reduced.size(), 1);
  bool areHalves = readsHalves(space);
  int64_t row = *constantOf(space.loops()[reduced.back()].size),
          most = areHalves ? elementsOfStep : elementsOfStepOfSingles,
          longest = areHalves ? elementsOfRow : elementsOfRowOfSingles;
  steps.back() = row > longest ? llvm::divideCeil(row, llvm::divideCeil(row, most)) : row;
  if (reduced.size() > 1 && steps.back() == row) {
    int64_t rows = *constantOf(space.loops()[reduced[reduced.size() - 2]].size);
    steps[reduced.size() - 2] = std::clamp<int64_t>(most / row, 1, std::min(rows, mostRows));
  }
  return steps;
}

/// The elements of a window; 0 where their number is not known or exceeds mostElements along one loop.
static int64_t windowElements(const KernelSpace &space) {
  int64_t elements = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction)) {
    int64_t size = constantOf(space.loops()[loop].size).value_or(0);
    elements = size > mostElements ? 0 : elements * size;
  }
  return elements;
}

tile::ScheduleAttr scheduleSlidingWindow(const KernelSpace &space, const TargetDesc &target) {
  SmallVector<unsigned> parallel = space.loopsOfKind(LoopKind::Parallel);
  if (space.root != graph::RootKind::Window || parallel.size() < 2)
    return {};
  unsigned innermost = parallel.back();
  bool slides =
      llvm::any_of(ArrayRef(parallel).drop_back(), [&](unsigned loop) { return windowAlong(space, loop).has_value(); });
  if (!slides || windowAlong(space, innermost) || constantOf(space.loops()[innermost].size).value_or(0) < leastColumns)
    return {};
  int64_t elements = windowElements(space);
  if (elements < 2 || elements > mostElements)
    return {};
  Share share = shareOf(space, elements, target);
  int64_t columns = columnsOf(space, innermost);
  int64_t positions = share.vectors * resultsOfVector * target.warpWidth / columns; // of a warp's results
  SmallVector<int64_t> tile = TileSearch(space, share.vectors).find(positions);
  tile.push_back(columns);
  return tile::ScheduleAttr::ofUnrolledWindow(space.nest.context, tile, stepsOf(space, share.rows), /*warps=*/1);
}

tile::ScheduleAttr scheduleShortWindow(const KernelSpace &space, ArrayRef<int64_t> tile, const TargetDesc &target) {
  int64_t elements = windowElements(space);
  if (space.root != graph::RootKind::Window || elements < 2 || elements > mostElements)
    return {};
  int64_t results = 1;
  for (int64_t size : tile)
    results *= size;
  return tile::ScheduleAttr::ofUnrolledWindow(space.nest.context, tile, stepsOf(space, /*mostRows=*/elements),
                                              warpsFor(results, resultsOfThread, target));
}

} // namespace tilewright::tilegen
