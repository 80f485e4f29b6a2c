// SPDX-License-Identifier: Apache-2.0
// The loop of a role that multiplies, in one of four forms.
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
//
// A loop that carries a sum of singles, each the sum of two tf32 (SingleParts.h). The right side is held in registers.
// Of the left side, the slot has the upper parts as it is, and a room beside it gets the lower ones, while the first
// product is at work. The products of a step start from zero and are added to the sums outside of the matrix units,
// which would truncate them: the longer the sum, the more.
//
//   for %k { ring_wait ; %b = shared_load right ; %p = dot left, low %b from 0
//            shared_write lower parts of left ; barrier ; dot lower left, high %b to %p ; dot left, high %b to %p
//            dot_wait ; ring_release ; %sum += %p }
//
// For one product of tf32, the room gets the left side rounded, and its products go to the sums.
#pragma once

#include "tilegen/place/roles/RolePlan.h"

namespace tilewright::tile {

/// What those who multiply find in shared memory.
struct RoleRooms {
  llvm::SmallVector<mlir::Value> rings;                // as in RolePlan::rings
  mlir::Value rewritten;                               // the left side as parts of singles; null where nobody splits
  llvm::DenseMap<mlir::Operation *, mlir::Value> room; // of operands, by what computes them
};

/// Slots of RoleRooms::rewritten: one is written while products may still read the other one.
inline constexpr int64_t roomsOfRewritten = 2;

/// Emits the loop at `b`. `now` maps what was cloned before it, and the loop's results afterwards. `step` counts the
/// steps before; returns the count after it. `left` is called behind the loop, when nobody reads any more
/// what all steps read; the last products may still be at work.
mlir::Value emitMultiplyLoop(mlir::OpBuilder &b, const RolePlan &plan, const RoleRooms &rooms, mlir::IRMapping &now,
                             mlir::Value step, llvm::function_ref<void()> left);

} // namespace tilewright::tile
