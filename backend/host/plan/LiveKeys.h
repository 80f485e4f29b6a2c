// SPDX-License-Identifier: Apache-2.0
// Where an attention's tiles of keys end.
//
//   %x = arith.select (coordinate(%n - keys) < 0), %logits, -inf      beyond the last key there is nothing
//   %m = tile.reduce <max> %x
//   %w = exp(%x - ...)                                                0 there
//   %s = tile.reduce <sum> %w,  tile.dot %w, %values
//
// Nothing depends on elements beyond the last key. So for all tiles between the scores and the product with the values,
// loops over keys end with the last key, and the selection is not computed. That the weights are 0 beyond it is not
// derived here: tilegen/roots/Attention.cpp emits this text.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace tilewright::host {

class LiveKeys {
public:
  LiveKeys() = default;
  /// Empty unless the kernel is an attention whose last tile of keys may be partly beyond the last one.
  explicit LiveKeys(tile::KernelOp kernel);

  /// The axis of `value` along which the keys are, counted from the innermost; nullopt if no axis of it ends with the
  /// last key.
  std::optional<unsigned> axisOf(mlir::Value value) const;
  /// An index: the first key of the tile minus the number of keys.
  mlir::Value firstLessCount() const { return offset; }
  /// Whether `op` is the selection that masks what is beyond the last key.
  bool isMask(mlir::Operation *op) const { return op == mask; }

private:
  bool add(mlir::Value value, unsigned axis);
  bool follow(mlir::Value value);

  mlir::Operation *mask = nullptr;
  mlir::Value offset;
  llvm::DenseMap<mlir::Value, unsigned> axes;
};

} // namespace tilewright::host
