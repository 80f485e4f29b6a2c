// SPDX-License-Identifier: Apache-2.0
// Schedules of attention: rows of a program, and keys of a step.
#include "tilegen/schedule/Schedules.h"
#include "tilegen/schedule/SplitKeys.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

// Vectors: a step's keys and values are copied into panels, once for all rows of a program, so many rows are best. A
// row's maximum and sum cost as much as some 60 of its keys in every step, so many keys are best too, as long as the
// scores, which are read again, stay in the second-level cache. Eight heads of 1,024 keys of 64 take 14.0 ms with 96
// rows and steps of 256 keys, 12.5 with 192 and 512, 11.9 with 256 and 1,024. If one step takes all keys, the programs
// of a head find them packed by the one before (backend/host/plan/RepeatedTiles.h), and no sums are scaled: 1,500 and
// 2,048 keys take 0.91 and 0.92 of the time so, though rows are fewer. Of 3,072 keys there would be so few rows that
// programs which are not neighbours on one thread, and pack the keys each, take 1.26 of the time.
// Under a causal mask a program of fewer rows visits fewer keys that the mask excludes: 1,024 rows take 7.9 ms by 258,
// 7.4 by 132 or 96.
constexpr int64_t mostRows = 384, mostKeys = 1024, stepOfUnknown = 512, scoreElements = 1 << 18;
constexpr int64_t mostKeysAtOnce = 2048, mostPanelElements = 1 << 20; // of keys and values, for each thread
constexpr int64_t mostRowsBelowDiagonal = 132;
constexpr int64_t registerRows = 6;

// Blocks: one warp takes 16 rows. Of 8 x 12 heads with 512 keys of 64 on an H200, 64 rows and 64 keys take 31.9 us, 128
// and 128 take 29.8; of 4 x 32 heads with 2,048 keys of 128 it is 772 and 729 (docs/performance.md).
constexpr int64_t fewRows = 64, fewKeys = 64, manyRows = 128, manyKeys = 128, rowsOfWarp = 16;
constexpr int64_t mostResident = 2; // blocks of a multiprocessor that share its memory
constexpr int64_t bytesOfSum = 4;
constexpr int64_t timesOfSingle = 4; // cost of a product of singles in products of halves: three, and splitting

// Blocks whose copies are started by warps of their own (roles). Four warps take 64 rows, and in each thread
//     keys / 2   scores, or the weights that they become
//     keys / 4   weights of the step before, in pairs, while they are multiplied
//     head / 2   the mix
// live together, of 240 registers where eight warps multiply: 64 + 32 + 64 = 160 for heads of 128, 32 + 16 + 128 = 176
// for those of 256, where 128 keys would take 224. Rows of shared memory are 64 halves, so smaller heads are padded.
struct RoleTile {
  int64_t head, keys; // for heads up to this size
};
constexpr RoleTile roleTiles[] = {{128, 128}, {256, 64}};
constexpr int64_t rowsOfFour = 64, leastHead = 64, fewestStages = 2, mostStages = 3;
constexpr int64_t bytesOfRings = 1 << 10; // of shared memory, at most

// Causal tiles that blocks take in turn. A tile's start and end take as long as 0.4 steps. The keys and values of heads
// that are taken together stay in the second-level cache.
constexpr double stepsOfTile = 0.4, nearlyLeast = 1.01; // with as many steps, fewer heads are better
constexpr int64_t bytesOfHeads = 24 << 20, mostOrdered = 1 << 14, ordersTried = 64;

} // namespace

static std::optional<int64_t> constantOf(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? std::optional(std::max<int64_t>(1, constant.getValue())) : std::nullopt;
}

/// Sizes of an attention's loops where they are known.
namespace {
struct AttentionSizes {
  explicit AttentionSizes(const KernelSpace &space) {
    auto sizeOf = [&](unsigned loop) { return constantOf(space.loops()[loop].size); };
    rows = sizeOf(space.loopsOfKind(LoopKind::Row).front());
    keys = sizeOf(space.loopsOfKind(LoopKind::Reduction).front());
    columns = sizeOf(space.loopsOfKind(LoopKind::Column).front());
    head = sizeOf(space.loopsOfKind(LoopKind::Reduction).back());
    expectedRows = space.expectedSize(space.loopsOfKind(LoopKind::Row).front());
    expectedKeys = space.expectedSize(space.loopsOfKind(LoopKind::Reduction).front());
  }
  std::optional<int64_t> rows, keys, columns, head;
  int64_t expectedRows, expectedKeys;
};
} // namespace

/// A tile of about `limit` that cuts `size` into nearly equal parts, each a multiple of `step` unless it is the
/// whole. What is little more than the limit is not cut.
static int64_t evenTile(int64_t size, int64_t limit, int64_t step) {
  int64_t most = limit + limit / 8, parts = std::max<int64_t>(1, (size + most - 1) / most);
  return parts == 1 ? size : llvm::alignTo((size + parts - 1) / parts, step);
}

tile::ScheduleAttr vectors::scheduleAttention(const KernelSpace &space, const TargetDesc &target) {
  AttentionSizes sizes(space);
  int64_t lanes = target.vectorBits / 32;
  // Four vectors where they divide the columns of the values, so that no register tile has three.
  int64_t vectors = target.vectorRegisters == 32 && llvm::alignTo(*sizes.columns, lanes) % (4 * lanes) == 0 ? 4 : 2;
  bool takesAll = sizes.keys && *sizes.keys <= mostKeysAtOnce &&
                  *sizes.keys * (*sizes.head + *sizes.columns) <= mostPanelElements && space.keysBelow.empty() &&
                  space.keysFrom.empty();
  int64_t keys = takesAll     ? llvm::alignTo(*sizes.keys, lanes)
                 : sizes.keys ? evenTile(llvm::alignTo(*sizes.keys, lanes), mostKeys, lanes)
                              : stepOfUnknown;
  int64_t most = space.keysBelow.empty() ? mostRows : mostRowsBelowDiagonal;
  int64_t together = std::clamp(scoreElements / keys, registerRows, most);
  int64_t rows = evenTile(sizes.rows.value_or(together), together, registerRows);
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({rows, *sizes.columns});
  return tile::ScheduleAttr::ofVector(space.nest.context, RootKind::Attention, tile, {keys, *sizes.head},
                                      {registerRows, vectors * lanes});
}

static int64_t powerAbove(int64_t size) { return std::max<int64_t>(16, llvm::PowerOf2Ceil(size)); }

/// The number of blocks if each takes `rows` rows.
static int64_t blocksOf(const KernelSpace &space, const AttentionSizes &sizes, int64_t rows) {
  int64_t blocks = llvm::divideCeil(sizes.expectedRows, rows);
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    blocks *= std::max<int64_t>(1, space.expectedSize(loop, 1));
  return blocks;
}

static int64_t bytesOfElement(const KernelSpace &space) {
  return cast<RankedTensorType>(space.lhs.getType()).getElementTypeBitWidth() / 8;
}

static bool hasUnknownTiles(const KernelSpace &space) {
  return llvm::any_of(space.loops(), [](const Loop &loop) {
    return loop.kind != LoopKind::Reduction && !isa<AffineConstantExpr>(loop.size);
  });
}

/// The most tiles of `rows` rows that there may be; nullopt where sizes have no known bound.
static std::optional<int64_t> mostTiles(const KernelSpace &space, int64_t rows) {
  int64_t tiles = 1;
  for (auto [i, loop] : llvm::enumerate(space.loops()))
    if (loop.kind == LoopKind::Row || loop.kind == LoopKind::Parallel) {
      std::optional<int64_t> most = space.mostOf(i);
      if (!most)
        return std::nullopt;
      tiles *= llvm::divideCeil(*most, loop.kind == LoopKind::Row ? rows : 1);
    }
  return tiles;
}

/// How many steps the block with the most of them has, of blocks that take tiles there and back (AssignRoles.cpp). Of
/// each `order` heads all tiles of the last rows come first. `lengths` are those of a head's tiles, from the first rows
/// on.
static double mostSteps(ArrayRef<double> lengths, int64_t heads, int64_t order, int64_t units) {
  int64_t columns = lengths.size(), programs = heads * columns;
  std::vector<double> steps(units, 0);
  for (int64_t i = 0; i < programs; ++i) {
    int64_t round = i / units, inRound = std::min(units, programs - round * units), block = i % units,
            program = round % 2 ? i : round * units + inRound - 1 - block, group = program / (order * columns),
            together = std::min(order, heads - group * order), column = (program - group * order * columns) / together;
    steps[block] += lengths[columns - 1 - column];
  }
  return *llvm::max_element(steps);
}

/// The schedule's `order` (TileOps.td). Under a causal mask the first rows visit few keys and the last ones many. Where
/// there are more tiles than units, blocks take several, and heads are taken together so that blocks get about equally
/// many steps. 1: each tile has a block of its own.
static int64_t orderOfHeads(const KernelSpace &space, const AttentionSizes &sizes, int64_t rows, int64_t bytesOfHead,
                            const TargetDesc &target) {
  if (space.keysBelow.empty() || hasUnknownTiles(space))
    return 1;
  int64_t programs = blocksOf(space, sizes, rows), columns = llvm::divideCeil(*sizes.rows, rows),
          heads = programs / columns;
  if (programs <= target.units || programs > mostOrdered || columns == 1)
    return 1;
  std::vector<double> lengths;
  for (int64_t column = 0; column < columns; ++column)
    lengths.push_back(stepsOfTile + static_cast<double>(column + 1));
  int64_t most = std::max<int64_t>(std::min(bytesOfHeads / bytesOfHead, heads), 2), best = most;
  double least = mostSteps(lengths, heads, best, target.units);
  for (int64_t order = most - 1; order > 1 && order > most - ordersTried; --order)
    if (double steps = mostSteps(lengths, heads, order, target.units); steps <= nearlyLeast * least) {
      least = std::min(least, steps);
      best = order;
    }
  return best;
}

/// The schedule with these sizes. The keys of a tile are split among several programs where multiprocessors would be
/// idle otherwise.
static tile::ScheduleAttr makeAttention(const KernelSpace &space, const AttentionSizes &sizes, const TargetDesc &target,
                                        int64_t rows, int64_t columns, int64_t keys, int64_t head, int64_t stages,
                                        int64_t groups) {
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({rows, columns});
  int64_t bytes = bytesOfElement(space), bytesOfStep = bytes * keys * (head + columns),
          resident = groups ? 1 : std::clamp<int64_t>(target.sharedBytes / (stages * bytesOfStep), 1, mostResident);
  KeySteps programs{blocksOf(space, sizes, rows),
                    static_cast<int64_t>(llvm::divideCeil(sizes.expectedKeys, keys)),
                    bytesOfStep,
                    bytesOfSum * rows * columns,
                    resident,
                    groups ? 0 : (bytes == 4 ? timesOfSingle : 1) * rowsOfWarp * keys * (head + columns)};
  std::optional<int64_t> tiles = mostTiles(space, rows);
  int64_t parts = tiles ? partsOfKeys(programs, target) : 1,
          bytesOfHead = bytes * sizes.expectedKeys * (head + columns),
          order = groups && parts == 1 ? orderOfHeads(space, sizes, rows, bytesOfHead, target) : 1;
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Attention, tile, {keys, head}, rows / rowsOfWarp,
                                     stages, groups, order, parts, parts > 1 && hasUnknownTiles(space) ? *tiles : 0);
}

/// A schedule with roles, for loops of at least two steps. Null for targets without a copy engine, for elements other
/// than halves, for heads that are too large, and for few rows whose keys are not split.
static tile::ScheduleAttr scheduleRoles(const KernelSpace &space, const AttentionSizes &sizes,
                                        const TargetDesc &target) {
  int64_t head = std::max(leastHead, powerAbove(*sizes.head)),
          columns = std::max(leastHead, powerAbove(*sizes.columns));
  const auto *row = llvm::find_if(roleTiles, [&](const RoleTile &row) { return std::max(head, columns) <= row.head; });
  if (!target.bulkCopies || row == std::end(roleTiles) || bytesOfElement(space) != 2)
    return {};
  int64_t rows = blocksOf(space, sizes, rowsOfFour) <= target.units ? rowsOfFour : 2 * rowsOfFour;
  // Where the number of keys is not known, every step is masked, and masks take registers: eight warps then have too
  // few for 128 keys (ptxas spills 32 bytes in BERT's), four have enough.
  int64_t keys = (sizes.keys || rows == rowsOfFour) && sizes.expectedKeys > row->keys ? row->keys : fewKeys;
  if (sizes.expectedKeys <= keys)
    return {};
  // A block that takes several tiles has the queries of the next one brought early, and goes on while results are
  // stored. With heads of 128 both are worth more than a third stage: 0.87 to 0.98 of the time.
  bool takesSeveral = blocksOf(space, sizes, rows) > target.units;
  auto stagesBeside = [&](int64_t halves) {
    return ((target.sharedBytes - bytesOfRings) / 2 - halves) / (keys * (head + columns));
  };
  int64_t stages = takesSeveral ? stagesBeside(rows * (2 * head + columns)) : 0;
  stages = std::min(mostStages, stages >= fewestStages ? stages : stagesBeside(rows * head));
  tile::ScheduleAttr schedule = makeAttention(space, sizes, target, rows, columns, keys, head, stages, 1);
  bool fillsTiles = powerAbove(sizes.expectedRows) >= rowsOfFour;
  return fillsTiles || schedule.getParts() > 1 ? schedule : tile::ScheduleAttr();
}

/// The most keys of a step of singles for which ptxas does not spill registers. There are fewer for large heads, whose
/// mix takes registers, for few rows, whose parts do so when they are read, and for unknown keys, whose masks do.
static int64_t keysOfSingles(const AttentionSizes &sizes, int64_t rows, int64_t head) {
  return head > 128 ? fewKeys / 4 : rows < fewRows || !sizes.keys ? fewKeys / 2 : fewKeys;
}

/// Many rows and keys if they leave a block for every unit; then as many keys as shared memory has room for in two
/// steps beside the rows.
tile::ScheduleAttr blocks::scheduleAttention(const KernelSpace &space, const TargetDesc &target) {
  AttentionSizes sizes(space);
  if (tile::ScheduleAttr schedule = scheduleRoles(space, sizes, target))
    return schedule;
  // With few rows a block is one or two warps, and a multiprocessor should hold several of them, which many keys leave
  // no shared memory for: 2,048 heads of a row by 512 keys of 128 took 260 us by 128 keys, 187 by 64. A third stage
  // takes 0.97 of the time where keys are many; that was measured on sm_90a only.
  bool hasFewRows = powerAbove(sizes.expectedRows) < fewRows, areHalves = bytesOfElement(space) == 2;
  int64_t head = powerAbove(*sizes.head), columns = powerAbove(*sizes.columns),
          stages = hasFewRows && areHalves && target.bulkCopies ? 3 : 2;
  // Singles take twice the shared memory, and their parts the registers of many keys.
  bool isLarge = blocksOf(space, sizes, manyRows) >= target.units && areHalves && !hasFewRows;
  int64_t rows = std::min(isLarge ? manyRows : fewRows, powerAbove(sizes.expectedRows));
  int64_t most = isLarge ? manyKeys : areHalves ? fewKeys : keysOfSingles(sizes, rows, std::max(head, columns));
  int64_t keys = std::min(most, powerAbove(sizes.expectedKeys));
  auto bytes = [&] { return bytesOfElement(space) * (rows * head + stages * keys * (head + columns)); };
  while (bytes() > target.sharedBytes && keys > 16)
    keys /= 2;
  return makeAttention(space, sizes, target, rows, columns, keys, head, stages, 0);
}

} // namespace tilewright::tilegen
