// SPDX-License-Identifier: Apache-2.0
// The loop of a role that multiplies, in one of three forms.
//
// A loop that carries sums alone: products go on while the next step starts, and their slot is released a step later.
//
//   for %k { ring_wait ; dot ; dot_wait for the step before ; ring_release of its slot }
//
// A loop whose products take other products' results, in order:
//
//   for %n { ring_wait keys ; dot %s ; dot_wait ; ring_release keys ; softmax of %s
//            ring_wait values ; dot %o ; dot_wait ; ring_release values }
//
// The same rotated, where that can be (LoopRotation.h): a step's last product comes one step later, so that the units
// have work while a softmax is computed.
//
//   the first step, without its last product
//   for %n = second { ring_wait keys ; dot %s ; ring_wait values ; dot %o of the step before
//                     dot_wait 1 ; ring_release keys ; softmax of %s ; dot_wait 0 ; ring_release values }
//   the last product of the last step
#pragma once

#include "tilegen/place/roles/RolePlan.h"

namespace tilewright::tile {

/// What those who multiply find in shared memory.
struct RoleRooms {
  llvm::SmallVector<mlir::Value> rings;                // as in RolePlan::rings
  llvm::DenseMap<mlir::Operation *, mlir::Value> room; // of operands, by what computes them
};

/// Emits the loop at `b`. `now` maps what was cloned before it, and the loop's results afterwards. `step` counts the
/// steps before; returns the count after it. `left` is called behind the loop, when nobody reads any more
/// what all steps read; the last products may still be at work.
mlir::Value emitMultiplyLoop(mlir::OpBuilder &b, const RolePlan &plan, const RoleRooms &rooms, mlir::IRMapping &now,
                             mlir::Value step, llvm::function_ref<void()> left);

} // namespace tilewright::tile
