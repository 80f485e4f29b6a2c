// SPDX-License-Identifier: Apache-2.0
// Rows and keys as coordinates: what a comparison of two expressions of them says of the key.
//
//   d0 + s0 - d1 >= 0     with the key d1: d1 < d0 + s0 + 1
#pragma once

#include "frontend/graph/GraphOps.h"
#include "frontend/index/Polynomial.h"

namespace tilewright::fusion {

using Exprs = llvm::SmallVector<mlir::AffineExpr>;

/// Keys that are at least all of `from` and below all of `below`.
struct KeyInterval {
  Exprs from, below;

  /// Keeps the keys that are in `other` too.
  void intersect(const KeyInterval &other);
};

/// The keys that are in both; nullopt if one is nullopt.
std::optional<KeyInterval> intersection(std::optional<KeyInterval> a, const std::optional<KeyInterval> &b);

/// The space that coordinates are written in: dimensions d<i> in [0, sizes[i]), one of which is the key.
class KeySpace {
public:
  KeySpace(llvm::ArrayRef<mlir::AffineExpr> sizes, unsigned key) : sizes(sizes), key(key) {}

  mlir::AffineExpr keys() const { return sizes[key]; }
  mlir::AffineExpr keyExpr() const { return mlir::getAffineDimExpr(key, keys().getContext()); }
  /// Whether expr >= 0 at every point. False if that is not proved.
  bool isNonNegative(mlir::AffineExpr expr) const;
  /// An interval outside of which expr < 0 for every key; all keys where that cannot be solved for the key.
  KeyInterval whereNonNegative(mlir::AffineExpr expr) const;
  /// Keys for which expr >= 0 is sure; nullopt where none are known.
  std::optional<KeyInterval> surelyNonNegative(mlir::AffineExpr expr) const;

private:
  Exprs sizes;
  unsigned key;
};

/// The coordinates at which `access` reads its data for its result's element at `at`. nullopt if the operation is null
/// or no access, and for accesses with a fill value or with computed indices.
std::optional<Exprs> throughAccess(mlir::Operation *access, llvm::ArrayRef<mlir::AffineExpr> at);

} // namespace tilewright::fusion
