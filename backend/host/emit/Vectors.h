// SPDX-License-Identifier: Apache-2.0
// Small pieces of vector code: lane numbers and masks, elements in memory and in registers, transposed blocks.
#pragma once

#include "backend/host/emit/Position.h"

namespace tilewright::host {

using Rows = llvm::SmallVector<llvm::Value *, 8>; // one vector, or scalar, for each row of a position

/// 0, 1, 2, ... as a vector.
llvm::Value *laneNumbers(llvm::Type *type, unsigned width);

/// Repeats a single row, and scalars along the lanes.
Rows splat(llvm::IRBuilder<> &ir, const Rows &scalars, unsigned rows, unsigned width);

/// A mask of the lanes below `count`.
llvm::Value *lanesBelow(llvm::IRBuilder<> &ir, IndexMath &math, Ix count, unsigned width);

/// A mask of the lanes before `position.end`.
llvm::Value *columnsBeforeEnd(llvm::IRBuilder<> &ir, IndexMath &math, const Position &position);

/// The type of an element in memory: bool is a byte; half types travel as 16-bit integers, for which masked accesses
/// exist.
llvm::Type *memoryType(llvm::Type *element);
llvm::Value *fromMemory(llvm::IRBuilder<> &ir, llvm::Value *value, llvm::Type *element, unsigned width);
llvm::Value *toMemory(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned width);
llvm::Align alignOf(llvm::Type *element);

/// `value` converted to `element` if it is floating point; else `value`.
llvm::Value *convertIfFloat(llvm::IRBuilder<> &ir, llvm::Value *value, llvm::Type *element, unsigned width);

/// The transpose of a square block: as many rows as each has elements.
Rows transpose(llvm::IRBuilder<> &ir, Rows rows);

} // namespace tilewright::host
