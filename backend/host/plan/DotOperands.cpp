// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/DotOperands.h"

#include "backend/host/plan/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::host {

bool isPacked(tile::LoadOp load) {
  auto argument = cast<BlockArgument>(load.getBuffer());
  auto kernel = cast<tile::KernelOp>(argument.getOwner()->getParentOp());
  return static_cast<bool>(kernel.getArgAttr(argument.getArgNumber(), "tile.packed_from"));
}

bool multipliesPackedBytes(tile::DotOp dot) {
  auto load = dot.getRhs().getDefiningOp<tile::LoadOp>();
  if (!load || !isPacked(load) || !load.getResult().getType().getElementType().isInteger(8))
    return false;
  AffineExpr k = getAffineDimExpr(load.getResult().getType().getRank() - 2, load.getContext());
  return load.getMap().getResults().back() == k % quad;
}

/// Whether each four bytes of a row lie together, and rows end with the fourth.
static bool readsWholeQuads(tile::LoadOp load) {
  unsigned last = load.getResult().getType().getRank() - 1;
  std::optional<int64_t> run = contiguousRun(load.getMap(), last);
  auto bound = dyn_cast<AffineConstantExpr>(load.getBounds().getResult(last));
  return run && *run % quad == 0 && bound && bound.getValue() % quad == 0 && load.getGuard().empty();
}

bool isDirectOperand(Value value, bool isLhs, int64_t rows, const DotSchedule &schedule) {
  while (auto extend = value.getDefiningOp<arith::ExtFOp>()) {
    if (isLhs)
      return false;
    value = extend.getIn();
  }
  auto load = value.getDefiningOp<tile::LoadOp>();
  if (!load || !load.getIndices().empty())
    return false;
  if (isPacked(load))
    return true;
  if (isLhs && schedule.readsInPlace && !load.getGuard().empty())
    return true;
  if (load.getResult().getType().getElementType().isInteger(8))
    return isLhs && readsWholeQuads(load);
  bool isHalf = load.getResult().getType().getElementType().getIntOrFloatBitWidth() == 16;
  if (!load.getGuard().empty() || isHalf)
    return false;
  return isLhs || (isContiguous(load) && rows <= 2 * schedule.registerRows);
}

bool hasDirectOperands(Operation *op, const DotSchedule &schedule) {
  return !op->walk([&](tile::DotOp dot) {
              auto type = cast<RankedTensorType>(dot.getResult().getType());
              int64_t rows = type.getDimSize(type.getRank() - 2);
              bool direct = isDirectOperand(dot.getLhs(), true, rows, schedule) &&
                            isDirectOperand(dot.getRhs(), false, rows, schedule);
              return direct ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

} // namespace tilewright::host
