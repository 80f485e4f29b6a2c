// SPDX-License-Identifier: Apache-2.0
#include "fusion/cost/Iterations.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;

SmallVector<int64_t> fusion::nominalSizes(Value value, int64_t unknown) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> symbols(graph::getNumSymbols(type), unknown);
  return llvm::map_to_vector(graph::getSizes(type),
                             [&](AffineExpr size) { return graph::evaluate(size, {}, symbols); });
}

double fusion::elementsOf(Value value, int64_t unknown) {
  double count = 1;
  for (int64_t size : nominalSizes(value, unknown))
    count *= static_cast<double>(size);
  return count;
}

double fusion::iterationsWithout(graph::ContractOp op, unsigned side, unsigned without, int64_t unknown) {
  double count = 1;
  SmallVector<int64_t> sizes = nominalSizes(op->getOperand(side), unknown);
  for (auto [dim, loop] : llvm::enumerate(op.getMap(side).getResults()))
    if (!op.getMap(without).isFunctionOfDim(cast<AffineDimExpr>(loop).getPosition()))
      count *= static_cast<double>(sizes[dim]);
  return count;
}
