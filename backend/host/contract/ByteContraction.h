// SPDX-License-Identifier: Apache-2.0
// tile.dot of bytes, summed by fours into 32 bits.
//
//     panel: for each four k, one word a column        a row: four bytes along k, the same word in all lanes
//     sum[column] += a0 b0 + a1 b1 + a2 b2 + a3 b3     vpdpbusd, or two vpmaddwd of bytes widened to 16 bits, exact too
//
// The constant operand is padded with zeros, so elements of a row beyond its last k do not change the sums.
#pragma once

#include "backend/host/contract/PanelStream.h"
#include "backend/host/loops/Columns.h"
#include "backend/host/plan/DotOperands.h"

namespace tilewright::host {

class ByteContraction {
public:
  ByteContraction(KernelFunction &function, TileMemory &tileMemory, TileValues &values, Memory &memory,
                  Columns &columns, const DotSchedule &schedule)
      : function(function), tileMemory(tileMemory), values(values), memory(memory), columns(columns),
        schedule(schedule), ir(function.ir), math(function.math) {}

  /// Whether the right side is packed for this, the tile begins at a multiple of four k, and each four k of the left
  /// side are contiguous, in its buffer or in the workspace.
  bool canEmit(tile::DotOp op);
  Rows emit(tile::DotOp op, const Position &position);

private:
  /// How the columns of a register tile are cut into vectors of the machine.
  struct Pieces;
  using Sums = llvm::SmallVector<llvm::Value *>; // by piece
  llvm::SmallVector<Sums> startSums(tile::DotOp op, const Position &position, const Pieces &pieces);
  void addStep(tile::DotOp op, const Position &left, const Position &right, const Pieces &pieces,
               llvm::ArrayRef<Sums> sums);
  Sums loadColumns(tile::LoadOp panels, const Position &position, const Pieces &pieces);
  llvm::Value *join(const Pieces &pieces, llvm::ArrayRef<llvm::Value *> sums);

  llvm::Value *slice(const Pieces &pieces, llvm::Value *value, unsigned piece);
  llvm::Value *insertLanes(llvm::Value *row, llvm::Value *part, unsigned first, llvm::Type *whole);
  llvm::Value *addProducts(llvm::Value *sum, llvm::Value *a, llvm::Value *b, bool aUnsigned, bool bUnsigned);

  KernelFunction &function;
  TileMemory &tileMemory;
  TileValues &values;
  Memory &memory;
  Columns &columns;
  const DotSchedule &schedule;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
