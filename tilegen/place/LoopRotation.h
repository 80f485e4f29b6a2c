// SPDX-License-Identifier: Apache-2.0
// How a loop around two products, of which the second takes what is made of the first, may be rotated: what is early
// belongs to the step whose first product is started, what is late to the step before.
//
//   for %n iter_args(%max, %sum, %mix) {
//     %s = tile.dot %q, %k                      early
//     %max', %sum', %p, %worth = ... %s, %max   early
//     %before = arith.mulf %mix, %worth         late, because it takes %mix
//     %mix' = tile.dot %p, %v, %before          late
//   }
//
// %max and %sum are carried early, %mix is carried late, %p and %worth cross from a step's early part to its late one.
#pragma once

#include "tilegen/place/RolePlan.h"

namespace tilewright::tile {

struct LoopRotation {
  llvm::DenseSet<mlir::Operation *> late;                // the others are early
  llvm::SmallVector<unsigned> carriedEarly, carriedLate; // numbers of what the loop carries
  llvm::SmallVector<mlir::Value> crossing;
};

/// None where late work takes what is not carried to it.
std::optional<LoopRotation> findRotation(const RolePlan &plan);

} // namespace tilewright::tile
