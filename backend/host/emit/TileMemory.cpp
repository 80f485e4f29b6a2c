// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/TileMemory.h"

#include "backend/host/Elementwise.h"

using namespace mlir;

namespace tilewright::host {

TileInMemory TileMemory::inWorkspace(const Buffer &buffer) {
  return {math.pointer(ir.getInt8Ty(), function.workspace(), math.constant(static_cast<int64_t>(buffer.offset))),
          buffer};
}

TileInMemory TileMemory::onStack(const Rows &registers, Ix column, Ix row, unsigned width) {
  unsigned count = registers.size(), // rows may be read by whole vectors
      stride = width == 1 ? 1 : std::max(width, function.vectors.narrow);
  llvm::Type *memory = vectorOf(toMemory(ir, registers.front(), width)->getType()->getScalarType(), stride);
  TileInMemory result;
  result.base = function.slot(llvm::ArrayType::get(memory, count));
  math.define(result.base, {}, 0);
  result.layout.shape = {count, stride};
  result.layout.rowStride = stride;
  result.origin = {column, row};
  // Addressed by elements: LLVM pads the elements of an array of vectors, such as those of 48 lanes.
  llvm::Type *element = memory->getScalarType();
  for (unsigned i = 0; i < count; ++i)
    ir.CreateAlignedStore(toMemory(ir, registers[i], width),
                          math.pointer(element, result.base, math.constant(static_cast<int64_t>(i) * stride)),
                          llvm::Align(memory->getScalarSizeInBits() / 8));
  return result;
}

llvm::Value *TileMemory::address(const TileInMemory &tile, const Position &position, unsigned row,
                                 llvm::Type *element) {
  const Buffer &layout = tile.layout;
  unsigned axes = layout.shape.size();
  auto coordinate = [&](unsigned axis) {
    Ix place = position.at(axis, row);
    return axis < tile.origin.size() ? math.sub(place, tile.origin[axis]) : place;
  };
  SmallVector<Ix> terms;
  Ix column = coordinate(0);
  int64_t stride = layout.rowStride;
  if (layout.panel) {
    Ix panel = math.constant(layout.panel);
    int64_t rows = axes > 1 ? layout.shape[axes - 2] : 1;
    terms = {math.mul(math.floorDiv(column, panel), math.constant(rows * layout.panel)), math.mod(column, panel)};
    stride = layout.panel;
  } else {
    terms = {column};
  }
  for (unsigned axis = 1; axis < axes; ++axis) {
    terms.push_back(math.mul(coordinate(axis), math.constant(stride)));
    stride = axis == 1 ? layout.shape[axes - 2] * layout.rowStride : stride * layout.shape[axes - 1 - axis];
  }
  llvm::Value *pointer = tile.base;
  for (Ix term : math.outermostFirst(terms))
    pointer = math.pointer(element, pointer, term);
  return pointer;
}

Rows TileMemory::load(const TileInMemory &tile, Value value, const Position &position) {
  llvm::Type *element = tile.layout.asFloat ? ir.getFloatTy() : function.typeOf(value), *memory = memoryType(element);
  Rows rows;
  for (unsigned row = 0; row < position.rows.size(); ++row) {
    llvm::Value *pointer = address(tile, position, row, memory);
    rows.push_back(fromMemory(ir, ir.CreateAlignedLoad(vectorOf(memory, position.width), pointer, alignOf(memory)),
                              element, position.width));
  }
  return rows;
}

void TileMemory::store(const TileInMemory &tile, const Rows &rows, const Position &position) {
  for (unsigned row = 0; row < rows.size(); ++row) {
    llvm::Value *value = tile.layout.asFloat ? convertFloat(ir, rows[row], ir.getFloatTy(), position.width) : rows[row];
    value = toMemory(ir, value, position.width);
    llvm::Type *memory = value->getType()->getScalarType();
    llvm::Value *pointer = address(tile, position, row, memory);
    if (position.run && position.run < position.width)
      ir.CreateMaskedStore(value, pointer, alignOf(memory),
                           lanesBelow(ir, math, math.constant(position.run), position.width));
    else
      ir.CreateAlignedStore(value, pointer, alignOf(memory));
  }
}

} // namespace tilewright::host
