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

  /// Runs over columns [from, to): vectors of `widest`, narrow ones, then the rest masked or one by one. Up to
  /// `wholeTo` `position`'s facts about columns hold.
  void run(Ix from, Ix to, Ix wholeTo, unsigned widest, const Position &position,
           llvm::function_ref<void(const Position &)> body);

  /// How many coordinates along `axis` all loads that `value` is computed from have inside of their bounds, at most
  /// `size`; `facts` get what that says, each once.
  Ix liveSize(mlir::Value value, unsigned axis, Ix size, llvm::SmallVectorImpl<Position::Live> &facts);

  /// `size`, or where the keys end, if those are along `axis` of `value`.
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
