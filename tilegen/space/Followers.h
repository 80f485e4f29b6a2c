// SPDX-License-Identifier: Apache-2.0
// Follows a contraction's result forwards, element by element, to the values that are made of it.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "tilegen/space/AccessMap.h"

namespace tilewright::tilegen {

/// Where each value that follows the contraction element by element has the result's current element: the way to an
/// output is followed forwards, which every reshape and transpose allows, whatever is known of its sizes. (Pulled
/// backwards, a reshape of symbolic sizes is divisions that only facts about these sizes can undo.)
class Followers {
public:
  Followers(const LoopNest &nest, mlir::Value result, Exprs coordinates) : facts(nest.algebra()), nest(nest) {
    known[result] = std::move(coordinates);
  }

  /// Null if the value does not follow the contraction. Operations must be visited in program order.
  const Exprs *find(mlir::Value value) const {
    auto at = known.find(value);
    return at == known.end() ? nullptr : &at->second;
  }
  /// Fails where a value would be needed at two points, or through an access that is not one to one.
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
