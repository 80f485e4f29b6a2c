// Tiles whose neighbours in memory lie along a column: square blocks of them are transposed in registers, where rows
// would be gathered or scattered element by element.
//
//   registers = 16 columns of y, 16 rows long       lane = row            lane = column
//   registers = transpose(registers)             x[k, c .. c+15] -> panel[c .. c+15, k]
//   store 16 rows                                                     y[c .. c+15, r] <- held[r, c .. c+15]
#include "backend/host/Elementwise.h"
#include "backend/host/Emitter.h"
#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/SharedValues.h"

using namespace mlir;

namespace tilewright::host {

/// The transpose of as many rows as they have elements: each step interleaves the upper half of the rows with the
/// lower.
Rows Emitter::transpose(Rows rows) {
  int count = rows.size();
  for (int step = 1; step < count; step *= 2) {
    Rows next;
    for (int i = 0; i < count; ++i) {
      SmallVector<int> elements; // of rows i / 2 and i / 2 + count / 2
      for (int j = 0; j < count; ++j)
        elements.push_back((i % 2 * count + j) / 2 + j % 2 * count);
      next.push_back(ir.CreateShuffleVector(rows[i / 2], rows[i / 2 + count / 2], elements));
    }
    rows = next;
  }
  return rows;
}

/// body(column, row, position) for the corners of all square blocks of `group`.
void Emitter::overBlocks(const Group &group, llvm::function_ref<void(Ix, Ix, const Position &)> body) {
  Position position = group.position;
  std::function<void(unsigned)> nest = [&](unsigned axis) {
    if (axis > 1)
      return math.loop(math.constant(0), group.limits[axis], 1, [&](Ix coordinate) {
        position.outer[position.outer.size() - (axis - 1)] = coordinate;
        nest(axis - 1);
      });
    math.loop(math.constant(0), group.limits[0], narrow, [&](Ix column) {
      math.loop(math.constant(0), group.limits[1], narrow, [&](Ix row) { body(column, row, position); });
    });
  };
  nest(group.limits.size() - 1);
}

/// `first` and its neighbours, as many as a block has; the last one again beyond `limit`.
SmallVector<Ix, 8> Emitter::sideOfBlock(Ix first, Ix limit) {
  SmallVector<Ix, 8> side;
  for (unsigned i = 0; i < narrow; ++i)
    side.push_back(math.min(math.add(first, math.constant(i)), math.sub(limit, math.constant(1))));
  return side;
}

/// Drops what is known of a block's axis unless the block lies inside whole.
void Emitter::forgetPartial(Position &position, unsigned axis, Ix first, Ix limit) {
  if (!math.alwaysLess(math.add(first, math.constant(narrow - 1)), limit))
    llvm::erase_if(position.live, [&](const Position::Live &fact) { return fact.axis == axis; });
}

/// The block of `value` whose corner is (row, column), read by columns; columns beyond the last are the last one again.
Rows Emitter::pullAcross(Value value, const Position &position, Ix column, Ix row, Ix columns) {
  Position from = position;
  from.lanes = 1;
  from.column = row;
  from.width = narrow;
  from.rows = sideOfBlock(column, columns);
  from.live.clear();
  Rows lines = pull(value, from);
  for (llvm::Value *&line : lines)
    line = toMemory(line, narrow);
  lines = transpose(lines);
  for (llvm::Value *&line : lines)
    line = fromMemory(line, typeOf(value), narrow);
  return lines;
}

/// A held tile, read by columns. Rows beyond the last block's end are computed again where the tile ends within a
/// block.
void Emitter::emitLoadAcross(Group &group) {
  flush();
  prepare(group);
  const Group::Root root = group.roots.front();
  Ix lastBlock = math.constant(group.shape[group.shape.size() - 2] - narrow);
  overBlocks(group, [&](Ix column, Ix row, const Position &position) {
    Position to = position;
    row = math.min(row, lastBlock);
    Rows lines = pullAcross(root.value, position, column, row, group.limits[0]);
    to.column = column;
    to.width = narrow;
    to.rows.clear();
    for (unsigned i = 0; i < narrow; ++i)
      to.rows.push_back(math.add(row, math.constant(i)));
    storeHeld(root.target, lines, to);
  });
  group = {};
}

/// Stores of values that are computed from `loads`, which are read by columns: everything else is computed for as many
/// rows.
void Emitter::emitFromAcross(const Group &group, ArrayRef<Value> loads) {
  Ix columns = group.limits[0], rows = group.limits[1];
  overBlocks(group, [&](Ix column, Ix row, const Position &position) {
    Position block = position;
    block.column = column;
    block.width = narrow;
    block.end = math.alwaysLess(math.add(column, math.constant(narrow - 1)), columns) ? nullptr : columns;
    block.rows.clear();
    for (unsigned i = 0; i < narrow; ++i)
      block.rows.push_back(math.add(row, math.constant(i)));
    forgetPartial(block, 0, column, columns);
    forgetPartial(block, 1, row, rows);
    for (Value load : loads)
      remember(load, block, pullAcross(load, position, column, row, columns));
    for (Group::Root root : group.roots) {
      Rows values = pull(root.store.getValue(), block);
      for (unsigned i = 0; i < narrow; ++i) {
        Position line = block;
        line.rows = {block.rows[i]};
        line.live = position.live;
        forgetPartial(line, 0, column, columns);
        math.when(math.less(line.rows[0], rows), [&] { emitStore(root.store, line, {values[i]}); });
      }
    }
  });
}

/// A store whose rows would be scattered: its value, held unless it is cheap to compute by blocks, is written by
/// columns.
void Emitter::emitStoreAcross(Group &group, tile::StoreOp store) {
  Value value = store.getValue();
  SmallVector<Value> heavy;
  collectRegisterBlocked(value, [&](Value other) { return held.count(other) != 0; }, heavy);
  if (!heavy.empty())
    hold(group, value);
  emitGroup(group);
  flush();
  Group across;
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  across.shape.assign(shape.begin(), shape.end());
  across.roots.push_back({store, nullptr, {}});
  prepare(across);
  Ix columns = across.limits[0], rows = across.limits[1], last = math.constant(narrow - 1);
  overBlocks(across, [&](Ix column, Ix row, const Position &position) {
    Position from = position;
    from.rows = sideOfBlock(row, rows);
    from.column = column;
    from.width = narrow;
    forgetPartial(from, 0, column, columns);
    Rows lines;
    for (llvm::Value *line : pull(value, from))
      lines.push_back(toMemory(line, narrow));
    lines = transpose(lines);
    for (unsigned i = 0; i < narrow; ++i) {
      Position to = position;
      to.lanes = 1;
      to.column = row;
      to.width = narrow;
      to.end = math.alwaysLess(math.add(row, last), rows) ? nullptr : rows;
      to.rows = {math.add(column, math.constant(i))};
      math.when(math.alwaysLess(to.rows[0], columns) ? nullptr : math.less(to.rows[0], columns),
                [&] { emitStore(store, to, {lines[i]}); });
    }
  });
}

} // namespace tilewright::host
