// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/DotOperands.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/BackwardWalk.h"
#include "backend/host/plan/Contiguity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

/// The most elements of a window for which each gets straight code of its own. The schedule has the same limit.
static constexpr int64_t mostTaps = 32;

/// The most register tiles of rows for which a right side is computed again in each.
static constexpr int64_t mostTilesOfComputed = 4;

bool isPacked(tile::LoadOp load) {
  auto argument = cast<BlockArgument>(load.getBuffer());
  auto kernel = cast<tile::KernelOp>(argument.getOwner()->getParentOp());
  return static_cast<bool>(kernel.getArgAttr(argument.getArgNumber(), "tile.packed_from"));
}

static bool isPackedByFours(tile::LoadOp load) {
  if (!isPacked(load) || !load.getResult().getType().getElementType().isInteger(8))
    return false;
  AffineExpr k = getAffineDimExpr(load.getResult().getType().getRank() - 2, load.getContext());
  return load.getMap().getResults().back() == k % quad;
}

bool multipliesPackedBytes(tile::DotOp dot) {
  auto load = dot.getRhs().getDefiningOp<tile::LoadOp>();
  return load && isPackedByFours(load);
}

int64_t panelColumns(tile::LoadOp load) {
  ArrayRef<AffineExpr> sizes = load.getBuffer().getType().getSizes().getResults();
  return cast<AffineConstantExpr>(sizes[sizes.size() - (isPackedByFours(load) ? 2 : 1)]).getValue();
}

int64_t bytesOfPanels(tile::DotOp dot) {
  auto load = dot.getRhs().getDefiningOp<tile::LoadOp>();
  if (!load || !isPacked(load))
    return 0;
  int64_t bits = load.getResult().getType().getElementTypeBitWidth();
  for (AffineExpr size : load.getBuffer().getType().getSizes().getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    bits *= constant ? constant.getValue() : 0;
  }
  return bits / 8;
}

bool multipliesOnMatrixUnit(tile::DotOp dot) {
  if (!multipliesPackedBytes(dot))
    return false;
  auto load = dot.getRhs().getDefiningOp<tile::LoadOp>();
  unsigned k = load.getResult().getType().getRank() - 2;
  auto bound = dyn_cast<AffineConstantExpr>(load.getBounds().getResult(k));
  int64_t depth = load.getResult().getType().getDimSize(k);
  return bound && bound.getValue() == depth && depth % matrixTile.k == 0;
}

/// Whether a row consists of runs of `count` bytes that are contiguous in memory, and rows have no guards.
static bool readsWholeRuns(tile::LoadOp load, int64_t count) {
  unsigned last = load.getResult().getType().getRank() - 1;
  std::optional<int64_t> run = contiguousRun(coordinatesOf(load), last);
  auto bound = dyn_cast<AffineConstantExpr>(load.getBounds().getResult(last));
  return run && *run % count == 0 && bound && bound.getValue() % count == 0 && load.getGuard().empty();
}

/// Whether the bytes of `load` can be read by the instruction that multiplies them.
static bool readsWholeSteps(tile::LoadOp load, const DotSchedule &schedule) {
  if (!schedule.matrix)
    return readsWholeRuns(load, quad);
  return readsWholeRuns(load, matrixTile.k) && isEven(load.getMap(), load.getResult().getType().getRank() - 2);
}

/// Whether a right side is computed elementwise from constants in panels, so that each vector of columns needs only
/// vectors of the same columns.
static bool isComputedFromPanels(Value value) {
  bool fits = true, reads = false;
  walkBackward(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
      unsigned column = load.getResult().getType().getRank() - 1;
      reads |= isPacked(load);
      fits &= load.getIndices().empty() && load.getGuard().empty() &&
              (isPacked(load) || !load.getMap().isFunctionOfDim(column));
      return false;
    }
    fits &= op && (isa<tile::BroadcastOp, tile::CoordinateOp, arith::ConstantOp>(op) || isElementwise(op));
    return fits && isa<RankedTensorType>(next.getType()) && !isa<tile::CoordinateOp>(op);
  });
  return fits && reads;
}

/// A number that divides every value of `index`, an offset of a load; 0 if the index is always 0.
static int64_t divisorOf(Value index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant;
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || index != loop.getInductionVar())
    return 1;
  return std::gcd(divisorOf(loop.getLowerBound()), getConstantIntValue(loop.getStep()).value_or(1));
}

int64_t guardedTogether(tile::LoadOp load) {
  AffineMap map = load.getMap();
  unsigned last = load.getResult().getType().getRank() - 1;
  if (contiguousRun(coordinatesOf(load), last) != 0 || !load.getIndices().empty())
    return 0;
  int64_t run = load.getResult().getType().getDimSize(last);
  run = std::gcd(run, load.getBounds().getResult(last).getLargestKnownDivisor());
  run = std::gcd(run, divisorOf(load.getOffsets()[last]));
  AffineExpr place = getAffineDimExpr(last, load.getContext()), zero = getAffineConstantExpr(0, load.getContext());
  for (int64_t dim : load.getGuard()) {
    AffineExpr expr = map.getResult(dim), size = load.getBuffer().getType().getSizes().getResult(dim);
    if (expr.isFunctionOfDim(last))
      run = std::gcd(run, std::gcd(expr.replace(place, zero).getLargestKnownDivisor(), size.getLargestKnownDivisor()));
  }
  return run;
}

bool isWindowOfRuns(tile::LoadOp load) {
  constexpr int64_t leastTogether = 8; // the shortest run for which choosing a place pays
  auto fill = dyn_cast_or_null<FloatAttr>(load.getFillAttr());
  return !load.getGuard().empty() && fill && fill.getValue().isZero() && guardedTogether(load) >= leastTogether &&
         llvm::all_of(load->getUsers(), llvm::IsaPred<tile::DotOp>);
}

bool isDirectOperand(Value value, bool isLhs, int64_t rows, const DotSchedule &schedule) {
  if (!isLhs && rows <= mostTilesOfComputed * schedule.registerRows && isComputedFromPanels(value))
    return true;
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
  bool isWindow = isLhs && schedule.readsInPlace && !schedule.matrix && !load.getGuard().empty();
  if (isWindow && (load.getResult().getType().getShape().back() <= mostTaps || isWindowOfRuns(load)))
    return true;
  if (load.getResult().getType().getElementType().isInteger(8))
    return isLhs && readsWholeSteps(load, schedule);
  bool isHalf = load.getResult().getType().getElementType().getIntOrFloatBitWidth() == 16;
  if (!load.getGuard().empty() || isHalf)
    return false;
  return isLhs || (isContiguous(load) && rows <= int64_t(2) * schedule.registerRows);
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
