// SPDX-License-Identifier: Apache-2.0
#include "backend/math/tiles/SmoothUses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Follows a value to its last uses.
class UseWalk {
public:
  explicit UseWalk(RoundedTo end) : end_(end) {}

  bool isSmooth(Value value) {
    pending_.push_back(value);
    while (!pending_.empty()) {
      Value next = pending_.pop_back_val();
      if (seen_.insert(next).second && !llvm::all_of(next.getUses(), [&](OpOperand &use) { return follow(use); }))
        return false;
    }
    return true;
  }

private:
  bool follow(OpOperand &use);
  bool followYield(scf::YieldOp yield, unsigned position);

  RoundedTo end_;
  llvm::DenseSet<Value> seen_;
  SmallVector<Value> pending_;
};

} // namespace

/// A loop's value is the next step's and, in the end, the result.
bool UseWalk::followYield(scf::YieldOp yield, unsigned position) {
  Operation *parent = yield->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    pending_.push_back(loop.getRegionIterArg(position));
  else if (!isa<scf::IfOp>(parent))
    return false;
  pending_.push_back(parent->getResult(position));
  return true;
}

/// Notes what is computed from this use. False if that is not smooth.
bool UseWalk::follow(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto rounding = dyn_cast<arith::TruncFOp>(op))
    return getElementTypeOrSelf(rounding.getType()).getIntOrFloatBitWidth() == 16;
  if (isa<tile::StoreOp>(op))
    return end_ == RoundedTo::Floats;
  if (auto yield = dyn_cast<scf::YieldOp>(op))
    return followYield(yield, use.getOperandNumber());
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    BlockArgument carried = loop.getTiedLoopRegionIterArg(&use);
    if (!carried)
      return false;
    pending_.push_back(carried);
    pending_.push_back(loop.getTiedLoopResult(&use));
    return true;
  }
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
           arith::MinimumFOp, arith::SelectOp, math::FmaOp, math::SqrtOp, math::RsqrtOp, math::LogOp, math::Log1pOp,
           math::TanhOp, math::AbsFOp, tile::BroadcastOp, tile::ReduceOp>(op))
    return false;
  pending_.push_back(op->getResult(0));
  return true;
}

bool isUsedSmoothly(Value value, RoundedTo end) { return UseWalk(end).isSmooth(value); }

} // namespace tilewright
