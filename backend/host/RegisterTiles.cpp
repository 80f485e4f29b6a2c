// How register tiles of what is contracted or reduced cover the rows and columns of a tile, and the epilogue that
// follows each.
//
//   rows known:      first | whole ... whole | last                     for columns by 64
//   rows not known:  whole ... whole | halves
//   of an image whose size is not known (Interior.cpp):   border rows | whole ... whole | halves | border rows
#include "backend/host/Elementwise.h"
#include "backend/host/Emitter.h"
#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/SharedValues.h"

using namespace mlir;

namespace tilewright::host {

/// Register tiles of the heavy values: whole ones, then narrower ones for what is left of the columns.
void Emitter::emitHeavy(const Group &group) {
  Ix columnLimit = group.limits[0];
  int64_t columns = group.shape.back();
  unsigned width = columns == 1 ? 1 : std::min<int64_t>(registerColumns, llvm::alignTo(columns, narrow));
  auto tiles = [&](Ix from, Ix to, unsigned width) {
    math.loop(from, to, width, [&](Ix column) {
      emitColumns(group, column, math.min(math.add(column, math.constant(width)), columnLimit), width);
    });
  };
  // A last tile of few columns takes one vector, or half of one; one of more runs as whole tiles do, for all of a
  // panel's lines are fetched anyway.
  Ix whole = math.roundDown(columnLimit, width), rest = math.sub(columnLimit, whole);
  tiles(math.constant(0), whole, width);
  if (width > narrow / 2 && math.alwaysLess(rest, math.constant(narrow / 2 + 1)))
    return tiles(whole, columnLimit, narrow / 2);
  if (width <= narrow)
    return tiles(whole, columnLimit, width);
  llvm::Value *isLong = math.less(math.constant(narrow), rest);
  math.when(isLong, [&] { tiles(whole, columnLimit, width); });
  math.when(math.negate(isLong), [&] { tiles(whole, columnLimit, narrow); });
}

/// One column of register tiles, of all rows.
void Emitter::emitColumns(const Group &group, Ix column, Ix columnEnd, unsigned width) {
  Ix rowLimit = group.limits[1], zero = math.constant(0);
  int64_t rows = group.shape.size() > 1 ? group.shape[group.shape.size() - 2] : 1,
          count = std::min<int64_t>(registerRows, rows);
  // Rows beyond `end` are computed from the one before it: nobody stores them.
  auto ragged = [&](Ix row, int64_t count, Ix end) {
    SmallVector<Ix> together;
    for (int64_t i = 0; i < count; ++i)
      together.push_back(math.min(math.add(row, math.constant(i)), math.sub(end, math.constant(1))));
    emitRegisters(group, together, math.min(math.add(row, math.constant(count)), end), column, columnEnd, width);
  };
  auto whole = [&](Ix row) {
    SmallVector<Ix> together;
    for (int64_t i = 0; i < count; ++i)
      together.push_back(math.add(row, math.constant(i)));
    emitRegisters(group, together, math.add(row, math.constant(count)), column, columnEnd, width);
  };
  // As many whole register tiles as there are; what is left, in one of as many rows or of half as many, so that it
  // reads the columns once.
  auto tiles = [&](Ix from, Ix to) {
    if (count == 1)
      return math.loop(from, to, 1, whole);
    int64_t half = (count + 1) / 2;
    Ix end = math.add(from, math.roundDown(math.sub(to, from), count));
    math.loop(from, end, count, whole);
    llvm::Value *isLong = math.less(math.constant(half), math.sub(to, end));
    math.when(isLong, [&] { math.loop(end, to, count, [&](Ix row) { ragged(row, count, to); }); });
    math.when(math.negate(isLong), [&] { math.loop(end, to, half, [&](Ix row) { ragged(row, half, to); }); });
  };
  bool isKnown = rowLimit == math.constant(rows);
  SmallVector<tile::LoadOp> guarded;
  for (Value value : group.heavy)
    collectGuarded(value, [&](Value other) { return held.count(other) != 0; }, guarded);
  if (isKnown && (guarded.empty() || rows <= count))
    return math.loop(zero, rowLimit, count, [&](Ix row) { ragged(row, count, rowLimit); });
  // Where a window may leave the image, the first and last register tile of a row are straight code, in which most
  // guards are decided; and so they are between, where none is needed.
  if (isKnown) {
    int64_t last = rows - (rows % count ? rows % count : count);
    math.once([&] { ragged(zero, count, rowLimit); });
    math.loop(math.constant(count), math.constant(last), count, [&](Ix row) { ragged(row, count, rowLimit); });
    return math.once([&] { ragged(math.constant(last), rows - last, rowLimit); });
  }
  Interior interior = guarded.empty() ? Interior() : interiorOf(group);
  if (!interior.first)
    return tiles(zero, rowLimit);
  std::swap(certain, interior.guards);
  math.once([&] { tiles(interior.first, interior.end); });
  std::swap(certain, interior.guards);
  Ix inside = math.sub(interior.end, interior.first);
  math.loop(zero, math.sub(rowLimit, inside), 1, [&](Ix border) {
    Ix row = math.choose(math.less(border, interior.first), border, math.add(border, inside));
    ragged(row, 1, rowLimit);
  });
}

/// One register tile of the heavy values, followed by the roots that use it, row by row.
void Emitter::emitRegisters(const Group &group, ArrayRef<Ix> rows, Ix rowEnd, Ix column, Ix columnEnd, unsigned width) {
  ArrayRef<Value> heavy = group.heavy;
  Position block = group.position;
  block.rows.assign(rows.begin(), rows.end());
  block.column = column;
  block.width = width;
  if (columnEnd != math.add(column, math.constant(width)))
    llvm::erase_if(block.live, [](const Position::Live &fact) { return fact.axis == 0; });
  if (group.roots.size() == 1 && group.roots.front().value == heavy.front())
    return storeHeld(group.roots.front().target, pull(heavy.front(), block), block);
  for (Value value : heavy)
    setHeld(value, holdRegisters(pull(value, block), column, rows.front(), width));
  math.loop(rows.front(), rowEnd, 1, [&](Ix one) {
    Position line = group.position;
    line.rows = {one};
    emitRows(group, line, column, columnEnd);
  });
  for (Value value : heavy)
    dropHeld(value);
}

/// A register tile, on the stack: what follows runs over it row by row, which keeps the code of an epilogue small.
Held Emitter::holdRegisters(const Rows &registers, Ix column, Ix row, unsigned width) {
  unsigned count = registers.size(),
           stride = width == 1 ? 1 : std::max(width, narrow); // rows may be read by whole vectors
  llvm::Type *memory = vectorOf(toMemory(registers.front(), width)->getType()->getScalarType(), stride);
  Held scratch;
  scratch.base = slot(llvm::ArrayType::get(memory, count));
  math.define(scratch.base, {}, 0);
  scratch.shape = {count, stride};
  scratch.rowStride = stride;
  scratch.origin = {column, row};
  for (unsigned i = 0; i < count; ++i)
    ir.CreateAlignedStore(toMemory(registers[i], width), math.pointer(memory, scratch.base, math.constant(i)),
                          llvm::Align(memory->getScalarSizeInBits() / 8));
  return scratch;
}

} // namespace tilewright::host
