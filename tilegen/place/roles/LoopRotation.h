// SPDX-License-Identifier: Apache-2.0
// How a loop around two products, the second of which takes what is computed from the first one's result, may be
// rotated: the second product of a step, and what follows from it, are moved to the next step, beside its first
// product.
//
//   for %n iter_args(%max, %sum, %mix) {
//     %s = tile.dot %q, %k                            early
//     %max', %sum', %half, %worth = ... %s, %max      early
//     %before = arith.mulf %mix, %worth               between: %mix is carried from the late part of the step before
//     %mix' = tile.dot %half, %v, %before             late
//   }
//
// The instructions of both products then run at the same time, so nothing may be computed between them: the operands of
// the second one (%half and %before) are carried to the next step, ready to be multiplied.
#pragma once

#include "tilegen/place/roles/RolePlan.h"

namespace tilewright::tile {

struct LoopRotation {
  enum class Part { Early, Between, Late };
  llvm::DenseMap<mlir::Operation *, Part> parts; // of the loop's operations, except loads that the engine copies
  llvm::SmallVector<unsigned> carriedEarly, carriedLate; // numbers of loop-carried values, by what computes them
  llvm::SmallVector<mlir::Value> crossing;               // tiles that early or between parts compute for the late part
};

/// nullopt where there are not two products, where the first one depends on the late part, or where the late part reads
/// memory or needs a number of its step.
std::optional<LoopRotation> findRotation(const RolePlan &plan);

} // namespace tilewright::tile
