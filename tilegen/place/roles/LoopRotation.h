// SPDX-License-Identifier: Apache-2.0
// How a loop around two products, of which the second takes what is made of the first, may be rotated: a step's second
// product and what follows from it are done in the step after it, beside that one's first product.
//
//   for %n iter_args(%max, %sum, %mix) {
//     %s = tile.dot %q, %k                            early
//     %max', %sum', %half, %worth = ... %s, %max      early
//     %before = arith.mulf %mix, %worth               between: it takes what is late of the step before
//     %mix' = tile.dot %half, %v, %before             late
//   }
//
// The instructions of both products are at work together then, so nothing may be left to compute in between: what the
// second one takes (%half and %before) crosses into the next step ready.
#pragma once

#include "tilegen/place/roles/RolePlan.h"

namespace tilewright::tile {

struct LoopRotation {
  enum class Part { Early, Between, Late };
  llvm::DenseMap<mlir::Operation *, Part> parts;         // of the loop's operations, but loads that are copied
  llvm::SmallVector<unsigned> carriedEarly, carriedLate; // numbers of what the loop carries
  llvm::SmallVector<mlir::Value> crossing;               // what late operations take of others
};

/// None where late work reads memory, or knows in which step it is.
std::optional<LoopRotation> findRotation(const RolePlan &plan);

} // namespace tilewright::tile
