// SPDX-License-Identifier: Apache-2.0
// Looks for other readers of the value.
#include "fusion/rules/Copies.h"

#include "fusion/OnnxNodes.h"

#include "frontend/graph/GraphOps.h"

using namespace tilewright::fusion;

bool tilewright::fusion::storesACopy(const Edge &edge) {
  bool isOneNode = nodeOf(edge.value.getDefiningOp()) == nodeOf(edge.user); // stays one kernel in any case
  return !isOneNode && mlir::isa<tilewright::graph::AccessOpInterface>(edge.user) &&
         llvm::any_of(edge.value.getUsers(), [&](mlir::Operation *user) {
           return !llvm::is_contained(edge.producer->ops, user) && !llvm::is_contained(edge.consumer->ops, user);
         });
}
