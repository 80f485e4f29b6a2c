// SPDX-License-Identifier: Apache-2.0
#include "tilegen/schedule/FewRows.h"

#include "tilegen/roots/Panels.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

constexpr int64_t bytesOfSector = 32;    // the least that is read from memory at a time
constexpr int64_t columnsOfGemv = 4;     // of one block, where each column is contiguous in memory
constexpr int64_t elementsOfGemv = 8192; // that a block multiplies at a time
constexpr int64_t leastElementsOfGemv = 2048, manyBlocksOfGemv = 8; // where there are that many for each unit
// Twice as many where all of k is then one step: a row of 768 halves by 768 or 64 columns took 7.7 and 7.3 us on an
// H100 in steps of 512, of which the second is masked, and 5.5 and 5.1 in one (docs/performance/gpu-products.md).
constexpr int64_t deepestOfOneStep = 1024;
constexpr int64_t elementsPerThreadOfGemv = 32;

/// Tile and step for products whose right side is computed from constants of fewer bytes, such as weights of four bits.
/// The first row is taken whose tile has all rows of the product. Measured on an H200 (docs/performance.md). Blocks
/// share sums until there are about `blocksOfUnit` for each multiprocessor, which hide each other's latency.
struct ComputedTile {
  MatmulTile tile;
  int64_t step;
};
constexpr ComputedTile computedHalves[] = {
    {{16, 128, 8, 2}, 128}, {{16, 64, 4, 4}, 128}, {{32, 64, 4, 2}, 128}, {{64, 64, 4, 2}, 64}, {{128, 64, 4, 2}, 64}};
constexpr ComputedTile computedSingles[] = {{{16, 64, 2, 4}, 64}, {{64, 64, 8, 2}, 64}};
constexpr int64_t columnsOfAccess = 8; // bytes that a thread loads together
// With more parts, or with parts of fewer steps, whose loop is then unrolled, registers spill.
constexpr int64_t stagesOfComputed = 4, mostPartsOfComputed = 8, leastStepsOfComputed = 4;

/// Tiles for products of halves whose time is that of reading the right side, or both right sides of a pair, once.
/// Their rows are read in pieces as long as a tile has columns. Relative to pieces of 256 bytes, 128 reached 0.95 and
/// 64 bytes 0.73 of the memory's rate on an H100. Fewer tiles than half of the multiprocessors are each shared by a
/// cluster, so that more of them read (docs/decisions/gpu-products.md, "Few rows are streamed by clusters"). The first
/// row of the table is taken whose conditions hold.
struct StreamedTile {
  bool isPair;
  int64_t leastRows;                         // of the product; the most are the tile's
  int64_t leastBytes, leastSteps, mostSteps; // of all right sides; along k
  double leastTiles, mostTiles;              // for each multiprocessor
  MatmulTile tile;
  int64_t step, stages, blocks; // blocks: of the cluster that shares a tile
};
constexpr int64_t anySteps = std::numeric_limits<int64_t>::max();
constexpr double anyTiles = std::numeric_limits<double>::infinity();
constexpr StreamedTile streamedTiles[] = {
    // isPair, rows from, bytes from, steps from, steps to, tiles from, tiles to, tile, step, stages, blocks
    {false, 1, 32 << 20, 1, anySteps, 0.5, anyTiles, {16, 128, 4}, 64, 6, 1},
    {false, 1, 32 << 20, 1, anySteps, 0.62, anyTiles, {16, 64, 4}, 128, 6, 1},
    {false, 1, 8 << 20, 16, 32, 0.24, 0.5, {16, 64, 4}, 128, 6, 2},
    {false, 1, 32 << 20, 33, 64, 0.36, 0.5, {16, 64, 4}, 128, 6, 2},
    {false, 1, 8 << 20, 1, 16, 0.24, anyTiles, {16, 64, 4}, 128, 6, 1},
    {false, 1, 32 << 20, 1, anySteps, 0.45, anyTiles, {16, 64, 4}, 128, 8, 1},
    {false, 17, 8 << 20, 32, anySteps, 0.24, 0.5, {64, 64, 4}, 64, 12, 2},
    {false, 17, 32 << 20, 64, anySteps, 0.25, 0.31, {64, 128, 4}, 64, 8, 2},
    {false, 17, 8 << 20, 1, anySteps, 0.45, 1, {64, 64, 4}, 64, 12, 1},
    {false, 17, 32 << 20, 1, anySteps, 0.5, 1, {64, 128, 4}, 64, 9, 1},
    {false, 17, 32 << 20, 1, anySteps, 0.5, anyTiles, {64, 256, 4}, 64, 5, 1},
    {false, 65, 32 << 20, 64, anySteps, 0.36, 0.5, {128, 64, 8}, 64, 8, 2},
    {false, 65, 32 << 20, 1, anySteps, 0.8, 1, {128, 128, 4}, 64, 6, 1},
    {false, 65, 128 << 20, 1, anySteps, 0.9, anyTiles, {128, 256, 8}, 64, 4, 1},
    {true, 1, 32 << 20, 1, anySteps, 0.62, anyTiles, {16, 128, 8}, 32, 6, 1},
    {true, 1, 32 << 20, 1, anySteps, 0.62, anyTiles, {16, 64, 8}, 64, 8, 1},
    {true, 17, 32 << 20, 1, anySteps, 0.62, anyTiles, {32, 128, 8}, 32, 6, 1},
    {true, 33, 32 << 20, 1, anySteps, 0.62, anyTiles, {64, 64, 8}, 64, 4, 1},
};
/// Where there are too few tiles for any row, the first row that fits otherwise shares sums: the most of these parts
/// that make no more blocks than multiprocessors.
constexpr int64_t partsOfStreamed[] = {8, 6, 4, 3, 2}, leastStepsOfPart = 4;

/// Tiles for three or four contractions of halves, such as the gates of a recurrence, where each column of the right
/// sides is contiguous in memory. The smallest tiles let all multiprocessors read, larger ones read the right sides
/// less often. The first row is taken that has at most `mostBlocks` blocks for each multiprocessor. Measured on an H100
/// (docs/performance.md).
struct GatedTile {
  int64_t leastDepth, mostBlocks;
  MatmulTile tile;
  int64_t step, stages;
};
constexpr GatedTile gatedTiles[] = {{512, 2, {16, 8, 1}, 256, 4}, {1, 2, {16, 8, 1}, 64, 4}, {1, 4, {32, 8, 2}, 64, 6}};
constexpr int64_t leastRowsOfGated = 3;

bool multipliesHalves(const KernelSpace &space) { return elementOf(space).isF16() || elementOf(space).isBF16(); }

} // namespace

tile::ScheduleAttr scheduleGemv(const KernelSpace &space, const TargetDesc &target) {
  auto contract = cast<graph::ContractOp>(space.loopOps[0]);
  Type element = cast<RankedTensorType>(contract.getLhs().getType()).getElementType();
  std::optional<int64_t> rows = space.mostOf(space.loopsOfKind(LoopKind::Row).back()),
                         columns = constantOf(space.loops()[space.loopsOfKind(LoopKind::Column).back()].size);
  int64_t depth = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction))
    depth *= space.expectedSize(loop);
  if (!isa<FloatType>(element) || !rows || !columns || depth < target.warpWidth)
    return {};
  int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  int64_t width = std::min(powerAbove(*columns), space.columnsAreContiguous() ? bytesOfSector / bytes : columnsOfGemv),
          height = 1;
  bool fewResults = blocksOf(space, {1, width, 1}) <= int64_t(2) * target.units;
  if (*rows > 1 && *columns > 1 && !fewResults) {
    bool matrixInstructions = bytes <= 2, wideRows = *columns * bytes % (target.vectorBits / 8) == 0;
    if (matrixInstructions || !wideRows || blocksOf(space, {16, 32, 1}) >= target.units)
      return {};
    height = 2; // two rows share each load of the right side, and twice the columns each load of the left side
    width = std::min(powerAbove(*columns), 2 * width);
  }
  // Of many short sums a block takes several, as a convolution of 1x1 to one channel has them.
  int64_t whole = powerAbove(contractionsOf(space));
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction))
    whole *= powerAbove(space.expectedSize(loop));
  while (height * width * whole < leastElementsOfGemv && (height < *rows || width < *columns) &&
         blocksOf(space, {height, width, 1}) > manyBlocksOfGemv * target.units)
    (llvm::divideCeil(*rows, height) > llvm::divideCeil(*columns, width) ? height : width) *= 2;
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1), steps;
  tile.append({height, width});
  int64_t elements = height * width * powerAbove(contractionsOf(space)); // steps are powers of two
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  bool isOneStep = target.bulkCopies && bytes == 2 && height == 1 && reduced.size() == 1 && areSizesKnown(space) &&
                   depth <= deepestOfOneStep;
  for (unsigned loop : llvm::reverse(reduced)) {
    int64_t whole = powerAbove(space.expectedSize(loop));
    steps.insert(steps.begin(), std::min(whole, (isOneStep ? 2 : 1) * elementsOfGemv / elements));
    elements *= steps.front();
  }
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Gemv, tile, steps,
                                     warpsFor(elements, elementsPerThreadOfGemv, target));
}

// So a step of a recurrence of singles takes 2.5 to 3.4 us on an H100, with one row or 16; tiles of matrix
// instructions, which are too few to fill it, took 2 to 5 times as long (docs/performance.md). The right sides are read
// from the second-level cache again for each few rows of the left side.
tile::ScheduleAttr scheduleSums(const KernelSpace &space, const TargetDesc &target) {
  constexpr int64_t mostRows = 32, mostHeight = 8; // with 64 rows, tiles of matrix instructions took 0.7 of the time
  constexpr double mostOfSingles = 1 << 22;        // multiplications; with more, tiles take 0.7 to 0.9 of the time
  std::optional<int64_t> rows = space.mostOf(space.loopsOfKind(LoopKind::Row).back()),
                         columns = constantOf(space.loops()[space.loopsOfKind(LoopKind::Column).back()].size);
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  int64_t depth = space.expectedSize(reduced.back()), together = contractionsOf(space);
  if (!isa<FloatType>(elementOf(space)) || !rows || *rows > mostRows || !columns || reduced.size() != 1 ||
      depth < target.warpWidth)
    return {};
  if (space.columnsAreContiguous()) {
    double multiplications = static_cast<double>(*rows) * *columns * depth * together;
    bool isLittle = *rows == 1 || (!multipliesHalves(space) && multiplications <= mostOfSingles);
    return isLittle ? scheduleGemv(space, target) : tile::ScheduleAttr();
  }
  int64_t height = std::min(powerAbove(*rows), mostHeight),
          width = std::min(powerAbove(*columns), int64_t(llvm::divideCeil(columnsOfGemv, together))),
          step = std::min(powerAbove(depth), elementsOfGemv / (height * width * powerAbove(together)));
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({height, width});
  return tile::ScheduleAttr::ofBlock(
      space.nest.context, RootKind::Gemv, tile, {step},
      warpsFor(height * width * step * powerAbove(together), elementsPerThreadOfGemv, target));
}

tile::ScheduleAttr scheduleGated(const KernelSpace &space, const TargetDesc &target) {
  std::optional<int64_t> rows = space.mostOf(space.loopsOfKind(LoopKind::Row).back());
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  if (!multipliesHalves(space) || contractionsOf(space) < 3 || !target.asyncCopies || !rows ||
      *rows < leastRowsOfGated || reduced.size() != 1 || space.columnsAreContiguous())
    return {};
  int64_t depth = space.expectedSize(reduced.back());
  const auto *row = llvm::find_if(gatedTiles, [&](const GatedTile &row) {
    return depth >= row.leastDepth && blocksOf(space, row.tile) <= row.mostBlocks * target.units;
  });
  if (row == std::end(gatedTiles))
    return {};
  int64_t bytesOfStage = (row->tile.rows + contractionsOf(space) * row->tile.columns) * row->step * 2;
  return makeMatmul(space, row->tile, row->step, std::min(row->stages, target.sharedBytes / bytesOfStage));
}

tile::ScheduleAttr scheduleComputed(const KernelSpace &space, const TargetDesc &target) {
  auto sizeOf = [&](LoopKind kind) { return space.mostOf(space.loopsOfKind(kind).back()); };
  std::optional<int64_t> rows = sizeOf(LoopKind::Row), columns = sizeOf(LoopKind::Column),
                         depth = sizeOf(LoopKind::Reduction);
  ArrayRef<ComputedTile> tiles = elementOf(space).getIntOrFloatBitWidth() == 16 ? ArrayRef(computedHalves)
                                 : multipliesTf32(space, target)                ? ArrayRef(computedSingles)
                                                                                : ArrayRef<ComputedTile>();
  if (!isComputedFromConstants(space) || !target.asyncCopies || space.loopsOfKind(LoopKind::Reduction).size() != 1 ||
      !rows || !columns || !depth)
    return {};
  const auto *chosen = llvm::find_if(tiles, [&](const ComputedTile &row) {
    return *rows <= row.tile.rows && row.tile.columns <= *columns && *columns % columnsOfAccess == 0 &&
           row.step <= *depth;
  });
  if (chosen == tiles.end())
    return {};
  int64_t blocks = blocksOf(space, chosen->tile), steps = llvm::divideCeil(*depth, chosen->step), parts = 1;
  auto areEnough = [&] { return 8 * blocks * parts >= 7 * chosen->tile.blocksOfUnit * target.units; };
  while (!areEnough() && parts < mostPartsOfComputed && steps / (2 * parts) >= leastStepsOfComputed)
    parts *= 2;
  return withParts(space, makeMatmul(space, chosen->tile, chosen->step, stagesOfComputed), parts, blocks);
}

namespace {
/// A contraction of halves whose right sides are constants or inputs of known sizes, as they stand in memory.
struct Stream {
  int64_t rows, columns, depth, bytes; // rows at most; the bytes of all right sides
};
} // namespace

static std::optional<Stream> streamOf(const KernelSpace &space) {
  auto last = [&](LoopKind kind) { return space.loopsOfKind(kind).back(); };
  std::optional<int64_t> rows = space.mostOf(last(LoopKind::Row)),
                         columns = constantOf(space.loops()[last(LoopKind::Column)].size),
                         depth = constantOf(space.loops()[last(LoopKind::Reduction)].size);
  bool isBatch = llvm::any_of(space.loopsOfKind(LoopKind::Parallel),
                              [&](unsigned loop) { return constantOf(space.loops()[loop].size) != 1; });
  if (!multipliesHalves(space) || isBatch || !rows || !columns || !depth || *columns % columnsOfAccess ||
      *depth % columnsOfAccess || space.loopsOfKind(LoopKind::Reduction).size() != 1 || !space.columnsAreContiguous() ||
      !areRightSidesReadPlainly(space))
    return std::nullopt;
  return Stream{*rows, *columns, *depth, *columns * *depth * 2 * contractionsOf(space)};
}

tile::ScheduleAttr scheduleStreamed(const KernelSpace &space, const TargetDesc &target) {
  std::optional<Stream> stream = target.bulkCopies ? streamOf(space) : std::nullopt;
  if (!stream)
    return {};
  auto stepsOf = [&](const StreamedTile &row) { return int64_t(llvm::divideCeil(stream->depth, row.step)); };
  auto fits = [&](const StreamedTile &row) {
    int64_t steps = stepsOf(row);
    return contractionsOf(space) == (row.isPair ? 2 : 1) && stream->rows >= row.leastRows &&
           stream->rows <= row.tile.rows && stream->bytes >= row.leastBytes && steps >= row.leastSteps &&
           steps <= row.mostSteps && row.blocks <= std::max(1, target.clusterBlocks) &&
           (row.isPair || row.leastRows == 1 || isReadPlainly(space.lhs));
  };
  auto make = [&](const StreamedTile &row) { return makeMatmul(space, row.tile, row.step, row.stages); };
  for (const StreamedTile &row : streamedTiles) {
    int64_t blocks = blocksOf(space, row.tile);
    double tiles = double(blocks) / target.units;
    if (fits(row) && tiles >= row.leastTiles && tiles <= row.mostTiles)
      return row.blocks == 1 ? make(row) : withParts(space, make(row), row.blocks, blocks, true);
  }
  const auto *row = llvm::find_if(streamedTiles, fits);
  if (row == std::end(streamedTiles) || row->mostSteps != anySteps || row->leastRows > 1)
    return {};
  int64_t blocks = blocksOf(space, row->tile);
  for (int64_t parts : partsOfStreamed)
    if (blocks * parts <= target.units && stepsOf(*row) / parts >= leastStepsOfPart)
      return withParts(space, make(*row), parts, blocks);
  return {};
}

} // namespace tilewright::tilegen
