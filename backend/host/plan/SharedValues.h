// SPDX-License-Identifier: Apache-2.0
// Which elementwise values of a block are needed in several of its loops and cost enough to be computed once, into a
// buffer.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "llvm/ADT/SmallBitVector.h"

namespace tilewright::host {

/// One backward sweep over the block finds the loops that need each value.
class SharedValues {
public:
  explicit SharedValues(mlir::Block &block);

  /// Whether `value` is an elementwise value that costs more than a store and a load, and none of the elementwise
  /// values computed from it is needed in as many loops (that one is buffered instead).
  bool isSharedAndCostly(mlir::Value value) const;

private:
  llvm::SmallBitVector consumersOf(mlir::Value value);
  unsigned numberOf(const void *consumer);

  mlir::Block &block;
  llvm::DenseMap<const void *, unsigned> numbers; // of consumers
  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> consumers;
};

} // namespace tilewright::host
