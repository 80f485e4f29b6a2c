// SPDX-License-Identifier: Apache-2.0
// tile.dot of one register tile: rows x columns of accumulators. For each k, one vector of the right side is multiplied
// with one broadcast element of each row of the left side.
//
//             b[k, c..c+63]
//   a[r,   k]  acc acc acc acc
//   a[r+1, k]  acc acc acc acc
//   ...
#pragma once

#include "backend/host/contract/PanelStream.h"
#include "backend/host/loops/Columns.h"

namespace tilewright::host {

class Contraction {
public:
  Contraction(KernelFunction &function, TileValues &values, Addresses &addresses, Memory &memory, Columns &columns)
      : function(function), values(values), addresses(addresses), memory(memory), columns(columns), ir(function.ir),
        math(function.math) {}

  Rows emit(tile::DotOp op, const Position &position);

private:
  /// The positions of both sides at one k.
  struct Sides {
    Position left, right;
  };
  struct Step; // what is the same for every k
  Sides sidesAt(const Step &step, Ix k);
  void multiplyAdd(const Step &step, Ix k);
  void addProducts(const Step &step, const Rows &a, const Position &right);
  void multiplyAll(const Step &step, Ix size);
  void multiplyComputed(const Step &step, Ix size);
  void runTaps(const Step &step, int64_t taps);
  void multiplyWindow(const Step &step, Ix size, int64_t together);
  void multiplyBorder(const Step &step, Ix size, int64_t together);
  llvm::Value *widen(llvm::Value *value, llvm::Type *element, unsigned lanes, bool isUnsigned);

  KernelFunction &function;
  TileValues &values;
  Addresses &addresses;
  Memory &memory;
  Columns &columns;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
