// SPDX-License-Identifier: Apache-2.0
// Which elementwise values of a block are computed in several of its loops, and are dear enough to be computed once.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "llvm/ADT/SmallBitVector.h"

namespace tilewright::host {

/// One sweep over the block finds the loops that each value is computed in.
class SharedValues {
public:
  explicit SharedValues(mlir::Block &block);

  /// Whether `value` is an elementwise value that costs more than a store and a load, and is the last one that several
  /// loops share.
  bool isSharedAndCostly(mlir::Value value) const;

private:
  llvm::SmallBitVector consumersOf(mlir::Value value);
  unsigned numberOf(const void *consumer);

  mlir::Block &block;
  llvm::DenseMap<const void *, unsigned> numbers; // of consumers
  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> consumers;
};

} // namespace tilewright::host
