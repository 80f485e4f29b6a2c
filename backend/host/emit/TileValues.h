// SPDX-License-Identifier: Apache-2.0
// The values of tiles at a position: from memory if they are buffered, as emitted before if they are still in
// registers, computed by whatever the tile's operation does otherwise.
//
//   tileOf(mulf %a, %b) at (rows 0..5, columns 64..127)
//     -> tileOf(%a) there: a load            6 vector loads
//     -> tileOf(%b) there: a broadcast       tileOf(%row) at row 0, repeated
//     -> 6 multiplications
//
// Where all lanes hold the same element it is computed once, as a scalar.
#pragma once

#include "backend/host/emit/TileMemory.h"

#include "llvm/ADT/DenseSet.h"

#include <functional>
#include <map>

namespace tilewright::host {

class TileValues {
public:
  TileValues(KernelFunction &function, TileMemory &memory);

  /// One register tile of `value`.
  Rows tileOf(mlir::Value value, const Position &position);
  /// Emits a value that is neither buffered nor remembered. Set by the KernelEmitter.
  std::function<Rows(mlir::Value, const Position &)> compute;
  /// The same for values whose register tile is computed into memory (by the matrix unit); nullopt for others.
  std::function<std::optional<TileInMemory>(mlir::Value, const Position &)> computeInMemory;

  /// Lets tileOf return `rows` for `value` at `position`, until the scope closes in which they were computed.
  void remember(mlir::Value value, const Position &position, const Rows &rows);

  /// Whether all lanes at `position` hold the same element.
  bool isUniform(mlir::Value value, const Position &position);
  /// `position` for a value that is uniform there: lane 0 of column 0.
  Position uniformAt(const Position &position);
  /// Computes the values below `value` that are equal in all lanes of a row, and remembers them. Called before the loop
  /// over the row's columns.
  void computeUniform(mlir::Value value, const Position &position, llvm::DenseSet<mlir::Value> &seen);

  /// From here on `value` is read from memory.
  void setMemory(mlir::Value value, TileInMemory tile);
  void dropMemory(mlir::Value value);
  /// Null if it is not in memory.
  const TileInMemory *memoryOf(mlir::Value value) const;

private:
  using PositionKey = std::vector<const void *>;
  static PositionKey keyOf(mlir::Value value, const Position &position);
  bool findUniform(mlir::Value value, const Position &position);
  bool areLanesLive(mlir::ValueRange offsets, mlir::AffineMap bounds, const Position &position);

  KernelFunction &function;
  TileMemory &memory;
  IndexMath &math;
  llvm::DenseMap<mlir::Value, TileInMemory> tiles;

  // Values at a position, forgotten when the scope closes in which they were computed.
  std::map<PositionKey, Rows> known;
  llvm::SmallVector<llvm::SmallVector<PositionKey>> knownAtDepth;

  // Results of isUniform, by the parts of a position that it reads. They also depend on which values are in memory, so
  // setMemory and dropMemory clear them.
  std::map<PositionKey, llvm::DenseMap<mlir::Value, bool>> uniform;
};

} // namespace tilewright::host
