// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/RegisterBlocks.h"

#include "backend/host/plan/DotOperands.h"

using namespace mlir;

namespace tilewright::host {

// From this number of bytes on, weights are taken not to stay in a core's own caches until they are read again.
static constexpr int64_t farWeights = int64_t(1) << 20;

/// Whole register tiles first, then narrower ones for what is left of the columns.
void RegisterBlocks::emit(const OpenNest &nest) {
  unsigned narrow = function.vectors.narrow;
  Ix columnLimit = nest.limits[0];
  int64_t columns = nest.plan->shape.back();
  unsigned width = columns == 1 ? 1 : std::min<int64_t>(registerColumns, llvm::alignTo(columns, narrow));
  auto strips = [&](Ix from, Ix to, unsigned width) {
    math.loop(from, to, width, [&](Ix column) {
      emitStrip(nest, {column, math.min(math.add(column, math.constant(width)), columnLimit), width});
    });
  };
  // A last strip of few columns is computed by one vector, or half of one. A wider one runs at full width: all cache
  // lines of the panel are fetched anyway.
  Ix whole = math.roundDown(columnLimit, width), rest = math.sub(columnLimit, whole);
  strips(math.constant(0), whole, width);
  if (width > narrow / 2 && math.alwaysLess(rest, math.constant(narrow / 2 + 1)))
    return strips(whole, columnLimit, narrow / 2);
  if (width <= narrow)
    return strips(whole, columnLimit, width);
  llvm::Value *isLong = math.less(math.constant(narrow), rest);
  math.when(isLong, [&] { strips(whole, columnLimit, width); });
  math.when(math.negate(isLong), [&] { strips(whole, columnLimit, narrow); });
}

/// Emits one strip of columns: its register tiles of all rows.
void RegisterBlocks::emitStrip(const OpenNest &nest, const Strip &strip) {
  ArrayRef<int64_t> shape = nest.plan->shape;
  int64_t rows = shape.size() > 1 ? shape[shape.size() - 2] : 1, count = std::min<int64_t>(registerRows, rows);
  bool hasGuards = !nest.plan->guarded.empty();
  if (nest.limits[1] == math.constant(rows))
    return emitKnownRows(nest, strip, rows, count);
  InteriorRows interior = hasGuards ? interiorOf(nest, function) : InteriorRows();
  if (interior.first)
    emitImageRows(nest, strip, interior, count);
  else
    emitRowRange(nest, strip, math.constant(0), nest.limits[1], count);
}

/// If a window may leave the image, the first and the last register tile of rows are emitted as straight code, where
/// most guards are constants. The tiles between them run in a loop and need no guards.
void RegisterBlocks::emitKnownRows(const OpenNest &nest, const Strip &strip, int64_t rows, int64_t count) {
  Ix zero = math.constant(0), limit = nest.limits[1];
  if (nest.plan->guarded.empty() || rows <= count)
    return math.loop(zero, limit, count, [&](Ix row) { emitRagged(nest, strip, row, count, limit); });
  int64_t last = rows - (rows % count ? rows % count : count);
  math.once([&] { emitRagged(nest, strip, zero, count, limit); });
  math.loop(math.constant(count), math.constant(last), count,
            [&](Ix row) { emitRagged(nest, strip, row, count, limit); });
  math.once([&] { emitRagged(nest, strip, math.constant(last), rows - last, limit); });
}

/// The rows inside of the image without guards, then the border rows one by one.
void RegisterBlocks::emitImageRows(const OpenNest &nest, const Strip &strip, const InteriorRows &interior,
                                   int64_t count) {
  addresses.withoutGuards(interior.guards,
                          [&] { math.once([&] { emitRowRange(nest, strip, interior.first, interior.end, count); }); });
  Ix inside = math.sub(interior.end, interior.first);
  math.loop(math.constant(0), math.sub(nest.limits[1], inside), 1, [&](Ix border) {
    Ix row = math.choose(math.less(border, interior.first), border, math.add(border, inside));
    emitRagged(nest, strip, row, 1, nest.limits[1]);
  });
}

/// Whether a single row that is left over is computed together with the last whole register tile. That costs the code
/// of one more loop, and pays if the row alone would fetch weights again that are not in a near cache; the registers
/// must hold its sums too.
bool RegisterBlocks::takesOneMore(const OpenNest &nest, const Strip &strip, int64_t count) const {
  int64_t vectors = llvm::divideCeil(strip.width, function.vectors.narrow);
  bool fits = !usesMatrixUnit && (count + 2) * vectors <= function.vectors.registers();
  return fits && llvm::any_of(nest.plan->registerBlocked, [](Value value) {
           auto dot = value.getDefiningOp<tile::DotOp>();
           return dot && bytesOfPanels(dot) >= farWeights;
         });
}

/// As many whole register tiles as there are, then what is left.
void RegisterBlocks::emitRowRange(const OpenNest &nest, const Strip &strip, Ix from, Ix to, int64_t count) {
  if (count == 1)
    return math.loop(from, to, 1, [&](Ix row) { emitWhole(nest, strip, row, 1); });
  Ix rows = math.sub(to, from), end = math.add(from, math.roundDown(rows, count));
  if (!takesOneMore(nest, strip, count)) {
    math.loop(from, end, count, [&](Ix row) { emitWhole(nest, strip, row, count); });
    return emitRest(nest, strip, end, to, count);
  }
  Ix over = math.mod(rows, math.constant(count));
  llvm::Value *isOne = math.both(math.less(math.constant(0), over), math.less(over, math.constant(2))),
              *hasTaller = math.both(isOne, math.less(math.constant(count), rows));
  end = math.sub(end, math.choose(hasTaller, math.constant(count), math.constant(0)));
  math.loop(from, end, count, [&](Ix row) { emitWhole(nest, strip, row, count); });
  math.when(hasTaller, [&] { emitWhole(nest, strip, end, count + 1); });
  math.when(math.negate(hasTaller), [&] { emitRest(nest, strip, end, to, count); });
}

/// Emits the rest, fewer than `count` rows, as one register tile of count - 1 rows or of half of `count`, so that the
/// right side is read once and few rows are computed that do not exist.
void RegisterBlocks::emitRest(const OpenNest &nest, const Strip &strip, Ix from, Ix to, int64_t count) {
  int64_t half = (count + 1) / 2;
  auto rest = [&](int64_t rows) { math.loop(from, to, rows, [&](Ix row) { emitRagged(nest, strip, row, rows, to); }); };
  if (half == count - 1)
    return rest(half);
  llvm::Value *isLong = math.less(math.constant(half), math.sub(to, from));
  math.when(isLong, [&] { rest(count - 1); });
  math.when(math.negate(isLong), [&] { rest(half); });
}

void RegisterBlocks::emitWhole(const OpenNest &nest, const Strip &strip, Ix row, int64_t count) {
  SmallVector<Ix> together;
  for (int64_t i = 0; i < count; ++i)
    together.push_back(math.add(row, math.constant(i)));
  emitTile(nest, strip, together, math.add(row, math.constant(count)));
}

/// Rows from `end` on repeat the row before it, and are not stored.
void RegisterBlocks::emitRagged(const OpenNest &nest, const Strip &strip, Ix row, int64_t count, Ix end) {
  SmallVector<Ix> together;
  for (int64_t i = 0; i < count; ++i)
    together.push_back(math.min(math.add(row, math.constant(i)), math.sub(end, math.constant(1))));
  emitTile(nest, strip, together, math.min(math.add(row, math.constant(count)), end));
}

/// One register tile of the register-blocked values, followed by the roots that use it, row by row: that keeps the code
/// of an epilogue small.
void RegisterBlocks::emitTile(const OpenNest &nest, const Strip &strip, ArrayRef<Ix> rows, Ix rowEnd) {
  ArrayRef<Value> blocked = nest.plan->registerBlocked;
  Position block = nest.position;
  block.rows.assign(rows.begin(), rows.end());
  block.column = strip.column;
  block.width = strip.width;
  if (strip.end != math.add(strip.column, math.constant(strip.width)))
    block.forgetLive(0);
  if (nest.plan->roots.size() == 1 && nest.plan->roots.front().value == blocked.front())
    return memory.store(nest.targets.front(), values.tileOf(blocked.front(), block), block);
  for (Value value : blocked) {
    std::optional<TileInMemory> there = values.computeInMemory(value, block);
    values.setMemory(
        value, there ? *there : memory.onStack(values.tileOf(value, block), strip.column, rows.front(), strip.width));
  }
  math.loop(rows.front(), rowEnd, 1, [&](Ix one) {
    Position line = nest.position;
    line.rows = {one};
    nestRows.emit(nest, line, strip.column, strip.end, strip.width);
  });
  for (Value value : blocked)
    values.dropMemory(value);
}

} // namespace tilewright::host
