// SPDX-License-Identifier: Apache-2.0
// Programs with a loop of steps: slices of buffers are addresses, and the blocks of a cluster wait for each other.
#include "backend/gpu/KernelDistributor.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

/// The address of the slice: `index` times its bytes behind the buffer's.
void KernelDistributor::lowerBufferSlice(BufferSliceOp op) {
  AffineMap sizes = op.getType().getSizes();
  AffineExpr elements = graph::productOf(op.getContext(), sizes.getResults());
  IntegerType type = b_.getI64Type();
  SmallVector<Value> symbolValues = symbols(type);
  auto known = symbolFacts(kernel_);
  Value number = arith::IndexCastOp::create(b_, type, scalar(op.getIndex())),
        size = IndexEmitter(b_, type, {}, symbolValues, {}, known).emit(elements);
  Value distance = arith::MulIOp::create(b_, number, size), buffer = scalar(op.getBuffer());
  scalars_.map(op.getResult(), LLVM::GEPOp::create(b_, buffer.getType(), op.getType().getElementType(), buffer,
                                                   ArrayRef<LLVM::GEPArg>{distance})
                                   .getResult());
}

/// One of two buffers.
void KernelDistributor::lowerChoice(arith::SelectOp op) {
  scalars_.map(op.getResult(), arith::SelectOp::create(b_, scalar(op.getCondition()), scalar(op.getTrueValue()),
                                                       scalar(op.getFalseValue()))
                                   .getResult());
}

void KernelDistributor::lowerStepEnd(StepEndOp op) {
  if (op.getBlocks() == 1 || faults_.dropBarriers)
    return barrier();
  target_.arriveInCluster(b_, /*releases=*/true);
  target_.waitForCluster(b_);
}
