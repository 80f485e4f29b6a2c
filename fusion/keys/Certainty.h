// SPDX-License-Identifier: Apache-2.0
// What is sure of a condition at one element, whatever data takes part in it.
//
//   iota(key) <= iota(row)            true where the key is the row
//   segment[row] == segment[key]      true there: a number equals itself
//
// Two elements are the same number if they are the same element of one tensor, or if the same operations compute them
// from such: exporters compute both sides of the comparison above by nodes of their own.
#pragma once

#include "fusion/keys/Conditions.h"

namespace tilewright::fusion {

class Certainty {
public:
  Certainty(const KeySpace &space, Conditions &conditions) : space(space), conditions(conditions) {}

  /// The condition's value at `at`; nullopt if it is not certain.
  std::optional<bool> valueOf(mlir::Value condition, llvm::ArrayRef<mlir::AffineExpr> at);
  /// Whether the element of `a` at `atA` and that of `b` at `atB` are the same number. False if that is not proved.
  bool isSame(mlir::Value a, Exprs atA, mlir::Value b, Exprs atB);

private:
  std::optional<bool> compare(mlir::arith::CmpIOp op, llvm::ArrayRef<mlir::AffineExpr> at);
  bool readSame(graph::GatherOp a, const Exprs &atA, graph::GatherOp b, const Exprs &atB);

  const KeySpace &space;
  Conditions &conditions;
  int steps = 4096;
};

} // namespace tilewright::fusion
