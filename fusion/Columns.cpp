// SPDX-License-Identifier: Apache-2.0
#include "fusion/Columns.h"

#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Rebuild.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Whether a value is computed from windows, element by element, or from more operations than are looked into. Those of
/// other kernels count as well, since this one may come to hold them.
static bool isMadeOfWindows(Value value) {
  constexpr size_t mostOperations = 256;
  llvm::SetVector<Operation *> open;
  auto add = [&](Value operand) {
    if (Operation *op = operand.getDefiningOp())
      open.insert(op);
  };
  add(value);
  for (size_t i = 0; i < open.size(); ++i) {
    if (isa<graph::WindowOp>(open[i]) || i == mostOperations)
      return true;
    if (normalize::isElementwise(open[i]) || isa<graph::ReshapeOp, graph::TransposeOp, graph::BroadcastOp>(open[i]))
      llvm::for_each(open[i]->getOperands(), add);
  }
  return false;
}

bool fusion::canHoldColumns(graph::ReduceOp op) {
  SmallVector<AffineExpr> sizes(graph::getSizes(cast<RankedTensorType>(op.getInput().getType())));
  int64_t length = 1;
  for (int64_t axis : op.getAxes()) {
    std::optional<int64_t> size = graph::constantSize(sizes[axis]);
    if (!size || *size > longestHeldColumn)
      return false;
    length *= static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(*size)));
    if (length > longestHeldColumn)
      return false;
  }
  return !isMadeOfWindows(op.getInput());
}
