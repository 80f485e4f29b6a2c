// SPDX-License-Identifier: Apache-2.0
// Operands and outputs of a contraction.
#include "tilegen/roots/Contraction.h"

using namespace mlir;

namespace tilewright::tilegen {

Value ContractionOperands::materialize(Value operand, ArrayRef<AffineExpr> coordinates, const Frame &dims,
                                       ArrayRef<unsigned> masked) {
  Type element = cast<RankedTensorType>(operand.getType()).getElementType();
  auto zero = cast<TypedAttr>(emitter.getBuilder().getZeroAttr(element));
  return values.materializeMasked(operand, {{Exprs(coordinates), {}}, {}}, dims, masked, zero);
}

LogicalResult ContractionOperands::storeOutputs(ValueRange sums, const Frame &dims) {
  for (auto [op, sum] : llvm::zip_equal(space.loopOps, sums))
    values.resolve(op->getResult(0), sum);
  for (unsigned i = 0; i < space.outputs.size(); ++i)
    if (failed(values.store(i, dims)))
      return failure();
  return success();
}

} // namespace tilewright::tilegen
