// SPDX-License-Identifier: Apache-2.0
// Schedules of contractions for targets whose programs are blocks of threads.
#include "tilegen/roots/Panels.h"
#include "tilegen/schedule/FewRows.h"
#include "tilegen/schedule/RoleSchedules.h"
#include "tilegen/schedule/Schedules.h"
#include "tilegen/schedule/SharedSums.h"
#include "tilegen/tile/MatmulPrecision.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

constexpr int64_t bytesOfStage = 20 << 10; // of both operands, at most: four stages fit every device
constexpr int64_t stepsOfLargestTile = 12; // the least with which the largest tile pays
constexpr int64_t mostStages = 12;

/// Tiles of a contraction from large to small, of which the first is taken that fits and fills the device. Measured on
/// an H200 (docs/performance.md): with matrix instructions that a warp issues by itself (halfTiles) 128x128 beats
/// 128x256, and of smaller tiles those with few rows and deep steps beat square ones. Instructions that four warps
/// issue together (warpgroupTiles) need larger tiles, and pay if at most half of the device is idle. Where operands
/// cannot be copied 16 bytes at a time but pass through registers, fewer threads are better.
constexpr MatmulTile warpgroupTiles[] = {
    {256, 128, 8, 1, 0.89}, {128, 128, 4, 2, 0.87}, {128, 64, 4, 2, 0.57}, {64, 64, 4, 2, 0.44}};
constexpr MatmulTile warpgroupTilesThroughRegisters[] = {{128, 128, 4, 2}, {64, 64, 4, 2}};
constexpr MatmulTile pairedWarpgroupTiles[] = {{256, 128, 8, 1}, {128, 128, 4, 2}};
constexpr MatmulTile halfTiles[] = {{128, 128, 4}, {128, 64, 4}, {64, 128, 4}, {64, 64, 4},
                                    {32, 64, 4},   {16, 64, 4},  {16, 32, 2}};
/// For results of up to 32 columns, as the first convolutions of small networks have them: taller tiles, which read
/// more of an image together. 24 channels of 112x112 through windows of 3x3 take 32 us for 16 images, but 203 us with
/// tiles of 16x32.
constexpr MatmulTile narrowHalfTiles[] = {{128, 32, 8}, {64, 32, 8}, {32, 32, 4}, {16, 32, 2}};
constexpr int64_t mostNarrowColumns = 32;
/// For a pair of contractions, each of which has half of the columns: narrower tiles would read short pieces of the
/// right sides' rows, which is slow (FewRows.cpp). Pairs with up to 32 columns in all have only short rows, and take
/// the narrow tiles.
constexpr MatmulTile pairedHalfTiles[] = {{128, 128, 4}, {64, 128, 4}, {32, 128, 4}, {16, 128, 4}};
/// Products of singles on matrix units, whose operands are split in registers. Only for known sizes: unknown ones take
/// registers, and these tiles would spill.
constexpr MatmulTile tf32Tiles[] = {{64, 128, 4}, {64, 64, 4}, {32, 64, 4}, {32, 32, 2}, {16, 64, 2}, {16, 32, 1}};
constexpr int64_t bytesOfWideStage = 24 << 10; // of 64x128 in steps of 32, which spill two registers on sm_80
constexpr MatmulTile floatTiles[] = {{128, 128, 8}, {128, 64, 4}, {64, 64, 4}, {32, 64, 4},
                                     {32, 32, 2},   {16, 64, 2},  {16, 32, 1}};

} // namespace

/// The first tile that is no larger than the product and makes `wanted` blocks; if none makes as many, the last that is
/// no larger.
static const MatmulTile *chooseTile(const KernelSpace &space, ArrayRef<MatmulTile> tiles, int64_t wanted,
                                    const TargetDesc &target) {
  auto sizeOf = [&](LoopKind kind) { return space.expectedSize(space.loopsOfKind(kind).back()); };
  int64_t rows = sizeOf(LoopKind::Row), columns = sizeOf(LoopKind::Column);
  const MatmulTile *chosen = nullptr;
  for (const MatmulTile &tile : tiles) {
    bool tooLarge = tile.rows > std::max<int64_t>(16, powerAbove(rows)) ||
                    tile.columns > std::max<int64_t>(32, powerAbove(columns));
    if (tooLarge || tile.warps * target.warpWidth > target.maxThreads)
      continue;
    if (!chosen || blocksOf(space, *chosen) < wanted)
      chosen = &tile;
  }
  return chosen;
}

/// Does the target have an instruction for these elements that four warps issue together? The one for singles reads
/// only operands that run along the sum, and only roles use it.
static bool hasWarpgroups(const KernelSpace &space, const TargetDesc &target) {
  Type element = elementOf(space);
  return llvm::any_of(target.matrix, [&](const MatrixInstruction &instruction) {
    return instruction.warps == 4 &&
           ((instruction.type == MatrixType::F16 && element.isF16()) ||
            (instruction.type == MatrixType::BF16 && element.isBF16()) ||
            (instruction.type == MatrixType::I8 && element.isInteger(8)) ||
            (instruction.type == MatrixType::TF32 && multipliesTf32(space, target) && space.rowsRunAlongReduction()));
  });
}

/// The tiles for instructions that four warps issue together. A pair has none if its operands are not copied: its two
/// right sides cannot pass through registers beside its sums.
static ArrayRef<MatmulTile> warpgroupTilesOf(const KernelSpace &space, bool areCopied) {
  if (contractionsOf(space) > 1)
    return areCopied && contractionsOf(space) == 2 ? ArrayRef(pairedWarpgroupTiles) : ArrayRef<MatmulTile>();
  return areCopied ? ArrayRef(warpgroupTiles) : ArrayRef(warpgroupTilesThroughRegisters);
}

namespace {
/// How warps that issue an instruction together would go through the reduced loops.
struct WarpgroupSteps {
  int64_t depth, steps;               // of a step along k, and of all reduced loops
  bool isPadded;                      // is more than a quarter of their depth padding?
  bool areCopied;                     // are operands copied 16 bytes at a time?
  int64_t depthOfBoxes, stepsOfBoxes; // the same where a copy engine brings operands as boxes; 0 where it does not
};
} // namespace

/// Are rows of both operands multiples of 16 bytes, so that they can be copied without passing through registers?
static bool areRowsCopied(const KernelSpace &space) {
  auto sizeOf = [&](LoopKind kind) { return constantOf(space.loops()[space.loopsOfKind(kind).back()].size); };
  std::optional<int64_t> columns = sizeOf(LoopKind::Column), depth = sizeOf(LoopKind::Reduction);
  int64_t bytes = elementOf(space).getIntOrFloatBitWidth() / 8, together = contractionsOf(space); // see asOne
  bool areColumnsCopied =
      columns && ((together == 1 && !space.columnsAreContiguous()) || *columns / together * bytes % 16 == 0);
  return areColumnsCopied && depth && *depth * bytes % 16 == 0;
}

/// nullopt where steps of no kind pay.
static std::optional<WarpgroupSteps> warpgroupSteps(const KernelSpace &space, const TargetDesc &target) {
  constexpr int64_t leastColumnsOfHalfRows = 64; // with 32, gathering took 0.85 to 1.05 of the time
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  auto sizeOf = [&](LoopKind kind) { return constantOf(space.loops()[space.loopsOfKind(kind).back()].size); };
  std::optional<int64_t> depth = sizeOf(LoopKind::Reduction);
  int64_t bytes = elementOf(space).getIntOrFloatBitWidth() / 8, depthOfWarpgroups = bytesOfWarpgroups / bytes;
  int64_t padded = llvm::alignTo(space.expectedSize(reduced.back()), depthOfWarpgroups);
  bool isPadded = padded - depth.value_or(padded) > padded / 4;
  int64_t elementsOfCopy = 16 / bytes;
  bool isCopied = areRowsCopied(space);
  if (bytes == 1) // in shared memory bytes run along k, so they are copied only if they do so in memory
    isCopied = depth && *depth % elementsOfCopy == 0 && !space.columnsAreContiguous();
  auto stepsOf = [&](int64_t depthOfStep) {
    int64_t steps = llvm::divideCeil(space.expectedSize(reduced.back()), depthOfStep);
    for (unsigned loop : ArrayRef(reduced).drop_back())
      steps *= space.expectedSize(loop);
    return steps;
  };
  WarpgroupSteps found{depthOfWarpgroups, stepsOf(depthOfWarpgroups), isPadded, isCopied, 0, 0};
  bool isPlain = reduced.size() == 1 && isReadPlainly(space.lhs);
  int64_t row = isPlain ? bytesOfWarpgroups : bytes > 1 ? bytesOfPixels(space) : 0;
  bool isWanted =
      row == bytesOfHalfRow ? sizeOf(LoopKind::Column).value_or(0) >= leastColumnsOfHalfRows : row > 0 && !isPadded;
  if (isWanted && isCopied && target.bulkCopies && areRightSidesReadPlainly(space))
    found.depthOfBoxes = row / bytes, found.stepsOfBoxes = stepsOf(row / bytes);
  return isPadded && !found.depthOfBoxes ? std::nullopt : std::optional(found);
}

/// A schedule for instructions that four warps issue together. Null where there would be too few blocks.
static tile::ScheduleAttr scheduleWarpgroups(const KernelSpace &space, const WarpgroupSteps &steps,
                                             const TargetDesc &target) {
  if (steps.depthOfBoxes) {
    tile::ScheduleAttr roles = scheduleRoles(space, steps.depthOfBoxes, steps.stepsOfBoxes, target);
    const MatmulTile *gathering = chooseTile(space, warpgroupTiles, target.units / 2, target);
    if (steps.depthOfBoxes == steps.depth ||
        (roles && gathering && areHalfRowsFaster(space, roles, steps.stepsOfBoxes, *gathering, steps.steps, target)))
      return roles;
  }
  if (steps.isPadded)
    return {};
  // A kernel that gathers the few channels of a first convolution has no registers left for masks of unknown rows.
  bool hasRows = constantOf(space.loops()[space.loopsOfKind(LoopKind::Row).back()].size).has_value();
  if (elementOf(space).isF32() || (!steps.areCopied && !hasRows))
    return {};
  ArrayRef<MatmulTile> tiles = warpgroupTilesOf(space, steps.areCopied);
  // With the largest tile a multiprocessor has one block, so nothing loads while it stores, and it needs many steps.
  if (steps.areCopied && steps.steps < stepsOfLargestTile)
    tiles = tiles.drop_front();
  const MatmulTile *tile = chooseTile(space, tiles, target.units / 2, target);
  if (!tile || blocksOf(space, *tile) < target.units / 2)
    return {};
  int64_t stageBytes = (tile->rows + tile->columns) * bytesOfWarpgroups;
  int64_t sharedBy = blocksOf(space, *tile) > target.units ? tile->blocksOfUnit : 1;
  int64_t stages =
      std::clamp<int64_t>(target.sharedBytes / sharedBy / stageBytes, 1, std::min(mostStages, steps.steps + 1));
  return makeMatmul(space, *tile, steps.depth, stages);
}

/// The depth of a step of halves along k: `deepest`, or, where that would be a quarter padding or more, the one with
/// the least cost. A step costs as much as 8.5 more elements, measured with depths of 27 to 120 on an H100.
static int64_t stepOfHalves(int64_t depth, int64_t deepest) {
  auto padded = [&](int64_t step) { return static_cast<int64_t>(llvm::alignTo(depth, step)); };
  if (padded(deepest) - depth < depth / 4)
    return deepest;
  auto costOf = [&](int64_t step) { return static_cast<double>(padded(step)) * (1 + 8.5 / static_cast<double>(step)); };
  int64_t best = deepest;
  for (int64_t step = deepest; step >= 16; step /= 2)
    if (costOf(step) < costOf(best))
      best = step;
  return best;
}

/// Has the result so few columns that tall tiles pay? They were measured on NVIDIA's GPUs only, and are used only
/// there.
static bool isNarrow(const KernelSpace &space, const TargetDesc &target) {
  std::optional<int64_t> columns = constantOf(space.loops()[space.loopsOfKind(LoopKind::Column).back()].size);
  bool areHalves = elementOf(space).isF16() || elementOf(space).isBF16();
  return target.asyncCopies && areHalves && contractionsOf(space) <= 2 && columns && *columns <= mostNarrowColumns;
}

/// The schedule for a tile whose warps issue instructions by themselves, or multiply and add.
static tile::ScheduleAttr scheduleWarps(const KernelSpace &space, const MatmulTile &tile, const TargetDesc &target) {
  Type element = elementOf(space);
  int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  bool half = bytes <= 2, onMatrixUnits = half || multipliesTf32(space, target);
  // Without matrix instructions deep steps cost more in registers than they gain in latency (docs/performance.md).
  // Singles are split in registers: steps of 64 spill a register, and so do steps of 32 where one warp holds the whole
  // tile, or where unknown sizes take registers. On sm_90a unknown sizes leave enough in a plain product, but not in
  // that of a window.
  bool hasRegisters = areSizesKnown(space) || (target.bulkCopies && space.loopsOfKind(LoopKind::Reduction).size() == 1);
  int64_t step = half ? 128 : onMatrixUnits && tile.warps > 1 && hasRegisters ? 32 : 16;
  int64_t depth = space.expectedSize(space.loopsOfKind(LoopKind::Reduction).back());
  int64_t deepest = std::max<int64_t>(16, powerAbove(depth)),
          mostBytes = !half && tile.rows < tile.columns && target.bulkCopies ? bytesOfWideStage : bytesOfStage;
  if (contractionsOf(space) > 1 && !areRowsCopied(space)) // right sides pass through registers beside the sums
    mostBytes /= 2;
  while (step > 16 && (step > deepest || (tile.rows + tile.columns) * step * bytes > mostBytes))
    step /= 2;
  if (bytes == 2 && contractionsOf(space) == 1)
    step = stepOfHalves(depth, step);
  int64_t stageBytes = (tile.rows + tile.columns) * step * bytes;
  return makeMatmul(space, tile, step,
                    target.asyncCopies ? std::clamp<int64_t>(target.sharedBytes / stageBytes, 1, 4) : 1);
}

/// How much of the matrix units' rate a tile reaches without warps that copy.
constexpr double efficiencyOfWarps = 0.4;

static double efficiencyOf(const KernelSpace &space, tile::ScheduleAttr schedule) {
  return efficiencyOfRoles(space, schedule).value_or(efficiencyOfWarps);
}

/// The schedule with more stages where each multiprocessor has one block, so that no other block's loads hide latency.
/// Only for halves on sm_90a, where it was measured: a row times 2048x5632 in 13.4 us instead of 14.8.
static tile::ScheduleAttr deepened(const KernelSpace &space, tile::ScheduleAttr schedule, const TargetDesc &target) {
  constexpr int64_t stagesOfOneBlock = 6;
  int64_t rows = schedule.getTile().drop_back().back(), columns = schedule.getTile().back(),
          step = schedule.getReduce().back();
  bool isHalf = elementOf(space).getIntOrFloatBitWidth() == 16;
  if (schedule.getGroups() || schedule.getParts() > 1 || schedule.getStages() < 2 || !isHalf || !target.bulkCopies ||
      !areSizesKnown(space) || blocksOf(space, {rows, columns, schedule.getWarps()}) > target.units)
    return schedule;
  int64_t steps = llvm::divideCeil(space.expectedSize(space.loopsOfKind(LoopKind::Reduction).back()), step),
          room = target.sharedBytes / ((rows + columns) * step * 2);
  int64_t stages = std::min({stagesOfOneBlock, room, steps});
  return stages <= schedule.getStages()
             ? schedule
             : makeMatmul(space, {rows, columns, schedule.getWarps()}, step, stages, 0, schedule.getOrder());
}

static tile::ScheduleAttr scheduleMatmul(const KernelSpace &space, const TargetDesc &target) {
  Type element = elementOf(space);
  std::optional<WarpgroupSteps> steps; // the copy engine does not bring a single row as rows of a tile
  bool mayHaveRoles = !isNarrow(space, target) || readsPixels(space);
  if (mayHaveRoles && hasWarpgroups(space, target) && space.mostOf(space.loopsOfKind(LoopKind::Row).back()) != 1)
    steps = warpgroupSteps(space, target);
  bool areKnown = areSizesKnown(space);
  ArrayRef<MatmulTile> tiles = floatTiles;
  int64_t wanted = target.units;
  if (isNarrow(space, target))
    tiles = narrowHalfTiles;
  else if (element.getIntOrFloatBitWidth() <= 16 && contractionsOf(space) > 1)
    tiles = pairedHalfTiles, wanted = target.units / 3;
  else if (element.getIntOrFloatBitWidth() <= 16)
    tiles = halfTiles;
  else if (areKnown && multipliesTf32(space, target))
    tiles = tf32Tiles;
  const MatmulTile *tile = chooseTile(space, tiles, wanted, target);
  tile::ScheduleAttr chosen = steps ? scheduleWarpgroups(space, *steps, target) : tile::ScheduleAttr();
  if (!chosen)
    chosen = scheduleWarps(space, tile ? *tile : tiles.back(), target);
  SmallVector<ContractionSchedule> others;
  auto add = [&](tile::ScheduleAttr schedule) { others.push_back({schedule, efficiencyOf(space, schedule)}); };
  for (const MatmulTile &row : tiles)
    if (chooseTile(space, row, 1, target))
      add(scheduleWarps(space, row, target));
  if (steps && steps->depthOfBoxes)
    for (tile::ScheduleAttr schedule : allRoleSchedules(space, steps->depthOfBoxes, steps->stepsOfBoxes, target))
      add(schedule);
  tile::ScheduleAttr shared = shareSums(space, target, {chosen, efficiencyOf(space, chosen)}, others);
  return inOrder(space, deepened(space, shared, target), target);
}

/// The space of one contraction with the columns of all side by side. Several contractions are scheduled as this one,
/// and each gets its part of the tile's columns.
static KernelSpace asOne(const KernelSpace &space) {
  KernelSpace wide = space;
  AffineExpr &columns = wide.nest.loops[wide.loopsOfKind(LoopKind::Column).back()].size;
  columns = columns * contractionsOf(space);
  return wide;
}

/// Into how many parts the columns of a tile of `asOne` are cut: as many as contractions, rounded up to a power of two.
static int64_t partsOfColumns(const KernelSpace &space) { return powerAbove(contractionsOf(space)); }

std::optional<double> blocks::estimateContraction(const KernelSpace &space, tile::ScheduleAttr schedule,
                                                  const TargetDesc &target) {
  // What was measured to be better than what is estimated. The table does not say what leaves the cache first.
  if (schedule.withStreamed(false) == scheduleStreamed(space, target))
    return std::nullopt;
  schedule = withColumns(schedule, partsOfColumns(space) * schedule.getTile().back());
  // The estimate counts the bytes of the operands' elements once. Constants of fewer bytes have others, and several
  // contractions as gemv read their right sides again for each few rows.
  if (isComputedFromConstants(space) || (contractionsOf(space) > 1 && schedule.getRoot() == graph::RootKind::Gemv))
    return std::nullopt;
  return estimateSeconds(asOne(space), target, {schedule, efficiencyOf(space, schedule)});
}

/// A schedule for several contractions. Two of halves go to matrix units even with one row, because gate and up of an
/// MLP were slower as gemv. Others have little work (fusion/Legality.cpp), for which small tiles or a gemv suffice.
static tile::ScheduleAttr scheduleSeveral(const KernelSpace &space, const TargetDesc &target) {
  if (tile::ScheduleAttr gated = scheduleGated(space, target))
    return gated;
  if (elementOf(space).getIntOrFloatBitWidth() > 16 || contractionsOf(space) > 2)
    if (tile::ScheduleAttr sums = scheduleSums(space, target))
      return sums;
  tile::ScheduleAttr schedule = scheduleMatmul(asOne(space), target);
  return withColumns(schedule, schedule.getTile().back() / partsOfColumns(space));
}

/// Do all blocks that read the same columns read them at the same time? A tile with few rows runs ahead of the others,
/// but of many rows of tiles it is only one.
static bool areReadTogether(const KernelSpace &space, int64_t rowsOfTile) {
  constexpr int64_t manyTiles = 24;
  unsigned loop = space.loopsOfKind(LoopKind::Row).back();
  std::optional<int64_t> rows = constantOf(space.loops()[loop].size), most = space.mostOf(loop);
  int64_t left = rows ? *rows % rowsOfTile : 0;
  bool isFilled = rows && (left == 0 || left >= rowsOfTile / 2 || *rows > manyTiles * rowsOfTile);
  return isFilled || (most && *most <= rowsOfTile);
}

/// Whether what is read of the right sides should leave the cache first, after which there is room for little of them.
/// Of smaller ones it made no difference (docs/performance/gpu-products.md, "Right sides that leave the cache first").
static bool isStreamed(const KernelSpace &space, tile::ScheduleAttr schedule, const TargetDesc &target) {
  return target.bulkCopies && schedule.getRoot() == graph::RootKind::Matmul && areRightSidesReadPlainly(space) &&
         bytesOfRightSide(space) > bytesThatStay && areReadTogether(space, schedule.getTile().drop_back().back());
}

static tile::ScheduleAttr chooseContraction(const KernelSpace &space, const TargetDesc &target) {
  if (tile::ScheduleAttr streamed = scheduleStreamed(space, target))
    return streamed;
  if (contractionsOf(space) > 1)
    return scheduleSeveral(space, target);
  if (tile::ScheduleAttr computed = scheduleComputed(space, target))
    return computed;
  tile::ScheduleAttr gemv = scheduleGemv(space, target);
  if (!gemv)
    return inStrips(space, scheduleMatmul(space, target), target);
  bool isHalf = elementOf(space).getIntOrFloatBitWidth() <= 16, isSingle = multipliesTf32(space, target);
  // Where each column is contiguous in memory, gemv already reads long runs. Otherwise tiles that share sums may be
  // faster.
  if (!space.columnsAreContiguous() || target.matrix.empty() || !(isHalf || isSingle))
    return gemv;
  SmallVector<ContractionSchedule> others;
  for (const MatmulTile &row : isHalf ? ArrayRef(halfTiles) : ArrayRef(tf32Tiles))
    if (chooseTile(space, row, 1, target))
      others.push_back({scheduleWarps(space, row, target), efficiencyOfWarps});
  tile::ScheduleAttr shared = shareSums(space, target, {gemv, efficiencyOfWarps}, others);
  return shared == gemv ? gemv : deepened(space, shared, target);
}

tile::ScheduleAttr blocks::scheduleContraction(const KernelSpace &space, const TargetDesc &target) {
  tile::ScheduleAttr schedule = chooseContraction(space, target);
  return schedule.withStreamed(isStreamed(space, schedule, target));
}

} // namespace tilewright::tilegen
