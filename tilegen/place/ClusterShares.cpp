// SPDX-License-Identifier: Apache-2.0
// Behind a loop around products stand loads, arithmetic and stores of the whole tile. Where each block of a cluster
// finishes a share of it, all of these have a share's size in one dimension, and begin at its first element:
//
//   %sums = scf.for ...                              %sums = scf.for ...
//   %r = tile.load %x[%m, %n] -> tensor<64x64xf16>   %mine = tile.part_sum %sums[%part] of 4 -> tensor<64x16xf32>
//   %y = arith.addf ...                         ->   %r = tile.load %x[%m, %n + %part * 16] -> tensor<64x16xf16>
//   tile.store %y, %y[%m, %n]                        %y = arith.addf ...
//                                                    tile.store %y, %y[%m, %n + %part * 16]
//
// Tiles whose size is 1 in that dimension stay as they are. Columns are cut before rows are, since then a row of the
// result is still stored in long pieces.
#include "tilegen/place/ClusterShares.h"

using namespace mlir;
using namespace tilewright::tile;

PartOfTile tilewright::tile::numberParts(KernelOp kernel, int64_t parts) {
  SmallVector<ProgramIdOp> ids(kernel.getBody().getOps<ProgramIdOp>());
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  auto sizeOf = [&](AffineExpr expr, Value operand) {
    return SizeOp::create(b, loc, AffineMap::get(1, 0, expr), ValueRange{operand});
  };
  AffineExpr number = b.getAffineDimExpr(0), one = b.getAffineConstantExpr(1);
  Value program = ProgramIdOp::create(b, loc, 0), tile = sizeOf(number.floorDiv(parts), program),
        part = sizeOf(number % parts, program), zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (ProgramIdOp id : ids) {
    id.replaceAllUsesWith(id.getDim() == 0 ? tile : zero); // the other dimensions have one program
    id.erase();
  }
  kernel.setGrid(
      AffineMap::get(0, kernel.getNumSymbols(), {kernel.getGrid().getResult(0) * parts, one, one}, b.getContext()));
  return {tile, part};
}

static SmallVector<Operation *> operationsBehind(scf::ForOp loop) {
  SmallVector<Operation *> behind;
  for (Operation *op = loop->getNextNode(); op && !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
    behind.push_back(op);
  return behind;
}

bool tilewright::tile::worksOnShares(Operation *op) {
  return isa<LoadOp, StoreOp, CheckOp, CoordinateOp, BroadcastOp>(op) ||
         (isMemoryEffectFree(op) && !op->getNumRegions() && !isa<ReduceOp, DotOp>(op));
}

bool tilewright::tile::canCutResults(Operation *op, unsigned dim, int64_t parts) {
  return llvm::all_of(op->getResultTypes(), [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return !tile || tile.getDimSize(dim) == 1 || shareType(tile, dim, parts);
  });
}

/// Says what is in the way of narrowing `op`, which stands behind `loop`; null if nothing is.
static const char *obstacleBehind(scf::ForOp loop, Operation *op, unsigned dim, int64_t parts) {
  if (!worksOnShares(op))
    return "what follows its products does more than load, compute element by element, and store";
  if (!canCutResults(op, dim, parts))
    return sharesAreElsewhere;
  for (Value operand : op->getOperands()) {
    auto tile = dyn_cast<RankedTensorType>(operand.getType());
    Operation *from = operand.getDefiningOp();
    bool isBehind = from && (from == loop || (from->getBlock() == loop->getBlock() && loop->isBeforeInBlock(from)));
    if (tile && tile.getDimSize(dim) != 1 && !isBehind && !isa_and_nonnull<arith::ConstantOp>(from))
      return "what follows its products reads a tile from before them";
  }
  return nullptr;
}

std::optional<unsigned> tilewright::tile::findShareDim(scf::ForOp loop, int64_t parts, std::string &why) {
  auto rank = static_cast<unsigned>(cast<RankedTensorType>(loop.getResult(0).getType()).getRank());
  why = sharesAreElsewhere;
  for (unsigned dim = rank; dim-- > rank - std::min(rank, 2u);) {
    bool areCut = llvm::all_of(loop.getResultTypes(), [&](Type type) {
      auto tile = dyn_cast<RankedTensorType>(type);
      return tile && shareType(tile, dim, parts);
    });
    const char *obstacle = nullptr;
    for (Operation *op : operationsBehind(loop))
      if (areCut && !obstacle)
        obstacle = obstacleBehind(loop, op, dim, parts);
    if (areCut && !obstacle)
      return dim;
    if (obstacle)
      why = obstacle;
  }
  return std::nullopt;
}

Type Narrower::narrowed(Type type) const {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getDimSize(dim_) != 1 ? *shareType(tile, dim_, parts_) : type;
}

/// Constants may stand before the loop, and have other uses.
void Narrower::narrowConstants(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    if (!splat || narrowed(constant.getType()) == constant.getType())
      continue;
    OpBuilder b(op);
    auto type = cast<ShapedType>(narrowed(constant.getType()));
    operand.set(arith::ConstantOp::create(b, constant.getLoc(),
                                          DenseElementsAttr::get(type, splat.getSplatValue<Attribute>())));
  }
}

/// The coordinate of a share's first element, `offset` being that of a tile with `sizeOfTile` elements along the cut.
Value Narrower::shifted(OpBuilder &b, Location loc, Value offset, int64_t sizeOfTile) {
  AffineExpr first = b.getAffineDimExpr(0) * (sizeOfTile / parts_);
  Value distance = SizeOp::create(b, loc, AffineMap::get(1, 0, first), ValueRange{part_});
  return arith::AddIOp::create(b, loc, offset, distance);
}

void Narrower::narrow(Operation *op) {
  if (isa<arith::ConstantOp>(op)) // by its users
    return;
  OpBuilder b(op);
  auto shift = [&](const MutableOperandRange &offsets, Type type) {
    int64_t size = cast<RankedTensorType>(type).getDimSize(dim_);
    if (size != 1)
      offsets[dim_].set(shifted(b, op->getLoc(), offsets[dim_].get(), size));
  };
  if (auto load = dyn_cast<LoadOp>(op))
    shift(load.getOffsetsMutable(), load.getType());
  else if (auto store = dyn_cast<StoreOp>(op)) // its value is narrow already, unless it is a constant
    shift(store.getOffsetsMutable(), store.getValue().getType());
  else if (auto check = dyn_cast<CheckOp>(op))
    shift(check.getOffsetsMutable(), check.getType());
  else if (auto coordinate = dyn_cast<CoordinateOp>(op); coordinate && coordinate.getDim() == dim_) {
    int64_t size = coordinate.getType().getDimSize(dim_);
    coordinate.getOffsetMutable().set(shifted(b, op->getLoc(), coordinate.getOffset(), size));
  }
  narrowConstants(op);
  for (Value result : op->getResults())
    result.setType(narrowed(result.getType()));
}

void Narrower::narrow(ArrayRef<Operation *> ops) {
  for (bool stores : {true, false})
    for (Operation *op : ops)
      if (isa<StoreOp>(op) == stores)
        narrow(op);
}

void tilewright::tile::finishShares(scf::ForOp loop, unsigned dim, Value part, int64_t parts) {
  SmallVector<Operation *> behind = operationsBehind(loop);
  Narrower narrower(dim, part, parts);
  narrower.narrow(behind);
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfter(loop);
  auto types = llvm::map_to_vector(loop.getResultTypes(), [&](Type type) { return narrower.narrowed(type); });
  auto sum = PartSumOp::create(b, loop.getLoc(), types, loop.getResults(), part, parts, /*scratch=*/nullptr);
  for (auto [whole, share] : llvm::zip(loop.getResults(), sum.getResults()))
    whole.replaceAllUsesExcept(share, sum);
}
