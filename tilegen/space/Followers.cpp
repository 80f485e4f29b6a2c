// SPDX-License-Identifier: Apache-2.0
// Reshapes, transposes and elementwise operations on the way from a contraction.
#include "tilegen/space/Followers.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tilegen {

/// The coordinates behind a reshape. Reshapes in a row count as one, so that a reshape and its inverse lead to the same
/// coordinates without any proof.
Exprs Followers::throughReshape(graph::ReshapeOp reshape) const {
  Value data = reshape.getData();
  for (auto before = data.getDefiningOp<graph::ReshapeOp>(); before && find(before.getData());
       before = data.getDefiningOp<graph::ReshapeOp>())
    data = before.getData();
  if (graph::getSizes(data) == graph::getSizes(reshape.getResult()))
    return known.at(data);
  return delinearize(linearize(reshape.getContext(), known.at(data), graph::getSizes(data)),
                     graph::getSizes(reshape.getResult()));
}

/// Whether the coordinates are equal: a loop of one iteration is at 0.
bool Followers::isSamePoint(const Exprs &a, const Exprs &b) const {
  Exprs at = loopExprs(nest.context, nest.loops.size());
  for (auto [expr, loop] : llvm::zip_equal(at, nest.loops))
    if (loop.size == getAffineConstantExpr(1, nest.context))
      expr = getAffineConstantExpr(0, nest.context);
  return llvm::equal(a, b,
                     [&](AffineExpr x, AffineExpr y) { return x == y || x.replaceDims(at) == y.replaceDims(at); });
}

LogicalResult Followers::visit(Operation *op) {
  auto access = dyn_cast<graph::AccessOpInterface>(op);
  Exprs coordinates;
  if (access && find(access.getData())) {
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      for (int64_t dim : transpose.getPerm())
        coordinates.push_back(known.at(access.getData())[dim]);
    } else if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
      for (AffineExpr expr : throughReshape(reshape))
        coordinates.push_back(facts.simplify(expr));
    } else {
      return failure();
    }
    known[op->getResult(0)] = std::move(coordinates);
    return success();
  }
  const Exprs *common = nullptr;
  for (Value operand : op->getOperands())
    if (const Exprs *here = find(operand)) {
      if (common && !isSamePoint(*common, *here))
        return failure();
      common = here;
    }
  if (!common)
    return success();
  if (isa<graph::ConcatOp, graph::ReduceOp, graph::ContractOp>(op))
    return failure();
  coordinates = *common; // inserting may move what `common` points to
  known[op->getResult(0)] = std::move(coordinates);
  return success();
}

} // namespace tilewright::tilegen
