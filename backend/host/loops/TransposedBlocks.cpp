// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/TransposedBlocks.h"

using namespace mlir;

namespace tilewright::host {

/// Emits loops that call body(column, row, position) for the first column and row of each square block of `nest`.
void TransposedBlocks::overBlocks(const OpenNest &nest, llvm::function_ref<void(Ix, Ix, const Position &)> body) {
  Position position = nest.position;
  std::function<void(unsigned)> open = [&](unsigned axis) {
    if (axis > 1)
      return math.loop(math.constant(0), nest.limits[axis], 1, [&](Ix coordinate) {
        position.outerAt(axis) = coordinate;
        open(axis - 1);
      });
    math.loop(math.constant(0), nest.limits[0], side, [&](Ix column) {
      math.loop(math.constant(0), nest.limits[1], side, [&](Ix row) { body(column, row, position); });
    });
  };
  open(nest.limits.size() - 1);
}

/// `first` and its neighbours, as many as a block has.
SmallVector<Ix, 8> TransposedBlocks::wholeSide(Ix first) {
  SmallVector<Ix, 8> result;
  for (unsigned i = 0; i < side; ++i)
    result.push_back(math.add(first, math.constant(i)));
  return result;
}

/// The same, but coordinates from `limit` on are replaced by the last one before it.
SmallVector<Ix, 8> TransposedBlocks::clampedSide(Ix first, Ix limit) {
  SmallVector<Ix, 8> result;
  for (unsigned i = 0; i < side; ++i)
    result.push_back(math.min(math.add(first, math.constant(i)), math.sub(limit, math.constant(1))));
  return result;
}

bool TransposedBlocks::isWhole(Ix first, Ix limit) {
  return math.alwaysLess(math.add(first, math.constant(side - 1)), limit);
}

/// Drops the facts about `axis` unless the whole block is below `limit`.
void TransposedBlocks::forgetPartial(Position &position, unsigned axis, Ix first, Ix limit) {
  if (!isWhole(first, limit))
    position.forgetLive(axis);
}

/// The block of `value` whose first element is at (row, column), read by columns and transposed. Columns from `columns`
/// on repeat the last one.
Rows TransposedBlocks::blockByColumns(Value value, const Position &position, Ix column, Ix row, Ix columns) {
  Position from = position;
  from.laneAxis = 1;
  from.column = row;
  from.width = side;
  from.rows = clampedSide(column, columns);
  from.live.clear();
  Rows lines = values.tileOf(value, from);
  for (llvm::Value *&line : lines)
    line = toMemory(ir, line, side);
  lines = transpose(ir, lines);
  for (llvm::Value *&line : lines)
    line = fromMemory(ir, line, function.typeOf(value), side);
  return lines;
}

/// If the tile's rows are no multiple of a block's, the last block begins earlier, and some rows are written twice.
void TransposedBlocks::fillBuffer(const OpenNest &nest) {
  ArrayRef<int64_t> shape = nest.plan->shape;
  Value value = nest.plan->roots.front().value;
  Ix lastBlock = math.constant(shape[shape.size() - 2] - side);
  overBlocks(nest, [&](Ix column, Ix row, const Position &position) {
    Position to = position;
    row = math.min(row, lastBlock);
    Rows lines = blockByColumns(value, position, column, row, nest.limits[0]);
    to.column = column;
    to.width = side;
    to.rows = wholeSide(row);
    tileMemory.store(nest.targets.front(), lines, to);
  });
}

void TransposedBlocks::storeFromColumns(const OpenNest &nest) {
  Ix columns = nest.limits[0], rows = nest.limits[1];
  overBlocks(nest, [&](Ix column, Ix row, const Position &position) {
    Position block = position;
    block.column = column;
    block.width = side;
    block.end = isWhole(column, columns) ? nullptr : columns;
    block.rows = wholeSide(row);
    forgetPartial(block, 0, column, columns);
    forgetPartial(block, 1, row, rows);
    for (Value load : nest.plan->transposedLoads)
      values.remember(load, block, blockByColumns(load, position, column, row, columns));
    for (Nest::Root root : nest.plan->roots) {
      Rows lines = values.tileOf(root.store.getValue(), block);
      for (unsigned i = 0; i < side; ++i) {
        Position line = block;
        line.rows = {block.rows[i]};
        line.live = position.live;
        forgetPartial(line, 0, column, columns);
        math.when(math.less(line.rows[0], rows), [&] { memory.store(root.store, line, {lines[i]}); });
      }
    }
  });
}

void TransposedBlocks::storeByColumns(const OpenNest &nest) {
  tile::StoreOp store = nest.plan->roots.front().store;
  Ix columns = nest.limits[0], rows = nest.limits[1];
  overBlocks(nest, [&](Ix column, Ix row, const Position &position) {
    Position from = position;
    from.rows = clampedSide(row, rows);
    from.column = column;
    from.width = side;
    forgetPartial(from, 0, column, columns);
    Rows lines;
    for (llvm::Value *line : values.tileOf(store.getValue(), from))
      lines.push_back(toMemory(ir, line, side));
    lines = transpose(ir, lines);
    for (unsigned i = 0; i < side; ++i) {
      Position to = position;
      to.laneAxis = 1;
      to.column = row;
      to.width = side;
      to.end = isWhole(row, rows) ? nullptr : rows;
      to.rows = {math.add(column, math.constant(i))};
      math.when(math.alwaysLess(to.rows[0], columns) ? nullptr : math.less(to.rows[0], columns),
                [&] { memory.store(store, to, {lines[i]}); });
    }
  });
}

} // namespace tilewright::host
