// SPDX-License-Identifier: Apache-2.0
// The tables of tiles with roles, and the estimate that chooses among them:
//
//   single group   rounds of blocks * (multiplying + epilogue)
//   two groups     rounds of blocks * max(multiplying, (multiplying + epilogue) / 2) + start + the last epilogue / 2
//
// Of two groups, one multiplies while the other has its epilogue. Multiplying takes at least as long as copying, which
// is the longer one where rows of the operands are no lines of the cache. Fitted to 61 products and convolutions with
// 2 to 180 steps on an H100, and 64x256, 64x320 and 128x320 of halves to 66 products. For the 112 products of
// RoleTilesTest, what is chosen, with parts where sums are shared (SharedSums.cpp), takes 1.014 times as long as the
// best in the geometric mean, at most 1.11 (docs/performance/gpu-products.md, "Tiles of 320 columns, and what an
// epilogue costs", "Which tiles are neighbours" and "Rows that are lines").
#include "tilegen/schedule/RoleSchedules.h"

#include "tilegen/roots/Panels.h"
#include "tilegen/tile/MatmulPrecision.h"
#include "tilegen/tile/StorePieces.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

/// A tile for blocks with roles. `efficiency` is the rate of the matrix units that it reaches relative to the best
/// tile; `groups` of `tile.warps` warps each multiply.
struct RoleTile {
  MatmulTile tile;
  double efficiency;
  int64_t groups;
};
constexpr RoleTile roleTiles[] = {{{128, 256, 8}, 1.00, 1}, {{128, 320, 8}, 0.91, 1}, {{256, 128, 8}, 0.99, 1},
                                  {{128, 192, 8}, 0.95, 1}, {{128, 160, 8}, 0.90, 1}, {{128, 128, 4}, 0.92, 2},
                                  {{128, 128, 8}, 0.90, 1}, {{64, 320, 4}, 0.85, 2},  {{64, 256, 4}, 0.88, 2},
                                  {{64, 192, 4}, 0.78, 2},  {{64, 128, 4}, 0.68, 1},  {{128, 64, 4}, 0.66, 1},
                                  {{64, 64, 4}, 0.49, 1}};
/// The same for singles that the copy engine rounds.
constexpr RoleTile roundedRoleTiles[] = {{{128, 256, 8}, 1.00, 1}, {{128, 192, 8}, 0.95, 1}, {{64, 320, 4}, 0.88, 2},
                                         {{128, 128, 8}, 0.84, 1}, {{64, 128, 4}, 0.65, 2},  {{128, 64, 4}, 0.50, 1},
                                         {{64, 64, 4}, 0.45, 1}};
/// The same for a pair of contractions, each of which has half of the tile's columns: enough for an instruction. Of the
/// first three, 128x256 was measured to be the best for pairs, with 4,096 rows; the efficiencies are assumed to be
/// those of single contractions.
constexpr RoleTile pairedRoleTiles[] = {
    {{128, 256, 8}, 1.00, 1}, {{256, 128, 8}, 0.99, 1}, {{128, 128, 4}, 0.92, 2}, {{64, 128, 4}, 0.68, 1}};
/// The same where the copy engine walks pixels. Results may be planes of an image, contiguous along the tile's rows, so
/// that storing them takes long, and is faster with more warps.
constexpr RoleTile pixelRoleTiles[] = {{{128, 256, 8}, 1.00, 1}, {{128, 320, 8}, 0.97, 1}, {{128, 192, 8}, 0.96, 1},
                                       {{64, 320, 4}, 0.96, 2},  {{256, 128, 8}, 0.94, 1}, {{128, 128, 8}, 0.80, 1},
                                       {{64, 128, 4}, 0.70, 2},  {{128, 64, 4}, 0.64, 1},  {{64, 64, 4}, 0.49, 1},
                                       {{128, 224, 8}, 0.96, 1}, {{128, 160, 8}, 0.92, 1}, {{256, 96, 8}, 0.92, 1},
                                       {{64, 160, 4}, 0.85, 1},  {{128, 96, 8}, 0.70, 1},  {{256, 48, 8}, 0.64, 1},
                                       {{128, 32, 4}, 0.50, 1},  {{64, 192, 4}, 0.78, 2}};
/// The same with half a row of 32 channels a step. Fitted together with warps that gather pixels without roles
/// (warpgroupTiles in ContractionSchedules.cpp) to 32 convolutions of 32 to 480 channels on an H100: what is chosen
/// takes 1.005 times as long as the best (docs/performance/gpu-convolutions.md, "Channels and filters that are no
/// multiple of 64").
constexpr RoleTile halfPixelRoleTiles[] = {{{128, 256, 8}, 1.00, 1}, {{256, 128, 8}, 0.93, 1}, {{128, 224, 8}, 0.90, 1},
                                           {{128, 192, 8}, 0.90, 1}, {{256, 96, 8}, 0.84, 1},  {{128, 160, 8}, 0.80, 1},
                                           {{128, 128, 8}, 0.71, 1}, {{128, 96, 8}, 0.60, 1},  {{64, 160, 4}, 0.50, 1},
                                           {{128, 64, 4}, 0.49, 1}};
/// The same for other results that are stored as planes, and for left sides that pass through registers because they
/// are planes of an odd size. Threads with 96 sums have no registers for a left side: 64 images of 7x7, 512 to 176
/// channels, took 30 us with the last row and 23 with 64x128, so it is only for left sides that are copied. 256 rows
/// were slow in any case: 64 images of 32x32, 288 to 96 channels, took 208 us with 256x128, 114 with 128x128.
constexpr RoleTile planeRoleTiles[] = {{{128, 256, 8}, 1.00, 1}, {{128, 192, 8}, 0.96, 1}, {{128, 128, 8}, 0.80, 1},
                                       {{64, 128, 4}, 0.70, 1},  {{128, 64, 8}, 0.55, 1},  {{64, 64, 4}, 0.49, 1},
                                       {{64, 192, 4}, 0.82, 2}};
/// The same for singles, relative to the rate at which matrix units compute three products of tf32.
constexpr RoleTile singleRoleTiles[] = {{{128, 128, 8}, 0.66, 1},
                                        {{64, 128, 4}, 0.54, 1},
                                        {{256, 64, 8}, 0.52, 1},
                                        {{128, 64, 8}, 0.48, 1},
                                        {{64, 64, 4}, 0.38, 1}};
/// How long an epilogue takes for each element of a tile, in steps, with eight warps and with four. Warps read its long
/// straight-line code together, so with half as many it costs more than twice as much: 50,176 rows by 96 to 384 columns
/// with erf took 29 us with 128x128 and eight warps, 41 with two groups of four.
struct Epilogue {
  double ofEightWarps, ofFourWarps;
};
constexpr Epilogue plainEpilogue = {1.5, 3}, mathEpilogue = {2.5, 6}, erfEpilogue = {6, 34}, spilledEpilogue = {4, 8};
/// What a tile costs beside that, in steps of a tile of `elementsOfStart`: filling and draining the pipeline.
constexpr double stepsOfStart = 4;
constexpr int64_t elementsOfStart = 16 << 10; // 128x128
/// The elements of a tile that matrix units multiply in a step while a line of 128 bytes is copied, and how many lines
/// it takes the time of to copy a row or a column of a tile in a step.
constexpr double elementsOfLine = 44;
struct Lines {
  int64_t row = 0, column = 0;
};
/// Steps with which one group multiplies while the other stores, at least; more where the engine walks pixels, or
/// results are planes.
constexpr double leastStepsOfGroups = 4, leastStepsOfImages = 12;

constexpr int64_t mostStages = 12;
constexpr int64_t largestTileOfUnknown = 24 << 10; // elements, 128x192: sizes that are not known take registers
constexpr double leastBlocks = 0.5;                // for each multiprocessor
constexpr double leastBlocksOfSmallest = 0.3; // of the smallest tile, if more than half of it are rows of the result
constexpr int64_t smallest = 4 << 10;         // elements, 64x64
constexpr int64_t leastColumns = 64;          // of a tile; of wider ones half may not be beyond the result
// Columns of a tile for any number of columns: a multiple of the first, and at most the second.
constexpr int64_t columnsOfAny = 64, widestOfAny = 256;
constexpr double mostBeyond = 1.06;   // wider tiles of a product may have so many times as many columns as the result
constexpr int64_t roomsOfSingles = 2; // of the left side, for its lower parts (tilegen/place/roles/MultiplyLoop.h)
constexpr int64_t bytesOfRings = 1 << 10; // of shared memory, at most

/// Heights of groups of rows of tiles (`order` of a schedule) that are compared, by what neighbouring programs read. So
/// few rows are one group.
constexpr int64_t heightsOfNeighbours[] = {1, 4, 8}, defaultHeight = 8, fewRows = 12;
/// Where right sides are read from memory again for each group of rows: the highest group whose left side stays in the
/// cache, else the one for which a round of all blocks reads the least from memory.
constexpr int64_t heightsThatStay[] = {32, 16, 8}, heightsOfRounds[] = {8, 16};

} // namespace

//===- What the contraction is like -------------------------------------------------------------------------------===//

/// Is the right side a constant that can be stored so that it runs along the sum?
static bool isTurnable(const KernelSpace &space) {
  return contractionsOf(space) == 1 && isPackable(space) && !isComputedFromConstants(space);
}

/// Are singles rounded by the copy engine, for one product of tf32, so that they multiply as halves do? Both sides must
/// run along the sum; a constant can be stored so.
static bool areRounded(const KernelSpace &space) {
  return elementOf(space).isF32() && matmulPrecisionOf(space.loopOps[0]) == MatmulPrecision::Tf32 &&
         contractionsOf(space) == 1 && (space.columnsRunAlongReduction() || isTurnable(space));
}

/// Does a schedule with roles store the right side so that it runs along the sum? It must where singles are rounded,
/// and where the right side runs along neither the sum nor the columns, as the filter of a transposed convolution does:
/// the engine could not bring that.
static bool isTurned(const KernelSpace &space) {
  return !space.columnsRunAlongReduction() && isTurnable(space) && (areRounded(space) || !space.columnsAreContiguous());
}

/// Does the epilogue read as many singles as there are sums? They take as many registers.
static bool addsSingles(const KernelSpace &space) {
  auto countOf = [](Value value) {
    return graph::productOf(value.getContext(), graph::getSizes(cast<RankedTensorType>(value.getType())));
  };
  auto isOperand = [&](Value argument) { // whether it is an operand and has no other use
    return argument.hasOneUse() && (argument == memoryOf(space.lhs) || argument == memoryOf(space.rhs));
  };
  graph::KernelOp kernel = space.source;
  return llvm::any_of(kernel.getBody().getArguments(), [&](Value argument) {
    return getElementTypeOrSelf(argument).isF32() && countOf(argument) == countOf(space.loopOps[0]->getResult(0)) &&
           !isOperand(argument);
  });
}

/// Are columns of the result far apart in memory, as the channels of an image of planes are? Addresses of rows then
/// take registers for each sum: tiles with 128 sums a thread spilled up to 7,192 bytes where the number of rows is not
/// known. A single number, which has no coordinates, is no plane.
static bool storesPlanes(const KernelSpace &space) {
  unsigned column = space.loopsOfKind(LoopKind::Column).back();
  return llvm::none_of(space.outputs, [&](const Exprs &at) { return at.empty() || at.back().isFunctionOfDim(column); });
}

/// Are singles split into three products of tf32 by the warps that multiply?
static bool areSplit(const KernelSpace &space) { return elementOf(space).isF32() && !areRounded(space); }

static int64_t sumsOfThread(const MatmulTile &tile, const TargetDesc &target) {
  return tile.rows * tile.columns / (tile.warps * target.warpWidth);
}

/// Does the epilogue of rounded singles spill with this tile? With 128 sums of a thread it spilled 500 to 1,600 bytes.
static bool spillsSingles(const KernelSpace &space, const MatmulTile &tile, const TargetDesc &target) {
  constexpr int64_t mostBesideSingles = 64;
  return sumsOfThread(tile, target) > mostBesideSingles && areRounded(space) && addsSingles(space);
}

/// Has a thread registers for addresses beside the sums of this tile? With 160 sums, sizes that are not known leave too
/// few, except of pixels that are stored with channels last: residuals spilled 370 to 2,940 bytes, and products took
/// 1.04 to 1.2 times as long as with 128x192.
static bool hasRegisters(const KernelSpace &space, const MatmulTile &tile, const TargetDesc &target) {
  constexpr int64_t mostOfUnknown = 128;
  return areSizesKnown(space) || sumsOfThread(tile, target) <= mostOfUnknown ||
         (readsPixels(space) && !storesPlanes(space));
}

/// The table of tiles with roles for this contraction. Several contractions of singles have none, because a role that
/// splits singles takes one sum (tilegen/place/roles/RolePlan.cpp).
static ArrayRef<RoleTile> roleTilesOf(const KernelSpace &space) {
  if (contractionsOf(space) > 1)
    return elementOf(space).isF32() || contractionsOf(space) > 2 ? ArrayRef<RoleTile>() : ArrayRef(pairedRoleTiles);
  if (areSplit(space))
    return singleRoleTiles;
  if (int64_t bytes = bytesOfPixels(space))
    return bytes == bytesOfHalfRow ? ArrayRef(halfPixelRoleTiles) : ArrayRef(pixelRoleTiles);
  if (!isLeftAligned(space))
    return ArrayRef(planeRoleTiles).drop_back();
  if (storesPlanes(space))
    return planeRoleTiles;
  return areRounded(space) ? ArrayRef(roundedRoleTiles) : ArrayRef(roleTiles);
}

//===- The estimate -----------------------------------------------------------------------------------------------===//

static Epilogue epilogueOf(const KernelSpace &space, const MatmulTile &tile, const TargetDesc &target) {
  if (areSplit(space)) // a step takes so long that epilogues don't count
    return {0, 0};
  if (spillsSingles(space, tile, target))
    return spilledEpilogue;
  Epilogue epilogue = plainEpilogue;
  graph::KernelOp kernel = space.source;
  kernel.walk([&](Operation *op) {
    if (isa<math::ErfOp>(op))
      epilogue = erfEpilogue;
    else if (isa<math::TanhOp, math::ExpOp, math::Exp2Op>(op) && epilogue.ofEightWarps < mathEpilogue.ofEightWarps)
      epilogue = mathEpilogue;
  });
  return epilogue;
}

static int64_t bytesOfStep(const KernelSpace &space, int64_t step) {
  return step * elementOf(space).getIntOrFloatBitWidth() / 8;
}

/// What linesOfRow says of rows and of columns; 0 for images and split singles, whose tables' rates include copying.
static Lines linesOf(const KernelSpace &space) {
  if (areSplit(space) || readsPixels(space) || storesPlanes(space) || !isLeftAligned(space))
    return {};
  return {linesOfRow(space, space.loopsOfKind(LoopKind::Row).back()),
          isTurned(space) ? 1 : linesOfRow(space, space.loopsOfKind(LoopKind::Column).back())};
}

/// The estimate at the top of this file, in steps of the best tile for each of its elements. `steps` are of 128 bytes.
static double timeOf(const KernelSpace &space, const RoleTile &row, Lines lines, double steps,
                     const TargetDesc &target) {
  constexpr int64_t manyWarps = 8;
  int64_t blocks = blocksOf(space, row.tile);
  auto rounds = static_cast<double>(llvm::divideCeil(blocks, target.units)),
       elements = static_cast<double>(row.tile.rows * row.tile.columns);
  Epilogue both = epilogueOf(space, row.tile, target);
  double start = areSplit(space) ? 0 : stepsOfStart * elementsOfStart,
         epilogue = start + elements * (row.tile.warps >= manyWarps ? both.ofEightWarps : both.ofFourWarps),
         copied = static_cast<double>(row.tile.rows * lines.row + row.tile.columns * lines.column),
         multiplying = steps * std::max(elements / row.efficiency, elementsOfLine * copied),
         leastSteps = readsPixels(space) || storesPlanes(space) ? leastStepsOfImages : leastStepsOfGroups;
  if (row.groups > 1 && blocks > target.units && steps >= leastSteps)
    return elementsOfStart + rounds * std::max(multiplying, (multiplying + epilogue) / 2) + epilogue / 2;
  return rounds * (multiplying + epilogue);
}

//===- Schedules --------------------------------------------------------------------------------------------------===//

/// Does some result have rows that begin at no multiple of 16 bytes, so that stores of it may be staged?
static bool storesOddRows(const KernelSpace &space) {
  graph::KernelOp kernel = space.source;
  return !storesPlanes(space) && llvm::any_of(kernel.getResultTypes(), [](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    unsigned bits = tensor.getElementTypeBitWidth();
    return (bits == 16 || bits == 32) && tensor.getRank() && !tensor.isDynamicDim(tensor.getRank() - 1) &&
           tensor.getShape().back() * bits / 8 % tile::storedChunkBytes != 0;
  });
}

/// Shared memory through which results are stored: for each warp 16 rows of 128 bytes where the copy engine stores
/// them, and of a chunk more where threads store odd rows (tilegen/place/roles/StageStores.cpp).
static int64_t bytesOfResults(const KernelSpace &space, const RoleTile &row, const TargetDesc &target) {
  constexpr int64_t rowsOfWarp = 16;
  int64_t rounds = llvm::divideCeil(blocksOf(space, row.tile), target.units), from = target.roles.bulkStoresFrom,
          bytesOfRow = 0;
  if (storesOddRows(space))
    bytesOfRow = tile::stagedRowBytes;
  else if (from && rounds >= from)
    bytesOfRow = tile::tensorMapRowBytes;
  return row.tile.warps * row.groups * rowsOfWarp * bytesOfRow;
}

/// How many stages of a tile, in steps of `step` elements, there is shared memory for, beside so many bytes.
static int64_t stagesBeside(const KernelSpace &space, int64_t rows, int64_t columns, int64_t step, int64_t bytes,
                            const TargetDesc &target) {
  if (areSplit(space))
    bytes += roomsOfSingles * rows * bytesOfWarpgroups;
  return (target.sharedBytes - bytesOfRings - bytes) / ((rows + columns) * bytesOfStep(space, step));
}

/// The schedule with roles for a tile. A second group is left out where each block takes one tile.
static tile::ScheduleAttr makeRoles(const KernelSpace &space, const RoleTile &row, int64_t step, int64_t steps,
                                    const TargetDesc &target) {
  int64_t groups = blocksOf(space, row.tile) > target.units ? row.groups : 1,
          beside = areSplit(space) ? 0 : bytesOfResults(space, row, target),
          room = stagesBeside(space, row.tile.rows, row.tile.columns, step, beside, target),
          most = mostStages * bytesOfWarpgroups / bytesOfStep(space, step),
          stages = std::clamp<int64_t>(room, 1, std::min(most, std::max<int64_t>(steps, 2)));
  tile::ScheduleAttr schedule = makeMatmul(space, row.tile, step, stages, groups);
  return isTurned(space) ? schedule.withPack(1) : schedule;
}

/// Has the last row of tiles at least half of its rows? Blocks with few rows run ahead of those that read the same
/// columns. What neighbours ask for is then not the same any more, which tiles with rows of 64 bytes feel most: 128x160
/// takes 45 us for 900x2560x4096 and 34 for 896 or 1,024 rows, 128x192 takes 35 for each.
static bool isLastRowFilled(const KernelSpace &space, const MatmulTile &tile) {
  int64_t left = space.expectedSize(space.loopsOfKind(LoopKind::Row).back()) % tile.rows;
  return left == 0 || left >= tile.rows / 2;
}

/// Is the number of columns a multiple of what an unusual tile has, or nearly one, and no more than that where it has
/// fewer than 64?
/// With 512 columns, tiles of 320 were chosen for three convolutions of VGG-16, which then took 1.19 times as long;
/// with 64, tiles of 32 for eight of FasterNet (1.07 of its time).
static bool isFilled(const KernelSpace &space, const MatmulTile &tile) {
  int64_t columns = space.expectedSize(space.loopsOfKind(LoopKind::Column).back());
  if (tile.columns < columnsOfAny)
    return columns == tile.columns;
  if (tile.columns % columnsOfAny != 0)
    return columns % tile.columns == 0 && (readsPixels(space) || isLastRowFilled(space, tile));
  double most = readsPixels(space) ? 1 : mostBeyond;
  return tile.columns <= widestOfAny ||
         static_cast<double>(llvm::alignTo(columns, tile.columns)) <= most * static_cast<double>(columns);
}

/// Are there blocks of this tile for enough multiprocessors? 48 blocks of 64x64 take 6.7 us for 197x768x768, where the
/// 156 of 16x64 without roles take 8.1.
static bool hasBlocks(const KernelSpace &space, const MatmulTile &tile, const TargetDesc &target) {
  bool isFilledSmallest = tile.rows * tile.columns <= smallest &&
                          space.expectedSize(space.loopsOfKind(LoopKind::Row).back()) > tile.rows / 2;
  return blocksOf(space, tile) >= (isFilledSmallest ? leastBlocksOfSmallest : leastBlocks) * target.units;
}

tile::ScheduleAttr scheduleRoles(const KernelSpace &space, int64_t step, int64_t steps, const TargetDesc &target) {
  const RoleTile *found = nullptr;
  double least = 0, fullSteps = static_cast<double>(steps * bytesOfStep(space, step)) / bytesOfWarpgroups;
  int64_t columns = space.expectedSize(space.loopsOfKind(LoopKind::Column).back()),
          mostColumns = std::max(leastColumns, powerAbove(columns));
  Lines lines = linesOf(space);
  for (const RoleTile &row : roleTilesOf(space)) {
    bool isSmall = areSizesKnown(space) || row.tile.rows * row.tile.columns <= largestTileOfUnknown;
    if (!isSmall || row.tile.columns > mostColumns || !isFilled(space, row.tile) ||
        !hasRegisters(space, row.tile, target) || !hasBlocks(space, row.tile, target))
      continue;
    if (double time = timeOf(space, row, lines, fullSteps, target); !found || time < least)
      found = &row, least = time;
  }
  return found ? makeRoles(space, *found, step, steps, target) : tile::ScheduleAttr();
}

/// The row of the table that a schedule is of; null without roles.
static const RoleTile *rowOf(const KernelSpace &space, tile::ScheduleAttr schedule) {
  ArrayRef<RoleTile> rows = roleTilesOf(space);
  const auto *found = llvm::find_if(rows, [&](const RoleTile &row) {
    return schedule.getGroups() && schedule.getTile().take_back(2) == ArrayRef({row.tile.rows, row.tile.columns}) &&
           schedule.getWarps() == row.tile.warps;
  });
  return found == rows.end() ? nullptr : found;
}

bool areHalfRowsFaster(const KernelSpace &space, tile::ScheduleAttr roles, int64_t steps, const MatmulTile &gathering,
                       int64_t stepsOfGathering, const TargetDesc &target) {
  const RoleTile *row = rowOf(space, roles);
  return row && timeOf(space, *row, Lines(), static_cast<double>(steps) / 2, target) <
                    timeOf(space, {gathering, gathering.ofGathering, /*groups=*/1}, Lines(),
                           static_cast<double>(stepsOfGathering), target);
}

SmallVector<tile::ScheduleAttr> allRoleSchedules(const KernelSpace &space, int64_t step, int64_t steps,
                                                 const TargetDesc &target) {
  SmallVector<tile::ScheduleAttr> schedules;
  for (const RoleTile &row : roleTilesOf(space))
    if ((readsPixels(space) || row.tile.columns % columnsOfAny == 0) && isFilled(space, row.tile) &&
        hasRegisters(space, row.tile, target) && !spillsSingles(space, row.tile, target))
      schedules.push_back(makeRoles(space, row, step, steps, target));
  return schedules;
}

tile::ScheduleAttr leaveRoom(const KernelSpace &space, tile::ScheduleAttr roles, int64_t bytes,
                             const TargetDesc &target) {
  constexpr int64_t fewestStages = 3;
  ArrayRef<int64_t> tile = roles.getTile().take_back(2);
  int64_t stages =
      std::min(roles.getStages(), stagesBeside(space, tile[0], tile[1], roles.getReduce().back(), bytes, target));
  return stages < std::min(fewestStages, roles.getStages()) ? tile::ScheduleAttr() : roles.withStages(stages);
}

//===- The order of tiles -----------------------------------------------------------------------------------------===//

namespace {

/// How programs are numbered, each with `parts` neighbouring ones for a tile of `high` rows and `wide` columns.
struct TileGrid {
  int64_t rows, columns, parts;
  int64_t rowsOfMatrix; // of `rows`, which are those of several matrices one after the other
  int64_t high, wide;

  int64_t programs() const { return rows * columns * parts; }

  /// The row and the column of program `i` in groups of so many rows (tile.ordered_program).
  std::pair<int64_t, int64_t> tileOf(int64_t i, int64_t height) const {
    int64_t group = i / parts / (height * columns), within = i / parts % (height * columns);
    int64_t first = group * height, groupHeight = std::min(height, rows - first);
    return {first + within % groupHeight, within / groupHeight};
  }
};

} // namespace

/// How many rows and columns of operands so many consecutive programs read, in the mean over the first rounds of
/// blocks.
static double readTogether(const TileGrid &grid, int64_t height, int64_t together, const TargetDesc &target) {
  constexpr int64_t rounds = 2;
  int64_t programs = std::min<int64_t>(grid.programs(), rounds * target.units), runs = 0, read = 0;
  for (int64_t first = 0; first < programs; first += together, ++runs) {
    llvm::SmallDenseSet<int64_t, 32> rows, columns;
    for (int64_t i = first; i < std::min(first + together, programs); ++i) {
      auto [row, column] = grid.tileOf(i, height);
      rows.insert(row);
      columns.insert(row / grid.rowsOfMatrix * grid.columns + column);
    }
    read += static_cast<int64_t>(rows.size()) * grid.high + static_cast<int64_t>(columns.size()) * grid.wide;
  }
  return static_cast<double>(read) / static_cast<double>(runs);
}

/// The tiles of a schedule's programs, with the expected sizes of loops.
static TileGrid gridOf(const KernelSpace &space, tile::ScheduleAttr schedule) {
  int64_t high = schedule.getTile().take_back(2)[0], wide = schedule.getTile().back(), matrices = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    matrices *= space.expectedSize(loop);
  auto tilesOf = [&](LoopKind kind, int64_t tile) -> int64_t {
    return llvm::divideCeil(space.expectedSize(space.loopsOfKind(kind).back()), tile);
  };
  int64_t rows = tilesOf(LoopKind::Row, high);
  return {matrices * rows, tilesOf(LoopKind::Column, wide), schedule.getParts(), rows, high, wide};
}

tile::ScheduleAttr inOrder(const KernelSpace &space, tile::ScheduleAttr schedule, const TargetDesc &target) {
  if (!schedule.getGroups())
    return schedule;
  TileGrid grid = gridOf(space, schedule);
  if (grid.rows <= fewRows && grid.parts == 1)
    return schedule.withOrder(std::max(grid.rows, defaultHeight));
  bool isReadAgain = grid.programs() > target.units && bytesOfRightSide(space) > bytesThatStay;
  if (isReadAgain)
    for (int64_t height : heightsThatStay)
      if (std::min(height, grid.rows) * grid.high * bytesOfDepth(space) <= bytesThatStay)
        return schedule.withOrder(height);
  int64_t together = isReadAgain ? target.units : target.roles.neighbours, best = defaultHeight;
  double least = readTogether(grid, best, together, target);
  for (int64_t height : isReadAgain ? ArrayRef(heightsOfRounds) : ArrayRef(heightsOfNeighbours))
    if (double read = readTogether(grid, height, together, target); read < least)
      best = height, least = read;
  return schedule.withOrder(best);
}

/// The largest number of tiles that a schedule's programs can have; nullopt if a size has no bound.
static std::optional<int64_t> mostTiles(const KernelSpace &space, tile::ScheduleAttr schedule) {
  SmallVector<unsigned> loops = space.loopsOfKind(LoopKind::Parallel);
  loops.append({space.loopsOfKind(LoopKind::Row).back(), space.loopsOfKind(LoopKind::Column).back()});
  int64_t tiles = 1;
  for (auto [loop, tile] : llvm::zip_equal(loops, schedule.getTile())) {
    std::optional<int64_t> most = space.mostOf(loop);
    if (!most || llvm::MulOverflow(tiles, static_cast<int64_t>(llvm::divideCeil(*most, tile)), tiles))
      return std::nullopt;
  }
  return tiles;
}

tile::ScheduleAttr inStrips(const KernelSpace &space, tile::ScheduleAttr schedule, const TargetDesc &target) {
  constexpr int64_t leastOfStrip = 64;
  if (schedule.getGroups() != 1 || schedule.getParts() > 1 || areSplit(space) || storesPlanes(space) ||
      !isLeftAligned(space))
    return schedule;
  int64_t columns = schedule.getTile().back(), narrowest = columns & -columns,
          strip = narrowest < columns ? narrowest : columns / 2;
  std::optional<int64_t> tiles = mostTiles(space, schedule);
  return strip >= leastOfStrip && tiles && *tiles <= target.units ? schedule.withStrip(strip) : schedule;
}

std::optional<double> efficiencyOfRoles(const KernelSpace &space, tile::ScheduleAttr schedule) {
  const RoleTile *row = rowOf(space, schedule);
  return row ? std::optional(row->efficiency) : std::nullopt;
}

} // namespace tilewright::tilegen
