// SPDX-License-Identifier: Apache-2.0
// The operations that combine elements: concat, reduce, contract.
#include "frontend/graph/Shapes.h"

using namespace mlir;
using namespace tilewright::graph;

namespace {

LogicalResult matches(Operation *op, FailureOr<RankedTensorType> expected) {
  if (failed(expected))
    return failure();
  if (*expected != op->getResult(0).getType())
    return op->emitOpError() << "expected the result " << *expected << " because of the operands, got "
                             << op->getResult(0).getType();
  return success();
}

} // namespace

LogicalResult ConcatOp::verify() {
  return matches(*this,
                 concatenatedType(getInputs().getTypes(), getAxis(), [&](const Twine &why) { emitOpError(why); }));
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

LogicalResult ReduceOp::verify() {
  auto input = llvm::cast<RankedTensorType>(getInput().getType());
  return matches(*this, reducedType(getKind(), input, getAxes(), [&](const Twine &why) { emitOpError(why); }));
}

LogicalResult ContractOp::verify() {
  auto lhs = llvm::cast<RankedTensorType>(getLhs().getType()), rhs = llvm::cast<RankedTensorType>(getRhs().getType());
  SmallVector<AffineMap> maps;
  for (Attribute map : getMaps())
    maps.push_back(llvm::cast<AffineMapAttr>(map).getValue());
  if ((getLhsUnsigned() || getRhsUnsigned()) && !lhs.getElementType().isInteger(8))
    return emitOpError() << "expected operands of i8 because one is said to be unsigned, got " << lhs;
  return matches(*this, contractedType(lhs, rhs, maps, [&](const Twine &why) { emitOpError(why); }));
}
