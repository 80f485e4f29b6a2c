// SPDX-License-Identifier: Apache-2.0
// Facts (tilegen/index/Facts.h) about the values of a kernel and about the addresses of its loads and stores.
//
// An access reads the address  linear(map(offset + t))  for each coordinate t of a tile. It may be done `vector`
// elements at a time along dimension d if the address moves by 1 with t[d] and starts at a multiple of `vector`.
#pragma once

#include "tilegen/index/Facts.h"
#include "tilegen/tile/Layout.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tile {

using index::Facts;

/// Facts about a value of type index (or an integer) in a kernel.
Facts factsOf(mlir::Value value);

/// What loads, stores and copies to shared memory have in common: the tile's type, offsets, bounds, map and the buffer.
struct Access {
  mlir::Operation *op;
  mlir::RankedTensorType tile;
  mlir::TypedValue<BufferType> buffer;
  mlir::ValueRange offsets, indices;
  mlir::AffineMap bounds, map;
  llvm::ArrayRef<int64_t> guard;

  /// Of a tile.load, tile.store or tile.shared_copy.
  static Access of(mlir::Operation *op);
};

/// Facts for the dimensions of an access's map (offsets, then index tiles) if it is done `vector` elements at a time
/// along `dim`.
llvm::SmallVector<Facts> dimensionFacts(const Access &access, unsigned dim, int64_t vector);
/// A set of the kernel's symbols, as bits: those that are assumed to be multiples of every vector width. Code that is
/// generated under such an assumption must check it when running.
using SymbolSet = uint64_t;
constexpr SymbolSet allSymbols = ~SymbolSet(0);
/// Facts about the kernel's run-time sizes.
llvm::SmallVector<Facts> symbolFacts(KernelOp kernel, SymbolSet aligned = 0);

/// Facts about the address of an access, in elements, for `vector` elements at a time along `dim`.
Facts addressFacts(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned = 0);

/// The most elements along `dim` that one instruction can move: a power of two, at most `limit`. Their addresses follow
/// each other, the first is a multiple of the width, and they are all inside of the buffer or all outside.
int64_t vectorWidth(const Access &access, unsigned dim, int64_t limit, SymbolSet aligned = 0);
/// Does the address move by 1 along `dim`, aligned or not?
bool isContiguous(const Access &access, unsigned dim);
/// Does it do so throughout each `length` neighbours that begin at a multiple of `length` in the tile?
bool hasRows(const Access &access, unsigned dim, int64_t length);

/// Are `vector` aligned neighbours along `dim` all live (below the access's bound) or all dead?
bool isLiveTogether(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned = 0);
/// Is every element of the tile live in dimension `dim`?
bool isAlwaysLive(const Access &access, unsigned dim);
/// Is result `coordinate` of the map always inside of that dimension of the buffer?
bool isAlwaysInside(const Access &access, unsigned coordinate);

/// Does every element along `dim` of this tile equal its neighbours?
bool isUniform(mlir::Value tile, unsigned dim);

} // namespace tilewright::tile
