// SPDX-License-Identifier: Apache-2.0
// What a condition on a row and a key says of the key, wherever indices alone tell.
//
//   iota(key) <= iota(row) + past                 key < row + past + 1
//   the same, and segment[row] == segment[key]    key < row + past + 1, at least
//
// A condition is followed back from one element of a tensor, at coordinates that are expressions of dimensions (those
// of an attention's logits) and of the module's symbols. Accesses change the coordinates; integers become expressions,
// or bounds where data takes part: max(length - 1, 0) is at least 0.
#pragma once

#include "fusion/keys/KeySpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright::fusion {

/// The boolean whose conversion to an integer is compared with 0; null for other comparisons.
mlir::Value comparedBoolean(mlir::arith::CmpIOp compare);

/// Whether `boolean` is a constant, perhaps broadcast, whose elements are all `wanted`.
bool isConstant(mlir::Value boolean, bool wanted);

class Conditions {
public:
  explicit Conditions(const KeySpace &space) : space(space) {}

  /// An interval of keys outside of which the element of `condition` at `at` is sure not to be `wanted`; all keys where
  /// nothing is known.
  KeyInterval whereIs(bool wanted, mlir::Value condition, llvm::ArrayRef<mlir::AffineExpr> at);

  /// Keys for which that element is sure to be `wanted`; nullopt where none are known.
  std::optional<KeyInterval> surely(bool wanted, mlir::Value condition, llvm::ArrayRef<mlir::AffineExpr> at);

  /// Between which expressions an integer lies; null if unknown.
  struct Bounds {
    mlir::AffineExpr low, high;
  };
  Bounds boundsOf(mlir::Value integer, llvm::ArrayRef<mlir::AffineExpr> at);

private:
  Bounds boundsOfChoice(mlir::arith::SelectOp select, llvm::ArrayRef<mlir::AffineExpr> at);
  KeyInterval whereCompares(mlir::arith::CmpIPredicate predicate, mlir::arith::CmpIOp compare,
                            llvm::ArrayRef<mlir::AffineExpr> at);
  std::optional<KeyInterval> surelyCompares(mlir::arith::CmpIPredicate predicate, mlir::arith::CmpIOp compare,
                                            llvm::ArrayRef<mlir::AffineExpr> at);
  KeyInterval whereAtMost(const Bounds &a, const Bounds &b, int64_t margin) const;
  mlir::AffineExpr smaller(mlir::AffineExpr a, mlir::AffineExpr b) const;
  mlir::AffineExpr larger(mlir::AffineExpr a, mlir::AffineExpr b) const;

  const KeySpace &space;
  int steps = 4096; // how many operations may still be visited; a value with several readers is visited for each
};

} // namespace tilewright::fusion
