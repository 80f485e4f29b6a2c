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
// A loop that carries a sum of products of singles, each single as the sum of two tf32 (SingleParts.h). The right side
// is split in registers. The slot holds the left side as it is, and matrix units read its upper parts there, since they
// truncate. Its lower parts are written to another allocation while the first product runs. The products of a step
// start from zero and are added to the sums outside of the matrix units, whose own additions truncate: the longer the
// sum, the larger the error.
//
//   for %k { ring_wait ; %b = shared_load right ; %p = dot left, low %b from 0
//            shared_write lower parts of left ; barrier ; dot lower left, high %b to %p ; dot left, high %b to %p
//            dot_wait ; ring_release ; %sum += %p }
//
// For one product of tf32, the left side is written there rounded, and is multiplied into the sums.
#pragma once

#include "tilegen/place/roles/RolePlan.h"

namespace tilewright::tile {

/// What a role that multiplies finds in shared memory. A room is an allocation of it (tile.shared_alloc).
struct RoleRooms {
  llvm::SmallVector<mlir::Value> rings; // as in RolePlan::rings
  llvm::SmallVector<mlir::Value> slots; // of this program in the rings that are filled once a program; null for others
  mlir::Value rewritten; // the left side's lower parts, or the left side rounded; null where singles are not split
  llvm::DenseMap<mlir::Operation *, mlir::Value> room; // of an operand, by the operation that computes it
};

/// Slots of RoleRooms::rewritten: one is written while products may still read the other one.
inline constexpr int64_t roomsOfRewritten = 2;

/// Emits the loop at `b`. `now` maps what was cloned before it, and afterwards the loop's results too. `step` is the
/// number of steps that came before, over all programs of the block; returns the number after the loop. `left` is
/// called when `b` stands behind the loop, to release what all of its steps read; the last products may still be
/// running there.
mlir::Value emitMultiplyLoop(mlir::OpBuilder &b, const RolePlan &plan, const RoleRooms &rooms, mlir::IRMapping &now,
                             mlir::Value step, llvm::function_ref<void()> left);

} // namespace tilewright::tile
