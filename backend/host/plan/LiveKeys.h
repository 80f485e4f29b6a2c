// SPDX-License-Identifier: Apache-2.0
// Where an attention's tiles of keys end.
//
//   %x = arith.select (coordinate(%n - keys) < 0), %logits, -inf      beyond the last key there is nothing
//   %m = tile.reduce <max> %x
//   %w = exp(%x - ...)                                                0 there
//   %s = tile.reduce <sum> %w,  tile.dot %w, %values
//
// Nothing depends on what stands beyond the last key, so everything between the scores and the mix ends there: loops
// over keys are as long as there are keys, and the selection is not computed. That the weights are 0 there is known of
// the text of this root (tilegen/roots/Attention.cpp), not derived.
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

  /// The axis of `value` along which the keys are, counted from the innermost; nothing if it has none that ends.
  std::optional<unsigned> axisOf(mlir::Value value) const;
  /// An index: the first key of the tile minus the number of keys.
  mlir::Value firstLessCount() const { return offset; }
  /// Whether `op` is the selection of the keys that there are.
  bool isMask(mlir::Operation *op) const { return op == mask; }

private:
  bool add(mlir::Value value, unsigned axis);
  bool follow(mlir::Value value);

  mlir::Operation *mask = nullptr;
  mlir::Value offset;
  llvm::DenseMap<mlir::Value, unsigned> axes;
};

} // namespace tilewright::host
