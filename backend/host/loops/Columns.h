// SPDX-License-Identifier: Apache-2.0
// The loop over the columns of a row, by vectors: how far it goes, and what happens at the end.
//
//   0                                 wholeTo         to
//   | wide ... wide | narrow ... narrow | masked ...  |        no facts about bounds hold behind wholeTo
#pragma once

#include "backend/host/emit/TileValues.h"

namespace tilewright::host {

class Columns {
public:
  Columns(KernelFunction &function, TileValues &values, const LiveKeys &keys)
      : function(function), values(values), keys(keys), math(function.math) {}

  /// Runs over columns [from, to): vectors of `widest`, narrow ones, then the rest masked or one by one. The facts
  /// about columns in `position` hold for the columns below `wholeTo`, and are dropped for the others.
  void run(Ix from, Ix to, Ix wholeTo, unsigned widest, const Position &position,
           llvm::function_ref<void(const Position &)> body);

  /// How many coordinates along `axis`, at most `size`, are inside of the bounds of all loads that `value` is computed
  /// from. Each distinct bound is appended to `facts`.
  Ix liveSize(mlir::Value value, unsigned axis, Ix size, llvm::SmallVectorImpl<Position::Live> &facts);

  /// The number of keys (LiveKeys), if they are along `axis` of `value`; else `size`.
  Ix endOfKeys(mlir::Value value, unsigned axis, Ix size) {
    return keys.axisOf(value) == axis ? function.keysIn(keys, size) : size;
  }

private:
  std::optional<Position::Live> liveBelow(mlir::Value value, unsigned axis,
                                          llvm::SmallVectorImpl<mlir::Value> &operands);

  KernelFunction &function;
  TileValues &values;
  const LiveKeys &keys;
  IndexMath &math;
};

} // namespace tilewright::host
