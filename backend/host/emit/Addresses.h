// SPDX-License-Identifier: Apache-2.0
// Where in a buffer the elements of a register tile lie, and under which conditions they may be touched.
//
//   map of the load     (row, column) -> (row floordiv 28, row mod 28 + kx - 1, column)
//   address             base + 28 * c * (row floordiv 28) + c * (row mod 28 + kx - 1) + column
//   condition           row < rows (its bounds) and 0 <= row mod 28 + kx - 1 < 28 (its guard)
#pragma once

#include "backend/host/emit/LaneIndex.h"
#include "backend/host/emit/Vectors.h"

#include "llvm/ADT/DenseSet.h"

namespace tilewright::host {

/// The operands that loads and stores have in common.
struct Reference {
  llvm::Value *base;
  tile::BufferType type;
  mlir::ValueRange offsets;
  mlir::AffineMap bounds, map;
  llvm::SmallVector<int64_t> guard = {}; // buffer dimensions that the map may leave
  llvm::SmallVector<Rows> indices = {};  // index tiles, at the position
  int64_t panel = 0;                     // of a packed constant: columns are padded with zeros to a multiple of this
};

/// The addresses of the elements of one row, and the conditions under which they may be accessed.
struct Access {
  llvm::Value *pointer = nullptr; // of lane 0
  Ix stride = nullptr;
  llvm::Value *delta = nullptr;     // offsets of all lanes, if they are not stride * lane
  llvm::Value *condition = nullptr; // i1; null: always
  llvm::Value *mask = nullptr;      // vector of i1; null: all lanes

  void require(llvm::IRBuilder<> &ir, llvm::Value *lanes) { mask = mask ? ir.CreateAnd(mask, lanes) : lanes; }
  bool isUniform() const { return !stride && !delta; }
  bool isContiguous() const { return !delta && constantOf(stride) == 1; }
};

/// A load, and a dimension of its buffer that its map may leave.
using GuardedDim = std::pair<mlir::Operation *, int64_t>;

class Addresses {
public:
  explicit Addresses(KernelFunction &function)
      : function(function), lanes(function), ir(function.ir), math(function.math) {}

  Reference referenceTo(tile::LoadOp op) const;
  Reference referenceTo(tile::StoreOp op) const;

  /// The elements of row `row` of a register tile at `position`.
  Access access(const Reference &reference, const Position &position, unsigned row);
  /// An access with only the condition and mask that follow from the bounds, without a pointer.
  Access withinBounds(const Reference &reference, const Position &position, unsigned row);
  /// Offsets of all lanes from the access' pointer, as a vector; null if all are 0.
  llvm::Value *offsetsOf(const Access &access, unsigned width);

  /// The guards of `load` that are the same for all elements at `position`, as conditions; if one is false, only the
  /// fill is read. Only guards that can be computed before the loops inside `scope` begin.
  llvm::SmallVector<llvm::Value *> commonGuards(tile::LoadOp load, const Position &position, mlir::Operation *scope);
  /// For each guarded dimension of `load` in which the coordinates of a row's elements have a constant step: the
  /// condition that the first `columns` elements of the row are all inside of the buffer. `position` must have one row.
  llvm::SmallVector<std::pair<GuardedDim, llvm::Value *>> guardsOfRow(tile::LoadOp load, const Position &position,
                                                                      int64_t columns);
  /// Emits `body` under the condition that all `guards` hold; inside it does not test them again.
  void whereInside(llvm::ArrayRef<llvm::Value *> guards, llvm::function_ref<void()> body);
  /// Runs `body`, which emits code, with the guards of `dims` taken for true in addition to those that already are.
  void withoutGuards(llvm::DenseSet<GuardedDim> dims, llvm::function_ref<void()> body);

private:
  void addBounds(const Reference &reference, const Position &position, unsigned row, Access &result,
                 llvm::MutableArrayRef<LaneIndex> coordinates);
  void addGuard(const Reference &reference, unsigned dim, const LaneIndex &coordinate, unsigned width, Access &result);
  void setPointer(const Reference &reference, LaneIndex address, unsigned width, Access &result);
  LaneIndex coordinateOf(const Reference &reference, const Position &position, unsigned row, unsigned i);

  KernelFunction &function;
  LaneMath lanes;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
  llvm::DenseSet<GuardedDim> certain; // guards that are known to hold in the code that is emitted now
};

} // namespace tilewright::host
