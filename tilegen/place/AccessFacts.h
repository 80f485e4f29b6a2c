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

/// A load or store, as what both have: the tile's type, offsets, bounds, map and the buffer.
struct Access {
  mlir::Operation *op;
  mlir::RankedTensorType tile;
  mlir::TypedValue<BufferType> buffer;
  mlir::ValueRange offsets, indices;
  mlir::AffineMap bounds, map;
  llvm::ArrayRef<int64_t> guard;

  /// `op` is a tile.load or tile.store.
  static Access of(mlir::Operation *op);
};

/// Facts for the dimensions of an access's map if it is done `vector` elements at a time along `dim`.
llvm::SmallVector<Facts> dimensionFacts(const Access &access, unsigned dim, int64_t vector);
/// A set of the kernel's symbols, by bits: those that are supposed to be multiples of every vector width.
using SymbolSet = uint64_t;
constexpr SymbolSet allSymbols = ~SymbolSet(0);
/// Facts about the kernel's run-time sizes.
llvm::SmallVector<Facts> symbolFacts(KernelOp kernel, SymbolSet aligned = 0);

/// Facts about the element address of an access.
Facts addressFacts(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned = 0);

/// The most elements along `dim` that one access can move: a power of two, at most `limit`. Each has the address after
/// the one before, and the first an aligned one. Who supposes symbols to be aligned must check it when running.
int64_t vectorWidth(const Access &access, unsigned dim, int64_t limit, SymbolSet aligned = 0);
/// Does the address move by 1 along `dim`, aligned or not?
bool isContiguous(const Access &access, unsigned dim);

/// Are `vector` neighbours along `dim` all live or all dead?
bool isLiveTogether(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned = 0);
/// Is every element of the tile live in dimension `dim`?
bool isAlwaysLive(const Access &access, unsigned dim);
/// Is the guarded buffer dimension `coordinate` never left?
bool isAlwaysInside(const Access &access, unsigned coordinate);

/// Does every element along `dim` of this tile equal its neighbours?
bool isUniform(mlir::Value tile, unsigned dim);

} // namespace tilewright::tile
