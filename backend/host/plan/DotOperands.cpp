#include "backend/host/plan/DotOperands.h"

#include "backend/host/plan/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

static constexpr int64_t mostTaps = 32;

bool hasFewTaps(Value lhs) {
  auto load = lhs.getDefiningOp<tile::LoadOp>();
  if (!load || load.getGuard().empty() || !load.getIndices().empty())
    return false;
  auto type = load.getResult().getType();
  unsigned row = type.getRank() - 2;
  int64_t block = 0;
  for (AffineExpr expr : load.getMap().getResults())
    block = std::gcd(block, divisorsOf(expr, row));
  auto taps = dyn_cast<AffineConstantExpr>(load.getBounds().getResults().back()); // all of them, so that none is dead
  return type.getElementType().isF32() && taps && taps.getValue() == type.getShape().back() &&
         taps.getValue() <= mostTaps && (block == 0 || block == type.getDimSize(row));
}

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

bool isDirectOperand(Value value, bool isLhs, int64_t rows, unsigned registerRows) {
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
  if (isLhs && hasFewTaps(value))
    return true;
  if (load.getResult().getType().getElementType().isInteger(8))
    return isLhs && readsWholeQuads(load);
  bool isHalf = load.getResult().getType().getElementType().getIntOrFloatBitWidth() == 16;
  if (!load.getGuard().empty() || isHalf)
    return false;
  return isLhs || (isContiguous(load) && rows <= 2 * registerRows);
}

bool hasDirectOperands(Operation *op, unsigned registerRows) {
  return !op->walk([&](tile::DotOp dot) {
              auto type = cast<RankedTensorType>(dot.getResult().getType());
              int64_t rows = type.getDimSize(type.getRank() - 2);
              bool direct = isDirectOperand(dot.getLhs(), true, rows, registerRows) &&
                            isDirectOperand(dot.getRhs(), false, rows, registerRows);
              return direct ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

} // namespace tilewright::host
