// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/LiveKeys.h"

#include "backend/host/Elementwise.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilewright::host {

static bool isNegativeInfinity(Value value) {
  DenseFPElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isInfinity() && elements.getSplatValue<APFloat>().isNegative();
}

/// `offset` of select(coordinate(offset) < 0, ..., -inf) along the last dimension; null for any other selection.
static Value offsetOfMask(arith::SelectOp select) {
  Value condition = select.getCondition();
  if (auto broadcast = condition.getDefiningOp<tile::BroadcastOp>())
    condition = broadcast.getInput();
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  auto coordinate = compare ? compare.getLhs().getDefiningOp<tile::CoordinateOp>() : tile::CoordinateOp();
  auto type = dyn_cast<RankedTensorType>(select.getType());
  if (!coordinate || !type || compare.getPredicate() != arith::CmpIPredicate::slt ||
      !matchPattern(compare.getRhs(), m_Zero()) || !isNegativeInfinity(select.getFalseValue()) ||
      static_cast<int64_t>(coordinate.getDim()) != type.getRank() - 1)
    return {};
  return coordinate.getOffset();
}

/// Adds a tile whose keys are along `axis`; if they are its columns, also the tiles of keys that it is computed from
/// and that are computed from it. False if an operation reads it that is not part of a softmax or the product with the
/// values.
bool LiveKeys::add(Value value, unsigned axis) {
  if (!axes.try_emplace(value, axis).second || axis > 0)
    return true;
  Operation *op = value.getDefiningOp();
  auto dot = dyn_cast_or_null<tile::DotOp>(op);
  if (dot)
    axes.try_emplace(dot.getRhs(), 0);
  int64_t keys = cast<RankedTensorType>(value.getType()).getShape().back();
  if (op && !dot && (isElementwise(op) || isa<tile::BroadcastOp>(op)))
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      bool isConstant = operand.getDefiningOp<arith::ConstantOp>() != nullptr;
      if (type && !isConstant && type.getShape().back() == keys && !add(operand, 0))
        return false;
    }
  return follow(value);
}

/// Adds the users of a tile whose keys are along its columns. False as in `add`.
bool LiveKeys::follow(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(user))
      return static_cast<int64_t>(reduce.getDim()) == reduce.getInput().getType().getRank() - 1;
    if (auto dot = dyn_cast<tile::DotOp>(user))
      return dot.getLhs() == value && add(dot.getRhs(), 1);
    return (isElementwise(user) || isa<tile::BroadcastOp>(user)) && add(user->getResult(0), 0);
  });
}

LiveKeys::LiveKeys(tile::KernelOp kernel) {
  tile::ScheduleAttr schedule = kernel.getScheduleAttr();
  if (!schedule || schedule.getRoot() != graph::RootKind::Attention)
    return;
  kernel.walk([&](arith::SelectOp select) {
    if (Value found = offsetOfMask(select); found && !mask)
      mask = select, offset = found;
  });
  if (!mask || add(mask->getResult(0), 0))
    return;
  mask = nullptr;
  axes.clear();
}

std::optional<unsigned> LiveKeys::axisOf(Value value) const {
  auto found = axes.find(value);
  return found == axes.end() ? std::nullopt : std::optional(found->second);
}

} // namespace tilewright::host
