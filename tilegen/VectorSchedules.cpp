// Schedules for targets whose programs are one thread with vector registers.
//
// A tile is what one program computes; the backend walks it a register tile (`registers`: rows x columns) at a time. So tiles only say how
// work is cut for threads and caches, need no powers of two, and hold whole rows wherever the row's length is known.
#include "tilegen/SelectSchedule.h"
#include "tilegen/roots/Roots.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

// Elements of one program. Large enough that starting it costs nothing, small enough that its rows stay in the first-level cache.
constexpr int64_t programElements = 16384;
// A reduced loop longer than this, or of unknown length, is walked in steps.
constexpr int64_t longestRow = 1 << 16;
// Rows and columns of a contraction that one program computes: the left side's rows stay in the second-level cache for all its panels.
constexpr int64_t matmulRows = 96, matmulColumns = 256, unpackedRows = 1008, stepOfUnknown = 256;

/// Rows of the register tile by its columns in vectors: accumulators, one row of the right side and a broadcast value fill the registers.
struct RegisterTile {
  int registers;
  int64_t vectors, rows;
};
constexpr RegisterTile registerTiles[] = {{32, 4, 6}, {32, 2, 14}, {32, 1, 14}, {16, 2, 6}, {16, 1, 6}};

} // namespace

static std::optional<int64_t> constantOf(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

static int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/// A tile of at most `limit` that cuts `size` into nearly equal parts, each a multiple of `step` unless it is the whole.
static int64_t evenTile(int64_t size, int64_t limit, int64_t step) {
  size = std::max<int64_t>(size, 1);
  if (size <= limit)
    return size;
  int64_t parts = (size + limit - 1) / limit;
  return roundUp((size + parts - 1) / parts, step);
}

/// Tiles of the parallel loops, innermost first until a program has its elements.
static SmallVector<int64_t> tileParallelLoops(const KernelSpace &space, int64_t elements) {
  SmallVector<int64_t> tiles;
  SmallVector<unsigned> loops = space.loopsOfKind(LoopKind::Parallel);
  for (unsigned loop : llvm::reverse(loops)) {
    bool innermost = tiles.empty();
    int64_t size = constantOf(space.loops()[loop].size).value_or(innermost ? 1024 : 8);
    int64_t tile = std::max<int64_t>(1, std::min(size, elements));
    elements = std::max<int64_t>(1, elements / tile);
    tiles.insert(tiles.begin(), tile);
  }
  return tiles;
}

static tile::ScheduleAttr scheduleReductions(const KernelSpace &space, const TargetDesc &target) {
  int64_t lanes = target.vectorBits / 32, row = 1;
  SmallVector<int64_t> steps;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction)) {
    std::optional<int64_t> size = constantOf(space.loops()[loop].size);
    bool whole = space.root == Root::RowReduction && size && *size * row <= longestRow;
    bool innermost = loop == space.loopsOfKind(LoopKind::Reduction).back();
    steps.push_back(whole ? std::max<int64_t>(1, *size) : space.root == Root::RowReduction && innermost ? 4 * lanes : 1);
    row *= steps.back();
  }
  SmallVector<int64_t> tile = tileParallelLoops(space, std::max<int64_t>(1, programElements / row));
  return tile::ScheduleAttr::get(space.nest.context, rootName(space.root), tile, steps, 1, 1, {1, 4 * lanes}, 0);
}

static tile::ScheduleAttr scheduleMatmul(const KernelSpace &space, const TargetDesc &target) {
  int64_t lanes = target.vectorBits / 32;
  AffineExpr rowSize = space.loops()[space.loopsOfKind(LoopKind::Row).front()].size;
  AffineExpr columnSize = space.loops()[space.loopsOfKind(LoopKind::Column).front()].size;
  int64_t columns = constantOf(columnSize).value_or(matmulColumns), rows = constantOf(rowSize).value_or(matmulRows);
  const RegisterTile *registers = nullptr; // the widest that the columns fill
  for (const RegisterTile &candidate : registerTiles)
    if (candidate.registers == target.vectorRegisters && (!registers || columns <= candidate.vectors * lanes))
      registers = &candidate;
  int64_t width = registers->vectors * lanes;
  bool packed = packableArgument(space).has_value();
  int64_t rowTile = evenTile(rows, packed ? matmulRows : unpackedRows, registers->rows);
  int64_t columnTile = std::min(roundUp(std::max<int64_t>(columns, 1), width), matmulColumns);
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1), steps;
  tile.push_back(rowTile);
  tile.push_back(columnTile);
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction)) {
    bool innermost = loop == space.loopsOfKind(LoopKind::Reduction).back();
    steps.push_back(innermost ? std::max<int64_t>(1, constantOf(space.loops()[loop].size).value_or(stepOfUnknown)) : 1);
  }
  return tile::ScheduleAttr::get(space.nest.context, rootName(space.root), tile, steps, 1, 1, {std::min(registers->rows, rowTile), width},
                                 packed ? width : 0);
}

tile::ScheduleAttr scheduleForVectors(const KernelSpace &space, const TargetDesc &target) {
  if (space.root == Root::Matmul)
    return scheduleMatmul(space, target);
  if (space.root != Root::Pointwise)
    return scheduleReductions(space, target);
  return tile::ScheduleAttr::get(space.nest.context, rootName(space.root), tileParallelLoops(space, programElements), {}, 1, 1,
                                 {1, 4 * target.vectorBits / 32}, 0);
}

} // namespace tilewright::tilegen
