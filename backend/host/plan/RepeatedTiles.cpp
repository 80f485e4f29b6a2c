// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/RepeatedTiles.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/BackwardWalk.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright::host {

static bool dependsOnProgram(Value index) {
  bool depends = false;
  walkBackward(index, [&](Value value) {
    depends |= isa_and_nonnull<tile::ProgramIdOp>(value.getDefiningOp());
    return !depends;
  });
  return depends;
}

/// `size` for program `x` of the grid's first row, and for large symbols; null if that is no constant.
static AffineConstantExpr sizeAt(tile::SizeOp size, int64_t x) {
  MLIRContext *context = size.getContext();
  SmallVector<AffineExpr> dims, symbols(size.getExpr().getNumSymbols(), getAffineConstantExpr(1 << 20, context));
  for (Value operand : size.getOperands()) {
    auto id = operand.getDefiningOp<tile::ProgramIdOp>();
    if (!id)
      return {};
    dims.push_back(getAffineConstantExpr(id.getDim() == 0 ? x : 0, context));
  }
  return dyn_cast<AffineConstantExpr>(size.getExpr().getResult(0).replaceDimsAndSymbols(dims, symbols));
}

/// Whether `index` is the same for the first two programs of the grid.
static bool isSameForNext(Value index) {
  if (auto id = index.getDefiningOp<tile::ProgramIdOp>())
    return id.getDim() != 0;
  auto size = index.getDefiningOp<tile::SizeOp>();
  AffineConstantExpr first = size ? sizeAt(size, 0) : AffineConstantExpr();
  return first && first == sizeAt(size, 1);
}

/// Whether tiles computed by `op` are the same in all programs if its operands are.
static bool isRepeatable(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op)) // of what no program writes
    return llvm::none_of(load.getBuffer().getUsers(), llvm::IsaPred<tile::StoreOp>);
  return isElementwise(op) || isa<tile::BroadcastOp, tile::CoordinateOp, arith::ConstantOp>(op);
}

std::optional<SmallVector<Value>> indicesIfRepeated(ArrayRef<Value> values) {
  SmallVector<Value> indices;
  bool repeats = true;
  auto visit = [&](Value value) {
    if (value.getType().isIndex()) {
      bool isInLoop = !isa<tile::KernelOp>(value.getParentRegion()->getParentOp());
      if (isInLoop || dependsOnProgram(value)) {
        indices.push_back(value);
        repeats &= !isInLoop && isSameForNext(value);
      }
      return false;
    }
    Operation *op = value.getDefiningOp();
    repeats &= op ? isRepeatable(op) : isa<tile::BufferType>(value.getType());
    return repeats;
  };
  for (Value value : values)
    walkBackward(value, visit);
  return repeats ? std::optional(indices) : std::nullopt;
}

} // namespace tilewright::host
