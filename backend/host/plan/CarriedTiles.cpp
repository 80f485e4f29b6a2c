// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/CarriedTiles.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/BackwardWalk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilewright::host {

/// Calls `visit` for every carried tile of a loop within `scope` that `value` reads, and whether that is at the same
/// position.
static void visitCarried(Value value, Operation *scope, bool samePosition,
                         llvm::DenseSet<std::pair<Value, unsigned>> &seen,
                         llvm::function_ref<void(BlockArgument, bool)> visit) {
  if (!isa<RankedTensorType>(value.getType()) || !seen.insert({value, unsigned(samePosition)}).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (scope->isAncestor(argument.getOwner()->getParentOp()))
      visit(argument, samePosition);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!scope->isProperAncestor(op))
    return;
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    visitCarried(dot.getAcc(), scope, samePosition, seen, visit);
    visitCarried(dot.getLhs(), scope, false, seen, visit);
    visitCarried(dot.getRhs(), scope, false, seen, visit);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned i = cast<OpResult>(value).getResultNumber();
    visitCarried(loop.getInitArgs()[i], scope, samePosition, seen, visit);
    visitCarried(loop.getBody()->getTerminator()->getOperand(i), scope, samePosition, seen, visit);
  } else {
    for (Value operand : op->getOperands())
      visitCarried(operand, scope, samePosition && isElementwise(op), seen, visit);
  }
}

bool isPositionwise(scf::ForOp loop) {
  bool result = true;
  loop->walk([&](scf::ForOp inner) {
    for (Value yielded : inner.getBody()->getTerminator()->getOperands()) {
      llvm::DenseSet<std::pair<Value, unsigned>> seen;
      visitCarried(yielded, loop, true, seen, [&](BlockArgument, bool samePosition) { result &= samePosition; });
    }
  });
  return result;
}

bool updatesInPlace(scf::ForOp loop, unsigned i) {
  bool result = true;
  auto check = [&](Value value, bool isOwn) {
    llvm::DenseSet<std::pair<Value, unsigned>> seen;
    visitCarried(value, loop, true, seen, [&](BlockArgument argument, bool samePosition) {
      if (argument == loop.getRegionIterArg(i))
        result &= isOwn && samePosition;
    });
  };
  for (auto [j, yielded] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
    check(yielded, i == j);
  loop->walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      check(store.getValue(), false);
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      check(reduce.getInput(), false);
  });
  return result;
}

static constexpr int64_t mostIterations = 8, mostOperations = 12; // of a loop that is unrolled

bool isUnrolled(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
  return from && to && step && (*to - *from) <= mostIterations * *step &&
         loop.getBody()->getOperations().size() <= mostOperations &&
         llvm::none_of(*loop.getBody(), [](Operation &op) { return isa<tile::DotOp, scf::ForOp>(op); });
}

SmallVector<unsigned> carriedTilesOf(scf::ForOp op, unsigned result) {
  SmallVector<unsigned> needed = {result};
  llvm::SmallPtrSet<Value, 16> seen;
  for (unsigned i = 0; i < needed.size(); ++i) {
    SmallVector<Value> stack = {op.getBody()->getTerminator()->getOperand(needed[i])};
    while (!stack.empty()) {
      Value value = stack.pop_back_val();
      if (!isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
        continue;
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (argument.getOwner() == op.getBody() && !llvm::is_contained(needed, argument.getArgNumber() - 1))
          needed.push_back(argument.getArgNumber() - 1);
      } else if (Operation *definition = value.getDefiningOp(); op->isProperAncestor(definition)) {
        stack.append(definition->operand_begin(), definition->operand_end());
        if (auto inner = dyn_cast<scf::ForOp>(definition))
          stack.append(inner.getBody()->getTerminator()->operand_begin(),
                       inner.getBody()->getTerminator()->operand_end());
      }
    }
  }
  return needed;
}

/// The load of shape `type` that `value` is a cast of or, in a sum, a multiple of, if `value` is the fill where the
/// load is. Null if there is none.
static tile::LoadOp loadOfTerm(Value value, Type type, bool isSum) {
  tile::LoadOp found;
  walkBackward(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op); load && !found)
      if (load.getFillAttr() && !load.getGuard().empty() && load.getIndices().empty() &&
          cast<RankedTensorType>(load.getResult().getType()).getShape() == cast<RankedTensorType>(type).getShape())
        found = load;
    return !found && op && (isa<arith::ExtFOp>(op) || (isSum && isa<arith::MulFOp>(op)));
  });
  return found;
}

/// Whether `combine` returns one operand unchanged if the other is the fill of `load`.
static bool isIdentity(Operation *combine, tile::LoadOp load) {
  auto fill = dyn_cast<FloatAttr>(load.getFillAttr());
  if (!fill)
    return false;
  if (isa<arith::AddFOp>(combine))
    return fill.getValue().isZero();
  return fill.getValue().isInfinity() &&
         (isa<arith::MaximumFOp>(combine) ? fill.getValue().isNegative()
                                          : isa<arith::MinimumFOp>(combine) && !fill.getValue().isNegative());
}

tile::LoadOp loadOfIteration(scf::ForOp loop, unsigned i) {
  Value yielded = loop.getBody()->getTerminator()->getOperand(i), carried = loop.getRegionIterArg(i);
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return nullptr;
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    unsigned j = cast<OpResult>(yielded).getResultNumber();
    return inner.getInitArgs()[j] == carried ? loadOfIteration(inner, j) : nullptr;
  }
  if (op->getNumOperands() == 2)
    for (unsigned side : {0, 1})
      if (op->getOperand(side) == carried)
        if (tile::LoadOp load = loadOfTerm(op->getOperand(1 - side), carried.getType(), isa<arith::AddFOp>(op));
            load && isIdentity(op, load))
          return load;
  return nullptr;
}

} // namespace tilewright::host
