// SPDX-License-Identifier: Apache-2.0
// Follows a contraction's result forwards, element by element, to the values that are made of it.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "tilegen/space/AccessMap.h"

namespace tilewright::tilegen {

/// For each value that is computed from a contraction's result element by element: its coordinates, at which it has the
/// element that the loops point at. Going forwards, from the result to the outputs, works for every reshape and
/// transpose, whatever is known of sizes. Going backwards, a reshape of symbolic sizes gives divisions that only facts
/// about these sizes can undo.
class Followers {
public:
  Followers(const LoopNest &nest, mlir::Value result, Exprs coordinates) : facts(nest.algebra()), nest(nest) {
    known[result] = std::move(coordinates);
  }

  /// The coordinates of a value; null if it does not follow the contraction. Operations must be visited in program
  /// order.
  const Exprs *find(mlir::Value value) const {
    auto at = known.find(value);
    return at == known.end() ? nullptr : &at->second;
  }
  /// Finds the coordinates of the operation's result. Fails, without a diagnostic, where values at different points
  /// meet, or at an access that is not one to one.
  mlir::LogicalResult visit(mlir::Operation *op);
  /// The coordinates of a value that the caller knows.
  void set(mlir::Value value, Exprs coordinates) { known[value] = std::move(coordinates); }

private:
  Exprs throughReshape(graph::ReshapeOp reshape) const;
  bool isSamePoint(const Exprs &a, const Exprs &b) const;

  IndexAlgebra facts;
  const LoopNest &nest;
  llvm::DenseMap<mlir::Value, Exprs> known;
};

} // namespace tilewright::tilegen
