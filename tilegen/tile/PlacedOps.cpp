// SPDX-License-Identifier: Apache-2.0
// Verifiers of what placing adds: layouts, shared memory and the operations on it.
#include "tilegen/tile/TileAccesses.h"
#include "tilegen/tile/TileLayouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

//===- Layouts ----------------------------------------------------------------------------------------------------===//

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> reg,
                                 ArrayRef<int64_t> lane, ArrayRef<int64_t> warp) {
  for (ArrayRef<int64_t> bases : {reg, lane, warp})
    for (int64_t basis : bases)
      if (basis != 0 && (basis < 0 || basis > std::numeric_limits<int32_t>::max() || !llvm::isPowerOf2_64(basis)))
        return emitError() << "expected 0 or a bit of an element's index for each bit of a place, got " << basis;
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (!TileShape::valid(shape))
    return emitError() << "expected tile sizes that are powers of two because layouts are maps of bits, got [" << shape
                       << "]";
  int64_t found = 0, all = TileShape(shape).elements() - 1;
  for (ArrayRef<int64_t> bases : {getReg(), getLane(), getWarp()})
    for (int64_t basis : bases) {
      if (basis & found || basis & ~all)
        return emitError() << "expected each bit of an index below " << all + 1 << " once, got " << basis
                           << (basis & found ? " twice" : "");
      found |= basis;
    }
  if (found != all)
    return emitError() << "expected each bit of an index below " << all + 1 << " once, missed " << (all & ~found);
  return success();
}

//===- Shared memory ----------------------------------------------------------------------------------------------===//

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType tile, int64_t fast,
                                 int64_t slots) {
  if (tile.getEncoding() || tile.getRank() < 2 || !TileShape::valid(tile.getShape()) ||
      !tile.getElementType().isIntOrFloat())
    return emitError() << "expected a tile of numbers without a layout, of two dimensions or more whose sizes are "
                          "powers of two, got "
                       << tile;
  if (fast < 0 || fast >= tile.getRank())
    return emitError() << "expected rows along a dimension from 0 to " << tile.getRank() - 1 << ", got " << fast;
  if (slots < 1)
    return emitError() << "expected at least one slot, got " << slots;
  return success();
}

LogicalResult SharedAllocOp::verify() {
  SharedType type = getType();
  int64_t offset = getOffset();
  if (offset % type.getAlignment())
    return emitOpError() << "expected an offset that is a multiple of " << type.getAlignment()
                         << " because the chunks of its rows are permuted, got " << offset;
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && kernel.isPlaced() && offset + type.getBytes() > static_cast<int64_t>(*kernel.getSharedBytes()))
    return emitOpError() << "expected an end within the kernel's " << *kernel.getSharedBytes()
                         << " bytes of shared memory, got " << offset + type.getBytes();
  return success();
}

static LogicalResult verifySlot(Operation *op, SharedType shared, Value slot) {
  std::optional<int64_t> number = getConstantIntValue(slot);
  if (number && (*number < 0 || *number >= shared.getSlots()))
    return op->emitOpError() << "expected a slot from 0 to " << shared.getSlots() - 1 << ", got " << *number;
  return success();
}

/// A tile in registers must have the shape and element type of the slot, and a layout.
static LogicalResult verifyTransfer(Operation *op, Type held, SharedType shared, Value slot) {
  auto type = cast<RankedTensorType>(held);
  RankedTensorType stored = shared.getTile();
  if (type.getShape() != stored.getShape() || type.getElementType() != stored.getElementType() ||
      !isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return op->emitOpError() << "expected a " << stored << " with a layout because the slots hold that, got " << type;
  return verifySlot(op, shared, slot);
}

LogicalResult SharedCopyOp::verify() {
  SharedType shared = getShared().getType();
  RankedTensorType tile = shared.getTile();
  BufferType buffer = getBuffer().getType();
  if (failed(verifyAccess(*this, tile, buffer, getOffsets().size(), 0, getBounds(), getMap())) ||
      failed(verifyGuard(*this, getGuard(), buffer)))
    return failure();
  if (tile.getElementType() != buffer.getElementType())
    return emitOpError() << "expected elements of type " << buffer.getElementType()
                         << " because nothing is converted on the way, got " << tile.getElementType();
  if (failed(getLayout().verifyEncoding(tile.getShape(), tile.getElementType(), [&] { return emitOpError(); })))
    return failure();
  return verifySlot(*this, shared, getSlot());
}

LogicalResult SharedWriteOp::verify() {
  return verifyTransfer(*this, getValue().getType(), getShared().getType(), getSlot());
}

LogicalResult SharedReadOp::verify() {
  for (Operation *user : (*this)->getUsers())
    if (!isa<DotOp>(user))
      return emitOpError() << "expected no use but by tile.dot, which reads it step by step, got one by "
                           << user->getName();
  return verifyTransfer(*this, getResult().getType(), getShared().getType(), getSlot());
}

LogicalResult SharedLoadOp::verify() {
  return verifyTransfer(*this, getResult().getType(), getShared().getType(), getSlot());
}

/// If only some warps of a role wait for one another, the role's warps must divide into at most `mostGroups` such
/// groups, each of which has a hardware barrier of its own.
LogicalResult BarrierOp::verify() {
  if (!getWarps())
    return success();
  Region *body = (*this)->getParentRegion();
  while (body && !isa<RolesOp>(body->getParentOp()))
    body = body->getParentRegion();
  if (!body)
    return emitOpError("expected to stand in a role because only roles have barriers for some of their warps");
  auto roles = cast<RolesOp>(body->getParentOp());
  int64_t all = roles.getWarps()[body->getRegionNumber()], each = *getWarps();
  if (all % each || all / each > mostGroups)
    return emitOpError() << "expected to divide the " << all << " warps of its role into " << mostGroups
                         << " groups at most, got " << each << " warps";
  return success();
}

//===- Contractions -----------------------------------------------------------------------------------------------===//

LogicalResult DotWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getAccumulators().getTypes());
  return success();
}

/// How many products are started behind `op`, up to `end` or, if that is null or not there, to the end of its block.
/// (Whether values are used behind their definition is verified later.)
static int64_t productsBehind(Operation *op, Operation *end) {
  int64_t count = 0;
  for (op = op->getNextNode(); op && op != end; op = op->getNextNode())
    op->walk([&](DotOp) { ++count; });
  return count;
}

/// How many products are started before `wait` and after the one that makes `accumulators`, which may be the last step
/// of a loop; nullopt if that is elsewhere.
static std::optional<int64_t> laterProducts(Value accumulators, DotWaitOp wait) {
  Operation *source = accumulators.getDefiningOp();
  if (!source || source->getBlock() != wait->getBlock())
    return std::nullopt;
  int64_t behind = productsBehind(source, wait);
  auto loop = dyn_cast<scf::ForOp>(source);
  if (!loop)
    return isa<DotOp>(source) ? std::optional(behind) : std::nullopt;
  Operation *inLoop = loop.getYieldedValues()[cast<OpResult>(accumulators).getResultNumber()].getDefiningOp();
  if (!isa_and_nonnull<DotOp>(inLoop) || inLoop->getBlock() != loop.getBody())
    return std::nullopt;
  return behind + productsBehind(inLoop, nullptr);
}

LogicalResult DotWaitOp::verify() {
  for (Value accumulators : getAccumulators()) {
    auto type = cast<RankedTensorType>(accumulators.getType());
    if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
      return emitOpError() << "expected accumulators with layouts because only placed ones are waited for, got "
                           << type;
    std::optional<int64_t> later = laterProducts(accumulators, *this);
    if (later && static_cast<int64_t>(getPending()) > *later)
      return emitOpError() << "expected at most " << *later
                           << " pending because so many tile.dot are started after the one that makes its "
                              "accumulators, got "
                           << getPending();
  }
  return success();
}
