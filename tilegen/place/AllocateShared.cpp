// Gives shared memory addresses: first the slots of staged operands, then what reductions across warps exchange.
#include "tilegen/place/Place.h"

using namespace mlir;
using namespace tilewright::tile;

constexpr int64_t bankRowBytes = 128, swizzleBytes = 8 * bankRowBytes; // after which the pattern of chunks repeats

/// Bytes that the warps of a reduction exchange: for each element of the result, one partial value of each warp along
/// the dimension.
static int64_t exchangedBytes(ReduceOp reduce) {
  auto input = cast<RankedTensorType>(reduce.getInput().getType());
  TileShape shape(input.getShape());
  int64_t partials = 1;
  for (uint32_t basis : layoutOf(input).warp)
    if (basis & shape.mask(reduce.getDim()))
      partials *= 2;
  int64_t bytes = llvm::divideCeil(input.getElementTypeBitWidth(), 8);
  return partials == 1 ? 0 : partials * cast<RankedTensorType>(reduce.getType()).getNumElements() * bytes;
}

LogicalResult tilewright::tile::allocateShared(KernelOp kernel, const PlaceFacts &facts) {
  int64_t used = 0;
  auto take = [&](int64_t bytes, int64_t alignment) {
    int64_t offset = llvm::alignTo(used, alignment);
    used = offset + llvm::alignTo(bytes, bankRowBytes);
    return offset;
  };
  kernel.walk([&](SharedAllocOp alloc) {
    int64_t slot = alloc.getType().getSlotBytes();
    alloc.setOffset(take(alloc.getType().getBytes(), std::clamp<int64_t>(slot, bankRowBytes, swizzleBytes)));
  });
  OpBuilder b(kernel.getContext());
  kernel.walk([&](ReduceOp reduce) {
    if (int64_t bytes = exchangedBytes(reduce))
      reduce->setAttr("scratch", b.getI64IntegerAttr(take(bytes, bankRowBytes)));
  });
  if (used > facts.sharedBytes)
    return kernel.emitOpError() << "expected at most " << facts.sharedBytes
                                << " bytes of shared memory because a block has that much, got " << used
                                << "; use smaller tiles or fewer stages";
  auto schedule = kernel->getAttrOfType<ScheduleAttr>("schedule");
  kernel->setAttr("threads", b.getI64IntegerAttr((schedule ? schedule.getWarps() : 4) * facts.lanes));
  kernel->setAttr("shared_bytes", b.getI64IntegerAttr(used));
  return success();
}
