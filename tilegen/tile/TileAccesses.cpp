// SPDX-License-Identifier: Apache-2.0
// What the verifiers of loads, stores and copies have in common.
#include "tilegen/tile/TileAccesses.h"

using namespace mlir;
using namespace tilewright::tile;

static bool hasAttribute(Value buffer, StringRef attribute) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  return kernel && kernel.getArgAttr(argument.getArgNumber(), attribute);
}

bool tilewright::tile::isConstant(Value buffer) { return hasAttribute(buffer, graph::constantAttr); }

bool tilewright::tile::isModelInput(Value buffer) { return hasAttribute(buffer, graph::inputAttr); }

bool tilewright::tile::isStreamed(Value buffer) { return hasAttribute(buffer, streamedAttr); }

LogicalResult tilewright::tile::verifySymbols(Operation *op, AffineMap map, StringRef what) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (kernel && map.getNumSymbols() > kernel.getNumSymbols())
    return op->emitOpError() << "expected at most " << kernel.getNumSymbols() << " symbols in its " << what
                             << " because the kernel has that many, got " << map.getNumSymbols();
  return success();
}

LogicalResult tilewright::tile::verifySizesMap(Operation *op, AffineMap map, unsigned results, StringRef what) {
  if (map.getNumDims() != 0 || map.getNumResults() != results)
    return op->emitOpError() << "expected " << what << " with no dimensions and " << results << " results, got "
                             << map.getNumDims() << " and " << map.getNumResults();
  return verifySymbols(op, map, what);
}

LogicalResult tilewright::tile::verifyAccess(Operation *op, RankedTensorType tile, BufferType buffer, unsigned offsets,
                                             unsigned indices, AffineMap bounds, AffineMap map) {
  unsigned rank = tile.getRank();
  if (offsets != rank)
    return op->emitOpError() << "expected " << rank << " offsets because the tile has that rank, got " << offsets;
  if (failed(verifySizesMap(op, bounds, rank, "bounds")))
    return failure();
  if (map.getNumDims() != rank + indices)
    return op->emitOpError() << "expected a map of " << rank + indices
                             << " dimensions (the tile's and one per index), got " << map.getNumDims();
  if (map.getNumResults() != buffer.getRank())
    return op->emitOpError() << "expected a map to " << buffer.getRank()
                             << " coordinates because the buffer has that rank, got " << map.getNumResults();
  Type stored = buffer.getElementType(), held = tile.getElementType();
  if (stored != held && !(held.isInteger(1) && stored.isInteger(8)))
    return op->emitOpError() << "expected tile elements of type " << stored
                             << " as in the buffer (i1 for bool in i8), got " << held;
  return verifySymbols(op, map, "map");
}

LogicalResult tilewright::tile::verifyGuard(Operation *op, ArrayRef<int64_t> guard, BufferType buffer) {
  for (int64_t dim : guard)
    if (dim < 0 || dim >= buffer.getRank())
      return op->emitOpError() << "expected guarded dimensions from 0 to " << buffer.getRank() - 1 << ", got " << dim;
  return success();
}
