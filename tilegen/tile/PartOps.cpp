// SPDX-License-Identifier: Apache-2.0
// Verifiers of what programs share: workspaces, parts of tiles, arrivals.
#include "tilegen/tile/TileLayouts.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright::tile;

LogicalResult WorkspaceOp::verify() {
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError() << "expected to stand in a tile.kernel itself because it is one of its parameters";
  if (!constantsOf(getType().getSizes()))
    return emitOpError() << "expected constant sizes because launches of all sizes share the memory, got " << getType();
  if (getZeroed() && (getType().getRank() != 1 || !getType().getElementType().isInteger(32)))
    return emitOpError() << "expected a row of i32 because all zeroed workspaces of a plan are one, got " << getType();
  return success();
}

static LogicalResult verifyLive(Operation *op, RankedTensorType tile, ArrayRef<int64_t> live) {
  bool fits = live.empty() || live.size() == size_t(tile.getRank());
  if (!fits || llvm::any_of(live, [](int64_t size) { return size < 1; }))
    return op->emitOpError() << "expected a positive live size for each of " << tile.getRank() << " dimensions, got ["
                             << live << "]";
  return success();
}

/// The workspace of tile.part_write and tile.part_read must hold parts of tiles of this type.
static LogicalResult verifyPart(Operation *op, Type type, Value buffer, ArrayRef<int64_t> live) {
  auto tile = cast<RankedTensorType>(type);
  auto workspace = buffer.getDefiningOp<WorkspaceOp>();
  if (!workspace || workspace.getZeroed())
    return op->emitOpError() << "expected a tile.workspace that is not zeroed because parts are left there";
  if (!isa_and_nonnull<LayoutAttr>(tile.getEncoding()))
    return op->emitOpError() << "expected a tile with a layout because registers are written as they lie, got " << tile;
  if (failed(verifyLive(op, tile, live)))
    return failure();
  BufferType held = workspace.getType();
  std::optional<SmallVector<int64_t>> sizes = constantsOf(held.getSizes());
  if (!sizes) // its own verifier says so
    return failure();
  if (sizes->size() != 3 || sizes->back() != heldElements(tile, live) || held.getElementType() != tile.getElementType())
    return op->emitOpError() << "expected a workspace of tiles, parts and " << heldElements(tile, live)
                             << " elements of " << tile.getElementType() << " because its threads hold that, got "
                             << held;
  return success();
}

LogicalResult PartWriteOp::verify() {
  return verifyPart(*this, getValue().getType(), getWorkspace(), getLive().value_or(ArrayRef<int64_t>()));
}
LogicalResult PartReadOp::verify() {
  return verifyPart(*this, getType(), getWorkspace(), getLive().value_or(ArrayRef<int64_t>()));
}

LogicalResult PartArriveOp::verify() {
  auto workspace = getArrivals().getDefiningOp<WorkspaceOp>();
  if (!workspace || !workspace.getZeroed())
    return emitOpError() << "expected a zeroed tile.workspace because arrivals are counted from 0";
  return success();
}

LogicalResult PartJoinOp::verify() {
  SmallVector<Type> both(getOperandTypes());
  both.append(getOperandTypes().begin(), getOperandTypes().end());
  if (getResultTypes() != getOperandTypes())
    return emitOpError() << "expected results of its operands' types because they are what all parts are together";
  if (getBody().getArgumentTypes() != TypeRange(both))
    return emitOpError() << "expected a body that takes its operands' types twice because it joins two parts";
  for (Type type : getOperandTypes())
    if (failed(verifyLive(*this, cast<RankedTensorType>(type), getLive().value_or(ArrayRef<int64_t>()))))
      return failure();
  auto yield = dyn_cast<PartYieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getOperandTypes() != getOperandTypes())
    return emitOpError() << "expected a body that yields its operands' types because two parts become one";
  return success();
}

SmallVector<Value> PartJoinOp::emitJoin(OpBuilder &builder, ValueRange soFar, ValueRange part) {
  IRMapping now;
  now.map(getBody().getArguments().take_front(soFar.size()), soFar);
  now.map(getBody().getArguments().drop_front(soFar.size()), part);
  Block &body = getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, now);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return now.lookupOrDefault(value); });
}

LogicalResult PartSumOp::verify() {
  if (!llvm::isPowerOf2_64(getParts()))
    return emitOpError() << "expected a power of two parts because layouts are cut bit by bit, got " << getParts();
  if (getValues().empty() || getValues().size() != getResults().size())
    return emitOpError() << "expected a share for each of its values, got " << getResults().size() << " of "
                         << getValues().size();
  for (auto [value, result] : llvm::zip(getValues().getTypes(), getResultTypes())) {
    auto tile = cast<RankedTensorType>(value), share = cast<RankedTensorType>(result);
    if (!isa_and_nonnull<LayoutAttr>(tile.getEncoding()))
      return emitOpError() << "expected a tile with a layout because registers are given away as they lie, got "
                           << tile;
    if (!cutDim(tile, share, getParts()))
      return emitOpError() << "expected one of " << getParts()
                           << " shares that are in the same registers of all threads, got " << share << " of " << tile;
  }
  return success();
}

LogicalResult PartReduceOp::verify() {
  auto type = cast<RankedTensorType>(getValue().getType());
  if (type.getNumElements() != 1 || !isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return emitOpError() << "expected a tile of one element with a layout because each block gives one value, got "
                         << type;
  return success();
}
