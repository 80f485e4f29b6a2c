// SPDX-License-Identifier: Apache-2.0
// Verifiers of what programs with a loop of steps have; clusters of blocks.
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

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

int64_t tilewright::tile::blocksOfCluster(Operation *op) {
  uint64_t blocks = llvm::TypeSwitch<Operation *, uint64_t>(op)
                        .Case<PartSumOp, PartReduceOp>([](auto part) { return part.getParts(); })
                        .Case([](StepEndOp end) { return end.getBlocks(); })
                        .Default(uint64_t(1));
  return static_cast<int64_t>(blocks);
}

int64_t KernelOp::getClusterBlocks() {
  int64_t blocks = 1;
  walk([&](Operation *op) { blocks = std::max(blocks, blocksOfCluster(op)); });
  return blocks;
}
