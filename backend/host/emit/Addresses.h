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

/// What a load and a store have in common.
struct Reference {
  llvm::Value *base;
  tile::BufferType type;
  mlir::ValueRange offsets;
  mlir::AffineMap bounds, map;
  llvm::SmallVector<int64_t> guard = {}; // buffer dimensions that the map may leave
  llvm::SmallVector<Rows> indices = {};  // index tiles, at the position
  int64_t panel = 0;                     // of a packed constant: columns are padded with zeros to a multiple of this
};

/// The elements of one row, with the conditions under which they are there.
struct Access {
  llvm::Value *pointer = nullptr; // of lane 0
  Ix stride = nullptr;
  llvm::Value *delta = nullptr;     // all lanes' offsets, when they are not stride * lane
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
  /// The condition and mask of an access that its bounds alone give.
  Access withinBounds(const Reference &reference, const Position &position, unsigned row);
  /// Offsets of all lanes from the access' pointer, as a vector; null if all are 0.
  llvm::Value *offsetsOf(const Access &access, unsigned width);

  /// Conditions under which `load` reads its buffer at all: those of its guards that are the same for every element at
  /// `position`, as far as they are known before the loops inside `scope` begin.
  llvm::SmallVector<llvm::Value *> commonGuards(tile::LoadOp load, const Position &position, mlir::Operation *scope);
  /// For each guarded dimension of `load` along which a row's elements lie in even steps: the condition under which the
  /// first `columns` of the row at `position`, which has one, are all inside of the buffer.
  llvm::SmallVector<std::pair<GuardedDim, llvm::Value *>> guardsOfRow(tile::LoadOp load, const Position &position,
                                                                      int64_t columns);
  /// Emits the body for where all `guards` hold; they are not tested again inside.
  void whereInside(llvm::ArrayRef<llvm::Value *> guards, llvm::function_ref<void()> body);
  /// Runs `body` while guards of `dims` are known to hold too.
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
  llvm::DenseSet<GuardedDim> certain; // guards that hold in what is emitted now
};

} // namespace tilewright::host
