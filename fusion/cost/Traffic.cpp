// SPDX-License-Identifier: Apache-2.0
// Counts arithmetic and bytes.
#include "fusion/cost/Traffic.h"

#include "fusion/cost/CostModel.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static AffineExpr countOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return graph::productOf(type.getContext(), graph::getSizes(tensor));
}

AffineExpr fusion::bytesOf(Type type) {
  unsigned bits = cast<RankedTensorType>(type).getElementTypeBitWidth();
  return countOf(type) * static_cast<int64_t>(std::max(1u, bits / 8)); // bool is a byte
}

/// Each loop is a batch, m, n or k loop depending on which of lhs, rhs and result have it.
static Product productOf(graph::ContractOp op) {
  AffineExpr one = getAffineConstantExpr(1, op.getContext());
  Product product{{one, one, one, one}, cast<RankedTensorType>(op.getLhs().getType()).getElementType()};
  const Value tensors[] = {op.getLhs(), op.getRhs(), op.getResult()};
  for (unsigned loop = 0; loop < op.getMap(0).getNumDims(); ++loop) {
    bool named[3];
    AffineExpr size = one;
    for (unsigned i = 0; i < 3; ++i) {
      std::optional<unsigned> dim = op.getMap(i).getResultPosition(getAffineDimExpr(loop, op.getContext()));
      named[i] = dim.has_value();
      if (dim)
        size = graph::getSizes(cast<RankedTensorType>(tensors[i].getType()))[*dim];
    }
    unsigned role = !named[2] ? 3 : named[0] && named[1] ? 0 : named[0] ? 1 : 2;
    product.sizes[role] = graph::canonicalSize(product.sizes[role] * size);
  }
  return product;
}

SmallVector<Product> fusion::productsOf(graph::KernelOp kernel) {
  SmallVector<Product> products;
  for (auto contract : kernel.getBody().front().getOps<graph::ContractOp>())
    products.push_back(productOf(contract));
  return products;
}

/// A multiplication and an addition for each step of all loops.
static AffineExpr flopsOf(graph::ContractOp op) {
  AffineExpr flops = getAffineConstantExpr(2, op.getContext());
  for (AffineExpr size : productOf(op).sizes)
    flops = flops * size;
  return flops;
}

AffineExpr fusion::flopsOf(graph::KernelOp kernel) {
  AffineExpr flops = getAffineConstantExpr(0, kernel.getContext());
  for (Operation &op : kernel.getBody().front()) {
    if (auto contract = dyn_cast<graph::ContractOp>(op))
      flops = flops + ::flopsOf(contract);
    else if (auto reduce = dyn_cast<graph::ReduceOp>(op))
      flops = flops + countOf(reduce.getInput().getType());
    else if (isElementwise(&op) && elementWork(&op) > 0)
      flops = flops + countOf(op.getResult(0).getType());
  }
  return graph::canonicalSize(flops);
}

/// The bytes of `argument` that are read: all of them, unless every use is a slice or gather.
static AffineExpr bytesRead(BlockArgument argument) {
  AffineExpr whole = bytesOf(argument.getType()), parts = getAffineConstantExpr(0, argument.getContext());
  for (Operation *user : argument.getUsers()) {
    auto gather = dyn_cast<graph::GatherOp>(user);
    if (!isa<graph::SliceOp>(user) && !(gather && gather.getData() == argument))
      return whole;
    unsigned bits = cast<RankedTensorType>(argument.getType()).getElementTypeBitWidth();
    parts = parts + countOf(user->getResult(0).getType()) * static_cast<int64_t>(std::max(1u, bits / 8));
  }
  // Overlapping slices, or gathers that read an element twice, do not read more than all of it.
  auto constantWhole = dyn_cast<AffineConstantExpr>(whole),
       constantParts = dyn_cast<AffineConstantExpr>(graph::canonicalSize(parts));
  return constantWhole && constantParts && constantWhole.getValue() < constantParts.getValue() ? whole : parts;
}

AffineExpr fusion::bytesOf(graph::KernelOp kernel) {
  AffineExpr bytes = getAffineConstantExpr(0, kernel.getContext());
  for (BlockArgument argument : kernel.getBody().front().getArguments())
    bytes = bytes + bytesRead(argument);
  for (Type result : kernel.getResultTypes())
    bytes = bytes + ::bytesOf(result);
  return graph::canonicalSize(bytes);
}
