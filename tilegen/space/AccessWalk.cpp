// SPDX-License-Identifier: Apache-2.0
// Follows coordinates from a kernel's outputs to its arguments.
//
//   %1 = graph.transpose %x perm [1, 0]      at (d0, d1) of %2, %x is read at (d1, d0)
//   %2 = math.exp %1
#include "tilegen/space/AccessWalk.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tilegen {

int64_t gatheredDim(graph::GatherOp gather, unsigned i) {
  unsigned dim = cast<RankedTensorType>(gather.getType()).getRank() + i;
  int64_t found = -1;
  for (auto [position, expr] : llvm::enumerate(gather.getMap().getResults())) {
    if (expr == getAffineDimExpr(dim, gather.getContext()) && found < 0)
      found = position;
    else if (dependsOn(expr, dim))
      return -1;
  }
  return found;
}

Coordinates throughAccess(graph::AccessOpInterface access, const Coordinates &at, unsigned loops) {
  Coordinates data{{}, at.indexSizes};
  Exprs dims = at.exprs;
  if (auto gather = dyn_cast<graph::GatherOp>(access.getOperation())) {
    Exprs sizes = graph::getSizes(gather.getData());
    for (unsigned i = 0; i < gather.getIndices().size(); ++i) {
      dims.push_back(getAffineDimExpr(loops + data.indexSizes.size(), access.getContext()));
      int64_t dim = gatheredDim(gather, i);
      data.indexSizes.push_back(dim < 0 ? AffineExpr() : sizes[dim]);
    }
  }
  for (AffineExpr expr : access.getAccessMap().getResults())
    data.exprs.push_back(expr.replaceDims(dims));
  return data;
}

AffineExpr concatOffset(graph::ConcatOp concat, unsigned i) {
  AffineExpr offset = getAffineConstantExpr(0, concat.getContext());
  for (Value input : concat.getInputs().take_front(i))
    offset = offset + graph::getSizes(input)[concat.getAxis()];
  return offset;
}

Coordinates throughConcat(graph::ConcatOp concat, unsigned i, const Coordinates &at) {
  Coordinates input = at;
  input.exprs[concat.getAxis()] = input.exprs[concat.getAxis()] - concatOffset(concat, i);
  return input;
}

void AccessWalk::walk(Value value, const Coordinates &at, AtLoop atLoop) {
  std::vector<const void *> here{value.getAsOpaquePointer()};
  for (AffineExpr expr : at.exprs)
    here.push_back(expr.getAsOpaquePointer());
  if (!visited.insert(std::move(here)).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    accesses.push_back({argument.getArgNumber(), graph::getSizes(value), at.exprs, at.indexSizes});
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<graph::ReduceOp, graph::ContractOp>(op))
    return atLoop(op, at);
  if (auto concat = dyn_cast<graph::ConcatOp>(op)) {
    for (auto [i, input] : llvm::enumerate(concat.getInputs()))
      walk(input, throughConcat(concat, i, at), atLoop);
    return;
  }
  if (auto access = dyn_cast<graph::AccessOpInterface>(op)) {
    for (Value index : access.getIndexOperands())
      walk(index, at, atLoop);
    return walk(access.getData(), throughAccess(access, at, loops), atLoop);
  }
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      walk(operand, at, atLoop);
}

} // namespace tilewright::tilegen
