// SPDX-License-Identifier: Apache-2.0
// Verifiers of what programs with a loop of steps have; clusters of blocks.
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;

LogicalResult BufferSliceOp::verify() {
  BufferType from = getBuffer().getType(), to = getType();
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "expected a slice of the buffer's elements, " << from.getElementType() << ", got "
                         << to.getElementType();
  return success();
}

LogicalResult StepEndOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  auto loop = dyn_cast<scf::ForOp>((*this)->getParentOp());
  if (!kernel || !loop || loop->getParentOp() != kernel)
    return emitOpError() << "expected to stand in a loop around the whole program because all threads must come here";
  auto blocks = static_cast<int64_t>(getBlocks());
  if (blocks != kernel.getClusterBlocks())
    return emitOpError() << "expected " << kernel.getClusterBlocks()
                         << " blocks as elsewhere in the kernel because a block is in one cluster, got " << blocks;
  if (!kernel.getGrid().getResult(0).isMultipleOf(blocks))
    return emitOpError() << "expected a multiple of " << blocks << " blocks along x because clusters are whole, got "
                         << kernel.getGridAttr();
  return success();
}

int64_t KernelOp::getClusterBlocks() {
  int64_t blocks = 1;
  walk([&](Operation *op) {
    if (auto sum = dyn_cast<PartSumOp>(op))
      blocks = static_cast<int64_t>(sum.getParts());
    else if (auto reduce = dyn_cast<PartReduceOp>(op))
      blocks = static_cast<int64_t>(reduce.getParts());
    else if (auto end = dyn_cast<StepEndOp>(op))
      blocks = static_cast<int64_t>(end.getBlocks());
  });
  return blocks;
}
