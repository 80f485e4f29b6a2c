// Operands of tile.dot go through shared memory.
//
//   %a = ... : tensor<128x32xf16, #blocked>                   %sa = tile.shared_alloc ; %sb = tile.shared_alloc
//   %b = ... : tensor<32x128xf16, #blocked>                   tile.shared_write %a, %sa[%c0] ; tile.shared_write %b, %sb[%c0]
//   %d = tile.dot %a, %b, %c                       ->         tile.barrier
//                                                             %fa = tile.shared_read %sa[%c0] ; %fb = tile.shared_read
//                                                             %sb[%c0]
//                                                             %d = tile.dot %fa, %fb, %c
//                                                             %d' = tile.dot_wait 0 of %d     (where it reads shared memory by itself)
//                                                             tile.barrier                    (in loops)
#include "tilegen/place/Place.h"

using namespace mlir;
using namespace tilewright::tile;

/// The layout that the instruction reads an operand in.
static Layout operandLayout(DotOp dot, Operand operand, RankedTensorType type) {
  auto acc = cast<RankedTensorType>(dot.getAcc().getType());
  TileShape shape(type.getShape()), accShape(acc.getShape());
  Layout accLayout = layoutOf(acc);
  if (const Fragments *fragments = fragmentsOf(dot)) {
    unsigned warps = 1u << accLayout.warp.size();
    return fragmentLayout(*fragments, operand, shape, spreadWarps(*fragments, accShape, warps), warps);
  }
  return multiplyAddOperand(accLayout, accShape, operand, shape);
}

/// Rows of shared memory run along k where fragments are read along k only; else as the loading threads hold them.
static unsigned fastDimension(DotOp dot, bool isLhs, RankedTensorType type) {
  unsigned rank = type.getRank(), k = isLhs ? rank - 1 : rank - 2;
  if (const Fragments *fragments = fragmentsOf(dot); fragments && fragments->readsAlongK())
    return k;
  Layout layout = layoutOf(type);
  TileShape shape(type.getShape());
  uint32_t first = layout.reg.empty() ? layout.lane.front() : layout.reg.front();
  return shape.coordinate(first, rank - 2) ? rank - 2 : rank - 1;
}

void tilewright::tile::stageOperands(KernelOp kernel) {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  for (DotOp dot : dots) {
    OpBuilder start = OpBuilder::atBlockBegin(&kernel.getBody().front()), b(dot);
    Location loc = dot.getLoc();
    Value zero = arith::ConstantIndexOp::create(start, loc, 0);
    SmallVector<Value> rooms;
    for (bool isLhs : {true, false}) {
      Value value = isLhs ? dot.getLhs() : dot.getRhs();
      auto type = cast<RankedTensorType>(value.getType());
      auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
      auto shared = SharedType::get(b.getContext(), plain, fastDimension(dot, isLhs, type), /*slots=*/1);
      rooms.push_back(SharedAllocOp::create(start, loc, shared, 0));
      SharedWriteOp::create(b, loc, value, rooms.back(), zero);
    }
    BarrierOp::create(b, loc);
    for (bool isLhs : {true, false}) {
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
    if (dot->getParentOfType<scf::ForOp>()) // nobody writes the next step's before all have read this one's
      BarrierOp::create(b, loc);
  }
}
