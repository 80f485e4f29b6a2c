// SPDX-License-Identifier: Apache-2.0
// Schedules for targets whose programs are one thread with vector registers.
//
// A tile is what one program computes; the backend walks it a register tile (`registers`: rows x columns) at a time. So
// tiles only say how work is cut for threads and caches, need no powers of two, and hold whole rows wherever the row's
// length is known.
#include "tilegen/roots/Panels.h"
#include "tilegen/schedule/LeftSide.h"
#include "tilegen/schedule/Schedules.h"

#include <numeric>

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

// Elements of one program. Large enough that starting it costs nothing, small enough that its rows stay in the
// first-level cache; and fewer, down to the least, where there would not be a program for every thread.
constexpr int64_t programElements = 16384, leastElements = 2048;
// A reduced loop longer than this, or of unknown length, is walked in steps.
constexpr int64_t longestRow = 1 << 16;
// Rows and columns of a contraction that one program computes: the left side's rows stay in the second-level cache for
// all its panels.
constexpr int64_t matmulRows = 96, matmulColumns = 256, unpackedRows = 1008, stepOfUnknown = 256;
// Rows of a register tile where there may be one row only: the others are computed for nothing then.
constexpr int64_t rowsOfUnknown = 6;
// The most that a program takes of an image of unknown size: elements of a row, and rows.
constexpr int64_t rowOfUnknownImage = 128, rowsOfUnknownImage = 8;
// Where the left side has to be copied first (windows that may leave the image), a program has more columns, so that
// one copy serves them all.
constexpr int64_t columnsOfCopied = 512;
// Where the right side is computed, a program computes it once for all of its rows, and has only as many columns as
// stay in the second-level cache. 128 rows times 4,096 by 4,096 numbers of four bits take 18.9 ms with 64 or 128
// columns, 19.6 to 20.7 with 256.
constexpr int64_t columnsOfComputed = 128;
// Programs that a kernel should have for the threads there may be.
constexpr int64_t enoughPrograms = 16;

// Rows from which a matrix unit is used.
constexpr int64_t leastMatrixRows = 5;

constexpr int64_t widestStrip = 8; // vectors
// A product of few rows reads a matrix that is not packed once. A matrix that comes from memory must be streamed: a
// step takes some of its rows, each along as many columns as leave work for a few threads, and the sums stay in the
// first-level cache.
constexpr int64_t fewRows = 12, streamedRows = 12, streamedColumns = 4096, leastStreamed = 1024, streamingPrograms = 4;
// The least elements and columns of a matrix for which that is faster than taking all its rows strip by strip.
constexpr int64_t leastMatrix = 1 << 20, leastColumns = 512;
// The most elements of the right side that a program of scheduleDots has: it reads them again for each row, so they
// take at most half of the second-level cache.
constexpr int64_t elementsOfDots = 1 << 17;

// The bytes of a packed panel from which it is walked in steps along k, and of a step. All register tiles of rows read
// the panel, so what they read next must still be in the second-level cache; the sums wait in memory meanwhile. 150
// rows times 12,544 by 1,024 numbers: 59 ms in one walk, 25 in steps of 128 to 512 KiB, 31 in steps of 768.
constexpr int64_t longestPanel = 1 << 20, stepOfPanel = 1 << 18;

/// Register tiles of a contraction, from wide to narrow. Their accumulators, one row of the right side and one
/// broadcast value of the left side fill the registers.
struct RegisterTile {
  int registers; // of the machine
  int64_t vectors, rows;
};
constexpr RegisterTile registerTiles[] = {{32, 4, 6}, {32, 2, 14}, {32, 1, 14}, {16, 2, 6}, {16, 1, 6}};

} // namespace

static int64_t roundUp(int64_t value, int64_t to) { return static_cast<int64_t>(llvm::alignTo(value, to)); }

/// A tile of at most `limit` that cuts `size` into nearly equal parts, each a multiple of `step` unless it is the
/// whole.
static int64_t evenTile(int64_t size, int64_t limit, int64_t step) {
  size = std::max<int64_t>(size, 1);
  if (size <= limit)
    return size;
  int64_t parts = (size + limit - 1) / limit;
  return roundUp((size + parts - 1) / parts, step);
}

/// Elements that a program of this kernel should compute.
static int64_t elementsOfProgram(const KernelSpace &space) {
  int64_t total = 1;
  for (const Loop &loop : space.loops())
    if (std::optional<int64_t> size = graph::constantSize(loop.size))
      total = std::min(total * std::max<int64_t>(1, *size), enoughPrograms * programElements);
    else
      return programElements;
  return std::clamp(total / enoughPrograms, leastElements, programElements);
}

/// How many iterations of loop `which`, whose size is not known, a program should take: many of the innermost, a few of
/// others. For windows: some rows, or a part of a row, of one image.
static int64_t mostOfUnknown(const KernelSpace &space, ArrayRef<unsigned> parallel, size_t which) {
  size_t inside = parallel.size() - 1 - which;
  if (space.root == RootKind::Window && parallel.size() > 2)
    return inside == 0 ? 1024 : inside == 1 ? rowOfUnknownImage : inside == 2 ? rowsOfUnknownImage : 1;
  return inside == 0 ? 1024 : 8;
}

/// The largest divisor of `size` up to `limit`, if it is at least half of `limit`, so that all programs are whole and
/// need no guards; else `limit`.
static int64_t wholeTile(int64_t size, int64_t limit) {
  for (int64_t tile = std::min(size, limit); 2 * tile > limit; --tile)
    if (size % tile == 0)
      return tile;
  return limit;
}

/// The tiles of the parallel loops: inner loops are taken whole, until a program has `elements`.
static SmallVector<int64_t> tileParallelLoops(const KernelSpace &space, int64_t elements) {
  SmallVector<int64_t> tiles;
  SmallVector<unsigned> loops = space.loopsOfKind(LoopKind::Parallel);
  for (size_t i = loops.size(); i-- > 0;) {
    int64_t size = graph::constantSize(space.loops()[loops[i]].size).value_or(mostOfUnknown(space, loops, i));
    int64_t tile = std::max<int64_t>(1, std::min(size, elements));
    if (space.root == RootKind::Window && i + 1 < loops.size() && graph::constantSize(space.loops()[loops[i]].size))
      tile = std::max<int64_t>(1, std::min(size, wholeTile(size, tile)));
    elements = std::max<int64_t>(1, elements / tile);
    tiles.insert(tiles.begin(), tile);
  }
  return tiles;
}

/// The tiles of a kernel without reductions. Where some buffer is contiguous along the last loop but one, tiles have
/// whole vectors along that loop too, so that the backend can transpose blocks.
static SmallVector<int64_t> tilePointwise(const KernelSpace &space, const TargetDesc &target) {
  int64_t elements = elementsOfProgram(space), block = 2 * target.vectorBits / 32;
  SmallVector<int64_t> tiles = tileParallelLoops(space, elements);
  size_t count = tiles.size();
  if (count < 2 || tiles[count - 2] >= block || graph::constantSize(space.loops()[count - 2].size).value_or(0) < block)
    return tiles;
  bool across = llvm::any_of(space.nest.accesses, [&](const Access &access) {
    return space.strideOf(access, count - 2) == getAffineConstantExpr(1, space.nest.context);
  });
  if (across) {
    tiles[count - 2] = block;
    tiles[count - 1] = std::min(tiles[count - 1], elements / block);
  }
  return tiles;
}

tile::ScheduleAttr vectors::scheduleReductions(const KernelSpace &space, const TargetDesc &target) {
  int64_t lanes = target.vectorBits / 32, row = 1;
  SmallVector<int64_t> steps;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction)) {
    std::optional<int64_t> size = graph::constantSize(space.loops()[loop].size);
    bool whole = space.root == RootKind::RowReduction && size && *size * row <= longestRow;
    bool innermost = loop == space.loopsOfKind(LoopKind::Reduction).back();
    steps.push_back(whole                                               ? std::max<int64_t>(1, *size)
                    : space.root == RootKind::RowReduction && innermost ? 4 * lanes
                                                                        : 1);
    row *= steps.back();
  }
  SmallVector<int64_t> tile = tileParallelLoops(space, std::max<int64_t>(1, elementsOfProgram(space) / row));
  // Neighbouring results of a window share what is read for all of them (the weights of a depthwise product) and much
  // of their windows. So several neighbours in a row are computed together, each one vector wide so that all of that
  // stays in registers, if rows are surely long enough.
  SmallVector<unsigned> kept = space.loopsOfKind(LoopKind::Parallel);
  int64_t unknown =
      kept.size() < 3 ? 1 : rowOfUnknownImage; // two loops of which one is not known are images and channels
  int64_t rows = kept.size() < 2 ? 1 : graph::constantSize(space.loops()[kept[kept.size() - 2]].size).value_or(unknown),
          together = evenTile(rows, target.vectorRegisters / 4, 1);
  bool shared = space.root == RootKind::Window && 2 * rows >= target.vectorRegisters / 4;
  // A row's last strip is computed in full, so strips have the width that cuts the row evenly: 40 elements are one
  // strip of 48, not one of 64.
  int64_t strip = space.root == RootKind::RowReduction
                      ? std::min(4 * lanes, roundUp(evenTile(steps.back(), 4 * lanes, lanes), lanes))
                      : 4 * lanes;
  return tile::ScheduleAttr::ofVector(space.nest.context, space.root, tile, steps,
                                      {shared ? together : 1, shared ? lanes : strip});
}

namespace {
struct MatmulShape {
  int64_t rows, columns;       // of the register tile
  int64_t rowTile, columnTile; // of a program
};
} // namespace

/// The cost of one row of `columns` in register tiles of `width` and `height`, in multiplications: padded columns count
/// in full, and a load costs half a multiplication, shared by the elements of the tile that use it. The last tile is
/// one vector or half a vector wide if that suffices.
static double costOfRow(int64_t columns, int64_t width, int64_t height, int64_t lanes) {
  auto cost = [&](int64_t count, int64_t width) {
    double loads = static_cast<double>(lanes) / std::max(width, lanes) + 1.0 / height;
    return static_cast<double>(count) * (1 + loads / 2);
  };
  int64_t rest = columns % width, last = rest > lanes ? width : rest > lanes / 2 ? lanes : lanes / 2;
  return cost(columns - rest, width) + (rest > 0 ? cost(last, last) : 0);
}

/// The register tile of at most `tallest` rows with the least cost, where padded rows count in full too.
static MatmulShape shapeMatmul(int64_t rows, int64_t columns, int64_t tallest, int64_t rowLimit, int64_t columnLimit,
                               const TargetDesc &target) {
  int64_t lanes = target.vectorBits / 32;
  double least = std::numeric_limits<double>::infinity();
  MatmulShape best{};
  for (const RegisterTile &candidate : registerTiles) {
    if (candidate.registers != target.vectorRegisters ||
        (candidate.vectors > 1 && candidate.vectors * lanes > roundUp(columns, lanes)))
      continue;
    int64_t most = std::min(candidate.rows, tallest), width = candidate.vectors * lanes;
    for (int64_t height = most; 2 * height >= most; --height) {
      double cost = static_cast<double>(roundUp(rows, height)) * costOfRow(columns, width, height, lanes);
      if (cost >= least * 0.999)
        continue;
      least = cost;
      best = {height, width, evenTile(rows, rowLimit, height), roundUp(evenTile(columns, columnLimit, width), width)};
    }
  }
  return best;
}

/// The columns of a program: those of `shape`, or fewer, down to `least`, until there are enough programs for all
/// threads. Where rows are those of any number of images, there must be enough for one image.
static int64_t spreadColumns(const KernelSpace &space, int64_t columns, const MatmulShape &shape, int64_t least) {
  int64_t others = 1, tile = shape.columnTile;
  for (const Loop &loop : space.loops())
    if (loop.kind == LoopKind::Parallel || loop.kind == LoopKind::Row)
      others *= llvm::divideCeil(std::max<int64_t>(1, loop.size.getLargestKnownDivisor()),
                                 loop.kind == LoopKind::Row ? shape.rowTile : 1);
  while (tile > least && others * static_cast<int64_t>(llvm::divideCeil(columns, tile)) < enoughPrograms)
    tile = roundUp(evenTile(columns, std::max(tile / 2, least), shape.columns), shape.columns);
  return tile;
}

/// Is this a product of few rows and a large matrix that is not packed, so that the matrix should be streamed?
static bool streamsRightSide(const KernelSpace &space, int64_t rows, int64_t columns) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  int64_t depth = graph::constantSize(space.loops()[reduced.back()].size).value_or(leastMatrix);
  return rows <= fewRows && columns >= leastColumns && depth * columns >= leastMatrix && depth > streamedRows &&
         reduced.size() == 1 && space.columnsAreContiguous();
}

/// The columns of a program that streams: there are a few programs, if each has columns enough, and more only where
/// sums would not fit in the cache.
static int64_t columnsOfStream(const KernelSpace &space, int64_t columns) {
  int64_t others = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    others *= std::max<int64_t>(1, graph::constantSize(space.loops()[loop].size).value_or(1));
  int64_t wanted = std::min<int64_t>(llvm::divideCeil(streamingPrograms, others), columns / leastStreamed);
  return llvm::divideCeil(
      columns, std::max<int64_t>({1, wanted, static_cast<int64_t>(llvm::divideCeil(columns, streamedColumns))}));
}

/// A schedule of dots along k, as vectors with one horizontal sum at the end: where both sides are contiguous along k,
/// and there are too few rows (or a single column) to pay for a transposed copy of the right side. Each multiplication
/// needs two loads, so they reach 43 % of the peak from caches. A single column may also be a sum over windows, for
/// which the register tiles of a product would compute a whole vector of columns. nullopt for other products.
static std::optional<tile::ScheduleAttr> scheduleDots(const KernelSpace &space, int64_t rows, int64_t columns,
                                                      const TargetDesc &target) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  SmallVector<int64_t> steps;
  int64_t depth = 1;
  for (unsigned loop : reduced) {
    std::optional<int64_t> size = graph::constantSize(space.loops()[loop].size);
    if (!size || *size > longestRow / depth)
      return std::nullopt;
    steps.push_back(*size);
    depth *= *size;
  }
  bool alongDepth = llvm::all_of(space.nest.accesses, [&](const Access &access) {
    AffineExpr stride = space.strideOf(access, reduced.back());
    return stride == getAffineConstantExpr(0, space.nest.context) ||
           stride == getAffineConstantExpr(1, space.nest.context);
  });
  bool isReal = isa<FloatType>(cast<RankedTensorType>(space.lhs.getType()).getElementType());
  int64_t lanes = target.vectorBits / 32;
  if (!alongDepth || !isReal || steps.back() < lanes)
    return std::nullopt;
  if (columns > 1 && (rows > fewRows || reduced.size() != 1 || LeftSide(space).mayLeave()))
    return std::nullopt;
  auto spread = [&](int64_t size) {
    return std::min(std::max(size / enoughPrograms, std::min(size, lanes)), elementsOfDots / depth);
  };
  // The epilogue of a single column has its vectors along the rows. Four vectors hide each other's latency. Where there
  // may be any number of images, a program takes rows of one image.
  if (columns == 1) {
    AffineExpr count = space.loops()[space.loopsOfKind(LoopKind::Row).front()].size;
    int64_t together = graph::constantSize(count) ? rows : std::max(rows, count.getLargestKnownDivisor());
    rows = wholeTile(together, std::min(spread(together), 4 * lanes));
  }
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({rows, spread(columns)});
  return tile::ScheduleAttr::ofVector(space.nest.context, RootKind::Gemv, tile, steps, {1, 4 * lanes});
}

/// The matrix instruction for products of bytes whose right side is packed and whose reduced loop is a multiple of the
/// instruction's k. Null for others, and for few rows, which leave most of the unit idle and wait for memory anyway.
static const MatrixInstruction *matrixUnitFor(const KernelSpace &space, int64_t rows, int64_t columns,
                                              const TargetDesc &target) {
  auto isByte = [](Value value) { return cast<RankedTensorType>(value.getType()).getElementType().isInteger(8); };
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  std::optional<int64_t> depth = graph::constantSize(space.loops()[reduced.back()].size);
  if (!isByte(space.lhs) || !isByte(space.rhs) || reduced.size() != 1 || !depth || !isPackable(space) ||
      isComputedFromConstants(space) || rows < leastMatrixRows)
    return nullptr;
  for (const MatrixInstruction &unit : target.matrix)
    if (unit.type == MatrixType::I8 && *depth % unit.k == 0 && columns >= unit.n)
      return &unit;
  return nullptr;
}

/// A register tile of four of the unit's tiles of sums. They are two by two where there are more rows than one tile
/// has, so that each tile of operands is used twice.
static MatmulShape shapeForMatrixUnit(const MatrixInstruction &unit, int64_t rows, int64_t columns) {
  int64_t tall = rows > unit.m ? 2 : 1, wide = 4 / tall;
  MatmulShape shape{std::min(rows, tall * unit.m), std::min(roundUp(columns, unit.n), wide * unit.n), 0, 0};
  shape.rowTile = evenTile(rows, matmulRows, shape.rows);
  shape.columnTile = roundUp(evenTile(columns, matmulColumns, shape.columns), shape.columns);
  return shape;
}

/// Is the right side packed, of singles, and read again in each step of a loop, so that it comes from a cache? Panels
/// of eight vectors then take 0.98 of the time (docs/performance/host-products.md, "Not to ask at all"). Right sides
/// that are larger than a cache have their lines prefetched, and then take 2.8 times as long by eight vectors.
static bool staysInCache(const KernelSpace &space, int64_t columns, int64_t width) {
  constexpr int64_t mostElements = 1 << 20; // 4 MiB, the largest that was measured in a loop
  auto right = cast<RankedTensorType>(space.rhs.getType());
  bool isRepeated = space.source->getParentOfType<ModuleOp>()->hasAttr(graph::repeatedAttr);
  return isRepeated && isPackable(space) && !isComputedFromConstants(space) && right.getElementType().isF32() &&
         right.hasStaticShape() && right.getNumElements() <= mostElements && columns % width == 0;
}

/// The depth of a step along the innermost of the reduced loops for which a panel that is longer than the second-level
/// cache is walked in steps. nullopt where it is walked at once.
static std::optional<int64_t> stepOfLongPanel(const KernelSpace &space, int64_t columns) {
  int64_t rowBytes = columns * cast<RankedTensorType>(space.rhs.getType()).getElementType().getIntOrFloatBitWidth() / 8;
  int64_t depth = 1, innermost = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction)) {
    std::optional<int64_t> size = graph::constantSize(space.loops()[loop].size);
    if (!size)
      return std::nullopt;
    depth *= *size, innermost = *size;
  }
  if (depth * rowBytes <= longestPanel || innermost * rowBytes <= 2 * stepOfPanel)
    return std::nullopt;
  return evenTile(innermost, stepOfPanel / rowBytes, 1);
}

tile::ScheduleAttr vectors::scheduleContraction(const KernelSpace &space, const TargetDesc &target) {
  auto sizeOf = [&](LoopKind kind) { return graph::constantSize(space.loops()[space.loopsOfKind(kind).front()].size); };
  bool packed = isPackable(space), isComputed = isComputedFromConstants(space);
  LeftSide left(space);
  int64_t rows = std::max<int64_t>(1, space.mostOf(space.loopsOfKind(LoopKind::Row).front()).value_or(matmulRows));
  int64_t columns = std::max<int64_t>(1, sizeOf(LoopKind::Column).value_or(matmulColumns));
  if (!packed || columns == 1)
    if (std::optional<tile::ScheduleAttr> dots = scheduleDots(space, rows, columns, target))
      return *dots;
  bool streams = !packed && streamsRightSide(space, rows, columns);
  std::optional<int64_t> fewTaps = left.rowsForInPlace();
  AffineExpr rowCount = space.loops()[space.loopsOfKind(LoopKind::Row).front()].size;
  int64_t together = fewTaps.value_or(rows), limit = fewTaps                 ? *fewTaps
                                                     : packed && !isComputed ? matmulRows
                                                                             : unpackedRows;
  bool mayBeOne = !fewTaps && rows > 1 && !graph::constantSize(rowCount) && rowCount.getLargestKnownDivisor() == 1;
  const MatrixInstruction *unit = left.mayLeave() ? nullptr : matrixUnitFor(space, rows, columns, target);
  MatmulShape shape = unit ? shapeForMatrixUnit(*unit, rows, columns)
                           : shapeMatmul(together, columns, mayBeOne ? rowsOfUnknown : together, limit,
                                         left.mayLeave() ? columnsOfCopied
                                         : isComputed    ? columnsOfComputed
                                                         : matmulColumns,
                                         target);
  // A row times a narrow matrix that is not packed takes all columns as one strip, so that each row of the matrix is
  // read at once. And a row times panels that come from a cache takes so many sums that none waits for another one.
  int64_t widest = widestStrip * target.vectorBits / 32;
  if (rows == 1 && ((!packed && !streams) || staysInCache(space, columns, widest)))
    shape.columns = std::min(widest, roundUp(columns, target.vectorBits / 32));
  shape.columnTile = roundUp(streams ? columnsOfStream(space, columns) : shape.columnTile, shape.columns);
  if (!streams)
    shape.columnTile = spreadColumns(space, columns, shape, left.mayLeave() ? matmulColumns : shape.columns);
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1),
      steps(space.loopsOfKind(LoopKind::Reduction).size(), 1);
  tile.append({shape.rowTile, shape.columnTile});
  steps.back() = std::max<int64_t>(
      1,
      graph::constantSize(space.loops()[space.loopsOfKind(LoopKind::Reduction).back()].size).value_or(stepOfUnknown));
  SmallVector<int64_t> registers = {shape.rows, shape.columns};
  if (streams) {
    steps.back() = streamedRows;
    registers.push_back(streamedRows);
  } else if (packed && !isComputed && !unit && rows > fewRows) {
    if (std::optional<int64_t> step = stepOfLongPanel(space, shape.columns)) {
      steps.back() = *step;
      registers.push_back(*step);
    }
  }
  return tile::ScheduleAttr::ofVector(space.nest.context, RootKind::Matmul, tile, steps, registers,
                                      packed ? shape.columns : 0, !streams && left.isInPlace(shape.rowTile),
                                      unit != nullptr);
}

tile::ScheduleAttr vectors::schedulePointwise(const KernelSpace &space, const TargetDesc &target) {
  return tile::ScheduleAttr::ofVector(space.nest.context, RootKind::Pointwise, tilePointwise(space, target), {},
                                      {1, 4 * target.vectorBits / 32});
}

} // namespace tilewright::tilegen
