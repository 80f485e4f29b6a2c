// SPDX-License-Identifier: Apache-2.0
// Brings the operands of tile.dot through shared memory.
//
//   %a = ... : tensor<128x32xf16, #blocked>         %sa = tile.shared_alloc
//   %b = ... : tensor<32x128xf16, #blocked>         %sb = tile.shared_alloc
//   %d = tile.dot %a, %b, %c                  ->    tile.shared_write %a, %sa[%c0]
//                                                   tile.shared_write %b, %sb[%c0]
//                                                   tile.barrier
//                                                   %fa = tile.shared_read %sa[%c0]
//                                                   %fb = tile.shared_read %sb[%c0]
//                                                   %d = tile.dot %fa, %fb, %c
//                                                   %e = tile.dot_wait 0 of %d    (if it reads shared memory itself)
//                                                   tile.barrier                  (in loops)
#include "tilegen/place/Place.h"

using namespace mlir;
using namespace tilewright::tile;

// It is k for instructions that read only along k, else the dimension along which the loading threads hold neighbours.
unsigned tilewright::tile::fastDimension(DotOp dot, bool isLhs, RankedTensorType type) {
  unsigned rank = type.getRank(), k = isLhs ? rank - 1 : rank - 2;
  if (const Fragments *fragments = fragmentsOf(dot);
      fragments && fragments->readsAlongK(isLhs ? Operand::A : Operand::B))
    return k;
  Layout layout = layoutOf(type);
  TileShape shape(type.getShape());
  uint32_t first = layout.reg.empty() ? layout.lane.front() : layout.reg.front();
  return shape.coordinate(first, rank - 2) ? rank - 2 : rank - 1;
}

/// The loop around the contraction, if the operand is computed in front of it; null if both are in one block.
static Operation *loopBetween(Value operand, DotOp dot) {
  Operation *op = operand.getDefiningOp(), *around = op->getBlock()->findAncestorOpInBlock(*dot);
  return around == dot ? nullptr : around;
}

/// Is the first row of tiles all that the kernel stores? Then nobody asks what its products have in other rows.
static bool storesFirstRow(KernelOp kernel) {
  bool stores = false;
  auto result = kernel.walk([&](StoreOp store) {
    int64_t row = static_cast<int64_t>(store.getOffsets().size()) - 2;
    stores = true;
    bool isFirst = row >= 0 && store.getBounds().getResult(row) == getAffineConstantExpr(1, kernel.getContext()) &&
                   isConstantIntValue(store.getOffsets()[row], 0);
    return isFirst ? WalkResult::advance() : WalkResult::interrupt();
  });
  return stores && !result.wasInterrupted();
}

/// Replaces an operand that broadcasts a load, as in a product of a single row, by a load of the whole tile, which can
/// be copied without passing through registers. Of a left side whose other rows do not count, the first is loaded once,
/// and the others are filled: loading it for all rows took 1 us more for 1x4096x4096. Returns the new load, or `value`
/// for other operands.
static Value loadWhole(Value value, bool firstRowCounts) {
  auto repeated = value.getDefiningOp<BroadcastOp>();
  auto load = repeated ? repeated.getInput().getDefiningOp<LoadOp>() : LoadOp();
  if (!load || !load.getIndices().empty())
    return value;
  OpBuilder b(repeated);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> bounds(load.getBounds().getResults());
  DenseMap<AffineExpr, AffineExpr> first;
  for (unsigned d = 0; d < bounds.size(); ++d) {
    if (load.getType().getDimSize(d) == type.getDimSize(d))
      continue;
    if (!isConstantIntValue(load.getOffsets()[d], 0))
      return value;
    bool isFilled = firstRowCounts && d + 2 == bounds.size() && bounds[d] == b.getAffineConstantExpr(1);
    if (!isFilled)
      bounds[d] = b.getAffineConstantExpr(type.getDimSize(d));
    first[b.getAffineDimExpr(d)] = b.getAffineConstantExpr(0);
  }
  auto whole = cast<LoadOp>(b.clone(*load));
  AffineMap map = load.getMap(), live = load.getBounds();
  whole.getResult().setType(type);
  whole.setBounds(AffineMap::get(live.getNumDims(), live.getNumSymbols(), bounds, b.getContext()));
  whole.setMap(map.replace(first, map.getNumDims(), map.getNumSymbols()));
  repeated.replaceAllUsesWith(whole.getResult());
  repeated.erase();
  if (load.use_empty())
    load.erase();
  return whole;
}

void tilewright::tile::stageOperands(KernelOp kernel) {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  bool firstRowCounts = storesFirstRow(kernel);
  DenseMap<Value, Value> roomOf; // of operands that several contractions read
  for (DotOp dot : dots) {
    OpBuilder start = OpBuilder::atBlockBegin(&kernel.getBody().front()), b(dot);
    Location loc = dot.getLoc();
    Value zero = arith::ConstantIndexOp::create(start, loc, 0);
    SmallVector<Value> rooms(2);
    for (bool isLhs : {true, false}) {
      Value value = loadWhole(isLhs ? dot.getLhs() : dot.getRhs(), isLhs && firstRowCounts);
      if (isHeldInRegisters(value))
        continue;
      if (Value room = roomOf.lookup(value)) {
        rooms[isLhs ? 0 : 1] = room;
        continue;
      }
      auto type = cast<RankedTensorType>(value.getType());
      auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
      auto shared = SharedType::get(b.getContext(), plain, fastDimension(dot, isLhs, type), /*slots=*/1);
      Value room = rooms[isLhs ? 0 : 1] = roomOf[value] = SharedAllocOp::create(start, loc, shared, 0);
      if (Operation *loop = loopBetween(value, dot)) { // once for all of its steps
        OpBuilder before(loop);
        SharedWriteOp::create(before, loc, value, room, zero);
        BarrierOp::create(before, loc);
      } else {
        SharedWriteOp::create(b, loc, value, room, zero);
      }
    }
    BarrierOp::create(b, loc);
    for (bool isLhs : {true, false}) {
      if (!rooms[isLhs ? 0 : 1])
        continue;
      OpOperand &operand = isLhs ? dot.getLhsMutable() : dot.getRhsMutable();
      auto type = cast<RankedTensorType>(operand.get().getType());
      auto read = withLayout(type, operandLayout(dot, isLhs ? Operand::A : Operand::B, type));
      operand.set(SharedReadOp::create(b, loc, read, rooms[isLhs ? 0 : 1], zero));
    }
    b.setInsertionPointAfter(dot);
    if (const Fragments *fragments = fragmentsOf(dot); fragments && fragments->readsShared()) {
      auto wait = DotWaitOp::create(b, loc, dot.getResult(), 0);
      dot.getResult().replaceAllUsesExcept(wait.getResult(0), wait);
    }
    if (dot->getParentOfType<scf::ForOp>()) // before the next step overwrites what others may still read
      BarrierOp::create(b, loc);
  }
}
