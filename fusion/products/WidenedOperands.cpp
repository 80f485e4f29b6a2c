// SPDX-License-Identifier: Apache-2.0
#include "fusion/products/WidenedOperands.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

/// The accesses from a conversion to `operand`, in this order, if there are any and nothing else reads them.
static SmallVector<Operation *> accessesOf(OpOperand &operand, arith::ExtFOp &widened) {
  SmallVector<Operation *> accesses;
  Value value = operand.get();
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    widened = dyn_cast_or_null<arith::ExtFOp>(op);
    if (widened)
      return accesses;
    if (!op || !isa<graph::ReshapeOp, graph::TransposeOp, graph::BroadcastOp, graph::SliceOp>(op))
      break;
    accesses.insert(accesses.begin(), op);
    value = cast<graph::AccessOpInterface>(op).getData();
  }
  return {};
}

static void narrow(OpOperand &operand) {
  arith::ExtFOp widened;
  SmallVector<Operation *> accesses = accessesOf(operand, widened);
  if (accesses.empty())
    return;
  Type wide = operand.get().getType(), half = getElementTypeOrSelf(widened.getIn());
  widened.replaceAllUsesWith(widened.getIn());
  for (Operation *access : accesses) {
    Value result = access->getResult(0);
    result.setType(graph::withElementType(cast<RankedTensorType>(result.getType()), half));
  }
  widened->moveAfter(accesses.back());
  widened.getInMutable().assign(operand.get());
  widened.getResult().setType(cast<RankedTensorType>(wide));
  operand.set(widened);
}

void fusion::narrowAccesses(func::FuncOp main) {
  main.walk([](graph::ContractOp contract) {
    for (OpOperand &operand : contract->getOpOperands())
      narrow(operand);
  });
}
