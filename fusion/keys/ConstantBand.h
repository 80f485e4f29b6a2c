// SPDX-License-Identifier: Apache-2.0
// The band of a constant matrix: the diagonals between which all elements lie that a predicate admits.
//
//   1 0 0 0
//   1 1 0 0      first -1, last 0, and all elements between are admitted: full
//   0 1 1 0
//   0 0 1 1
#pragma once

#include "fusion/keys/KeySpace.h"

namespace tilewright::fusion {

struct ConstantBand {
  llvm::SmallVector<int64_t> shape;
  unsigned row = 0, column = 0;         // the dimensions that are longer than 1
  int64_t first = 0, last = 0;          // diagonals: column less row
  bool full = false;                    // all elements between the two diagonals are admitted
  double outside = 0, leastOutside = 0; // the range of the elements that are not admitted; infinite if one is NaN
  double least = 0, most = 0;           // the range of those that are

  /// The keys that are admitted where the constant is read at `at`.
  KeyInterval keysAt(const KeySpace &space, llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// Keys that are sure to be admitted; nullopt where none are known.
  std::optional<KeyInterval> surelyAt(const KeySpace &space, llvm::ArrayRef<mlir::AffineExpr> at) const;
  /// Whether the elements at `at` are all admitted. False if that is not proved.
  bool admits(const KeySpace &space, llvm::ArrayRef<mlir::AffineExpr> at) const;
};

/// The band of a graph.constant of booleans or floats with two dimensions that are longer than 1. nullopt for
/// everything else, for constants whose bytes are not loaded, and where no element is admitted.
std::optional<ConstantBand> bandOf(mlir::Operation *constant, llvm::function_ref<bool(double)> admits);

} // namespace tilewright::fusion
