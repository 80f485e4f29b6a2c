// SPDX-License-Identifier: Apache-2.0
#include "backend/math/PairReciprocals.h"
#include "backend/math/ReciprocalDivisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright {

static constexpr double largestDivisor = 0x1p60;
static constexpr size_t mostMoved = 32; // operations that compute a divisor

/// Adds to `moved` the operations behind `place`, in its block, that `value` follows from, operands first. False if
/// they cannot be moved in front of it, or are too many. `depth` operations take `value` so far.
static bool findBehind(Value value, Operation *place, SmallVectorImpl<Operation *> &moved, size_t depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place) || llvm::is_contained(moved, op))
    return true;
  auto isFound = [&](Value operand) { return findBehind(operand, place, moved, depth + 1); };
  if (op == place || op->getNumRegions() || !isMemoryEffectFree(op) || depth == mostMoved ||
      !llvm::all_of(op->getOperands(), isFound) || moved.size() == mostMoved)
    return false;
  moved.push_back(op);
  return true;
}

/// Replaces both divisions by products with one reciprocal, in front of the first one. False if the divisor of the
/// second one cannot be known there.
static bool pair(arith::DivFOp first, arith::DivFOp second) {
  SmallVector<Operation *> moved;
  for (Value operand : second->getOperands())
    if (!findBehind(operand, first, moved))
      return false;
  for (Operation *op : moved)
    op->moveBefore(first);
  ImplicitLocOpBuilder b(first.getLoc(), first);
  auto constant = [&](double value) -> Value { return arith::ConstantOp::create(b, b.getF32FloatAttr(value)); };
  Value limit = constant(largestDivisor);
  // The lesser of a NaN and a number is the number here, so that it stays out of the other quotient.
  Value one = arith::MinNumFOp::create(b, first.getRhs(), limit),
        other = arith::MinNumFOp::create(b, second.getRhs(), limit);
  auto both = arith::DivFOp::create(b, constant(1), arith::MulFOp::create(b, one, other));
  both->setAttr(byReciprocalAttr, b.getUnitAttr());
  for (auto [division, rest] : {std::pair(first, other), {second, one}}) {
    Value share = arith::MulFOp::create(b, rest, both),
          inverse = arith::MinimumFOp::create(b, share, division.getRhs()); // of a NaN and a number it is the NaN
    division.replaceAllUsesWith(arith::MulFOp::create(b, division.getLhs(), inverse).getResult());
  }
  second.erase();
  first.erase();
  return true;
}

void pairReciprocals(Operation *root) {
  root->walk([](Block *block) {
    arith::DivFOp open;
    for (auto division : llvm::make_early_inc_range(block->getOps<arith::DivFOp>())) {
      if (!division->hasAttr(mayPairAttr) || !division.getType().isF32())
        continue;
      if (open && pair(open, division))
        open = {};
      else
        open = division;
    }
  });
}

} // namespace tilewright
