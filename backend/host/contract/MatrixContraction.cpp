// SPDX-License-Identifier: Apache-2.0
#include "backend/host/contract/MatrixContraction.h"

#include "backend/host/Elementwise.h"

#include "mlir/IR/Matchers.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;

namespace tilewright::host {

namespace intrinsic = llvm::Intrinsic;

static constexpr unsigned tileCount = 8, firstLeft = 4, firstRight = 6;
static constexpr int64_t tileRows = matrixTile.rows, tileBytes = matrixTile.k, tileColumns = matrixTile.columns;
static constexpr int64_t wordBytes = 4, cacheLine = 64;

/// How a register tile is cut into tiles of the unit.
struct MatrixContraction::Grid {
  Grid(int64_t rows, int64_t columns, int64_t mostColumns)
      : rows(llvm::divideCeil(rows, tileRows)), columns(llvm::divideCeil(columns, tileColumns)),
        mostColumns(llvm::divideCeil(mostColumns, tileColumns)) {}

  int64_t rows, columns, mostColumns; // mostColumns: of the schedule's register tile

  bool fits() const {
    return rows * mostColumns <= firstLeft && rows <= firstRight - firstLeft && columns <= mostColumns;
  }
  unsigned sum(int64_t row, int64_t column) const { return static_cast<unsigned>(row * mostColumns + column); }
  unsigned left(int64_t row) const { return static_cast<unsigned>(firstLeft + row); }
  unsigned right(int64_t column) const { return static_cast<unsigned>(firstRight + column % (tileCount - firstRight)); }
  int64_t sumRowBytes() const { return columns * tileColumns * wordBytes; }
};

MatrixContraction::Grid MatrixContraction::gridOf(const Position &position) const {
  return {static_cast<int64_t>(position.rows.size()), position.width, plan.registerColumns};
}

bool MatrixContraction::canEmit(tile::DotOp op, const Position &position) const {
  return wholeSizes && multipliesOnMatrixUnit(op) && gridOf(position).fits();
}

void MatrixContraction::onTile(intrinsic::ID id, unsigned tile, ArrayRef<llvm::Value *> operands) {
  SmallVector<llvm::Value *> all = {ir.getInt8(tile)};
  all.append(operands.begin(), operands.end());
  ir.CreateIntrinsic(id, {}, all);
}

/// `bytes` of stack, aligned to a cache line.
llvm::Value *MatrixContraction::stackOf(int64_t bytes) {
  llvm::Value *place = function.slot(llvm::ArrayType::get(ir.getInt8Ty(), static_cast<uint64_t>(bytes)));
  cast<llvm::AllocaInst>(place)->setAlignment(llvm::Align(cacheLine));
  math.define(place, {}, 0);
  return place;
}

//===- Sizes ------------------------------------------------------------------------------------------------------===//

/// Writes the operand of LDTILECFG for a register tile of `rows` rows. Tiles get at least one row, because using a tile
/// without rows faults.
void MatrixContraction::writeSizes(llvm::Value *sizes, const Grid &grid, Ix rows) {
  llvm::Type *byte = ir.getInt8Ty();
  constexpr int64_t palette = 0, rowBytesAt = 16, rowsAt = 48;
  auto put = [&](int64_t at, llvm::Value *value) {
    ir.CreateAlignedStore(value, ir.CreateConstGEP1_64(byte, sizes, at), llvm::Align(1));
  };
  ir.CreateMemSet(sizes, ir.getInt8(0), cacheLine, llvm::MaybeAlign(cacheLine));
  put(palette, ir.getInt8(1));
  auto give = [&](unsigned tile, llvm::Value *rows) { // rows and bytes of a row must be both 0 or neither
    put(rowBytesAt + int64_t(2) * tile, ir.getInt16(tileBytes));
    put(rowsAt + tile, rows);
  };
  for (int64_t row = 0; row < grid.rows; ++row) {
    Ix inside = math.min(math.sub(rows, math.constant(row * tileRows)), math.constant(tileRows));
    llvm::Value *count = ir.CreateTrunc(math.max(inside, math.constant(1)), byte);
    give(grid.left(row), count);
    for (int64_t column = 0; column < grid.columns; ++column)
      give(grid.sum(row, column), count);
  }
  for (unsigned tile = firstRight; tile < tileCount; ++tile)
    give(tile, ir.getInt8(tileRows));
}

void MatrixContraction::configure(tile::KernelOp kernel) {
  if (!plan.dots.matrix)
    return;
  Grid grid(plan.dots.registerRows, plan.registerColumns, plan.registerColumns);
  if (!function.options.has(matrixFeature))
    return function.fail(kernel, "its schedule wants the matrix unit, which this target has not: take out 'matrix'");
  if (!grid.fits() || plan.registerColumns % tileColumns != 0)
    return function.fail(kernel, "expected 'matrix' with at most four tiles of 16 rows and 16 columns, at most two of "
                                 "them below each other, got registers of " +
                                     Twine(plan.dots.registerRows) + " rows and " + Twine(plan.registerColumns) +
                                     " columns");
  bool takesAll = !kernel
                       .walk([](tile::DotOp dot) {
                         return multipliesOnMatrixUnit(dot) ? WalkResult::advance() : WalkResult::interrupt();
                       })
                       .wasInterrupted();
  if (!takesAll)
    return function.fail(kernel, "expected 'matrix' for products of packed bytes whose depth is a multiple of 64");
  wholeSizes = stackOf(cacheLine);
  writeSizes(wholeSizes, grid, math.constant(plan.dots.registerRows));
  ir.CreateIntrinsic(intrinsic::x86_ldtilecfg, {}, {wholeSizes});
}

void MatrixContraction::release() {
  if (wholeSizes)
    ir.CreateIntrinsic(intrinsic::x86_tilerelease, ArrayRef<llvm::Type *>(), {});
}

//===- The left side ----------------------------------------------------------------------------------------------===//

llvm::Value *MatrixContraction::leftAddress(tile::DotOp op, const Position &position, unsigned row) {
  if (const TileInMemory *buffered = values.memoryOf(op.getLhs()))
    return tileMemory.address(*buffered, position, row, ir.getInt8Ty());
  return memory.addressOf(op.getLhs().getDefiningOp<tile::LoadOp>(), position, row, 0);
}

/// The distance in bytes from a row of the left side to the next.
Ix MatrixContraction::leftRowBytes(tile::DotOp op, const Position &position) {
  if (const TileInMemory *buffered = values.memoryOf(op.getLhs()))
    return math.constant(buffered->layout.rowStride);
  Position down = position; // lanes along the rows
  down.laneAxis = 1;
  down.column = position.rows.front();
  down.rows.assign(1, math.constant(0));
  down.width = static_cast<unsigned>(tileRows);
  Access rows = addresses.access(addresses.referenceTo(op.getLhs().getDefiningOp<tile::LoadOp>()), down, 0);
  if (rows.delta) // isEven rules this out
    function.fail(op, "the rows of its left side are not evenly apart");
  return rows.stride ? rows.stride : math.constant(0); // 0: all rows are the same
}

//===- The sums ---------------------------------------------------------------------------------------------------===//

void MatrixContraction::startSums(tile::DotOp op, const Position &position, const Grid &grid, llvm::Value *sums) {
  bool fromZero = matchPattern(op.getAcc(), m_Zero());
  if (!fromZero)
    for (auto [row, value] : llvm::enumerate(values.tileOf(op.getAcc(), position)))
      ir.CreateAlignedStore(value, ir.CreateConstGEP1_64(ir.getInt8Ty(), sums, row * grid.sumRowBytes()),
                            llvm::Align(wordBytes));
  for (int64_t row = 0; row < grid.rows; ++row)
    for (int64_t column = 0; column < grid.columns; ++column)
      if (fromZero)
        onTile(intrinsic::x86_tilezero, grid.sum(row, column), {});
      else
        onTile(intrinsic::x86_tileloadd64, grid.sum(row, column),
               {ir.CreateConstGEP1_64(ir.getInt8Ty(), sums,
                                      row * tileRows * grid.sumRowBytes() + column * tileColumns * wordBytes),
                ir.getInt64(grid.sumRowBytes())});
}

/// Adds the products of 64 k.
void MatrixContraction::addStep(tile::DotOp op, const Position &left, const Position &right, const Grid &grid,
                                Ix rowBytes) {
  static constexpr intrinsic::ID products[2][2] = {{intrinsic::x86_tdpbssd, intrinsic::x86_tdpbsud},
                                                   {intrinsic::x86_tdpbusd, intrinsic::x86_tdpbuud}};
  intrinsic::ID multiply = products[op.getLhsUnsigned()][op.getRhsUnsigned()];
  auto panels = op.getRhs().getDefiningOp<tile::LoadOp>();
  int64_t panel = panelColumns(panels);
  for (int64_t row = 0; row < grid.rows; ++row)
    onTile(intrinsic::x86_tileloadd64, grid.left(row),
           {leftAddress(op, left, static_cast<unsigned>(row * tileRows)), rowBytes});
  llvm::Value *base = memory.addressOf(panels, right, 0, panel);
  for (int64_t column = 0; column < grid.columns; ++column) {
    onTile(intrinsic::x86_tileloadd64, grid.right(column),
           {math.pointer(ir.getInt8Ty(), base, math.constant(column * tileColumns * quad)), ir.getInt64(panel * quad)});
    for (int64_t row = 0; row < grid.rows; ++row)
      onTile(multiply, grid.sum(row, column), {ir.getInt8(grid.left(row)), ir.getInt8(grid.right(column))});
  }
}

/// Whether `rows` are `count` consecutive rows.
static bool areWhole(const IndexMath &math, ArrayRef<Ix> rows, unsigned count) {
  auto split = [&](Ix row) {
    std::optional<int64_t> constant = constantOf(row);
    return constant ? std::pair<Ix, int64_t>(nullptr, *constant) : math.split(row);
  };
  auto [base, offset] = split(rows.front());
  for (auto [i, row] : llvm::enumerate(rows))
    if (split(row) != std::pair(base, offset + static_cast<int64_t>(i)))
      return false;
  return rows.size() == count;
}

TileInMemory MatrixContraction::emit(tile::DotOp op, const Position &position) {
  Grid grid = gridOf(position);
  llvm::Type *byte = ir.getInt8Ty();
  llvm::Value *sums = stackOf(grid.rows * tileRows * grid.sumRowBytes());
  // Fewer rows than the schedule's: tiles get other sizes, so that rows which do not exist are not read.
  bool isWhole = areWhole(math, position.rows, plan.dots.registerRows);
  if (!isWhole) {
    llvm::Value *sizes = stackOf(cacheLine);
    writeSizes(sizes, grid, math.add(math.sub(position.rows.back(), position.rows.front()), math.constant(1)));
    ir.CreateIntrinsic(intrinsic::x86_ldtilecfg, {}, {sizes});
  }
  startSums(op, position, grid, sums);
  Ix rowBytes = leftRowBytes(op, position);
  int64_t depth = cast<RankedTensorType>(op.getLhs().getType()).getShape().back();
  PanelStream(memory, function, op, position).emit([&](PanelStream::Fetch fetch) {
    math.loop(math.constant(0), math.constant(depth), tileBytes, [&](Ix k) {
      Position left = position, right = position;
      left.set(0, k);
      right.set(1, k);
      fetch(k, tileBytes / quad);
      addStep(op, left, right, grid, rowBytes);
    });
  });
  for (int64_t row = 0; row < grid.rows; ++row)
    for (int64_t column = 0; column < grid.columns; ++column)
      onTile(intrinsic::x86_tilestored64, grid.sum(row, column),
             {ir.CreateConstGEP1_64(byte, sums, row * tileRows * grid.sumRowBytes() + column * tileColumns * wordBytes),
              ir.getInt64(grid.sumRowBytes())});
  if (!isWhole)
    ir.CreateIntrinsic(intrinsic::x86_ldtilecfg, {}, {wholeSizes});
  TileInMemory result;
  result.base = sums;
  result.layout.shape = {grid.rows * tileRows, grid.columns * tileColumns};
  result.layout.rowStride = grid.columns * tileColumns;
  result.origin = {position.column, position.rows.front()};
  return result;
}

} // namespace tilewright::host
