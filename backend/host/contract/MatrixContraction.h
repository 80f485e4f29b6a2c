// SPDX-License-Identifier: Apache-2.0
// tile.dot of bytes on the processor's matrix unit, AMX: eight tile registers of 16 rows of 64 bytes.
//
//                           B: 16 x 4 k of 16 columns, as panels have them
//                           t6             t7
//   A: 16 rows of 64 k  t4  t0: 16 x 16    t1: 16 x 16       sums of 32 bits, t[row * columns + column] of at most
//                       t5  t2             t3                four; t4 and t5 are as many as there are rows of tiles
//
// Intel SDM, "Intel AMX Instruction Set Reference": LDTILECFG gives every tile its rows and bytes of a row.
#pragma once

#include "backend/host/contract/PanelStream.h"
#include "backend/host/plan/DotOperands.h"

namespace tilewright::host {

class MatrixContraction {
public:
  MatrixContraction(KernelFunction &function, TileMemory &tileMemory, TileValues &values, Addresses &addresses,
                    Memory &memory, const KernelPlan &plan)
      : function(function), tileMemory(tileMemory), values(values), addresses(addresses), memory(memory), plan(plan),
        ir(function.ir), math(function.math) {}

  /// If the schedule uses the unit: `configure` sets the sizes of tiles at the start of the kernel, and `release` frees
  /// the unit at its end. `configure` calls KernelFunction::fail if the schedule, which may have been edited, asks for
  /// something that the unit or the target cannot do.
  void configure(tile::KernelOp kernel);
  void release();

  bool canEmit(tile::DotOp op, const Position &position) const;
  /// The sums, which the unit stores on the stack.
  TileInMemory emit(tile::DotOp op, const Position &position);

private:
  llvm::Value *stackOf(int64_t bytes);
  struct Grid; // of tiles
  Grid gridOf(const Position &position) const;
  void writeSizes(llvm::Value *sizes, const Grid &grid, Ix rows);
  void startSums(tile::DotOp op, const Position &position, const Grid &grid, llvm::Value *sums);
  void addStep(tile::DotOp op, const Position &left, const Position &right, const Grid &grid, Ix rowBytes);
  llvm::Value *leftAddress(tile::DotOp op, const Position &position, unsigned row);
  Ix leftRowBytes(tile::DotOp op, const Position &position);
  void onTile(llvm::Intrinsic::ID id, unsigned tile, llvm::ArrayRef<llvm::Value *> operands);

  KernelFunction &function;
  TileMemory &tileMemory;
  TileValues &values;
  Addresses &addresses;
  Memory &memory;
  const KernelPlan &plan;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
  llvm::Value *wholeSizes = nullptr; // of the schedule's register tile; loaded except while `emit` uses others
};

} // namespace tilewright::host
