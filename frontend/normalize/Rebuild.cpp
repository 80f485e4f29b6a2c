// SPDX-License-Identifier: Apache-2.0
// Creates accesses and elementwise operations with other sizes.
#include "frontend/normalize/Rebuild.h"

#include "frontend/graph/Sizes.h"
#include "runtime/Tensor.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <cstring>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

RankedTensorType normalize::tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }
Sizes normalize::sizesOf(Value value) { return graph::getSizes(tensorOf(value)); }
AffineExpr normalize::countOf(Value value) { return graph::productOf(value.getContext(), sizesOf(value)); }
bool normalize::isUnit(AffineExpr size) { return graph::constantSize(size) == 1; }

bool normalize::isElementwise(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op) &&
         op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
}

SmallVector<int64_t> normalize::inverse(ArrayRef<int64_t> perm) {
  SmallVector<int64_t> result(perm.size());
  for (auto [i, dim] : llvm::enumerate(perm))
    result[dim] = i;
  return result;
}

std::span<const std::byte> normalize::elementsOf(graph::ConstantOp constant) {
  auto &pool = constant.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  std::span<const std::byte> bytes = pool.get(constant.getKey());
  auto type = cast<RankedTensorType>(constant.getType());
  size_t elementBytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  return bytes.size() == type.getNumElements() * elementBytes ? bytes : std::span<const std::byte>();
}

std::vector<std::byte> normalize::permuted(std::span<const std::byte> bytes, ArrayRef<int64_t> shape,
                                           ArrayRef<int64_t> perm, size_t elementBytes) {
  std::vector<std::byte> result(bytes.size());
  SmallVector<int64_t> strides(shape.size(), 1), index(shape.size(), 0);
  SmallVector<int64_t> sizes = llvm::map_to_vector(perm, [&](int64_t dim) { return shape[dim]; });
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  for (size_t at = 0; at < result.size(); at += elementBytes) {
    int64_t from = 0;
    for (auto [i, dim] : llvm::enumerate(perm))
      from += index[i] * strides[dim];
    std::memcpy(result.data() + at, bytes.data() + from * elementBytes, elementBytes);
    advanceIndex(index, sizes);
  }
  return result;
}

RankedTensorType Rebuild::type(ArrayRef<AffineExpr> sizes, Value elementsLike) const {
  return graph::makeTensorType(context(), sizes, tensorOf(elementsLike).getElementType());
}

/// A splat constant of another shape, instead of an access of `data`; null if that is not a splat.
static Value splatOf(PatternRewriter &rewriter, Value data, RankedTensorType type) {
  auto constant = data.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !type.hasStaticShape())
    return {};
  return arith::ConstantOp::create(rewriter, data.getLoc(),
                                   DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
}

Value Rebuild::reshape(Value data, ArrayRef<AffineExpr> sizes) {
  while (auto before = data.getDefiningOp<graph::ReshapeOp>())
    data = before.getData();
  RankedTensorType target = type(sizes, data);
  if (data.getType() == target)
    return data;
  if (Value splat = splatOf(rewriter, data, target))
    return splat;
  return named(graph::ReshapeOp::create(rewriter, origin->getLoc(), target, data));
}

Value Rebuild::transpose(Value data, ArrayRef<int64_t> perm) {
  if (llvm::is_sorted(perm))
    return data;
  Sizes from = sizesOf(data), to;
  for (int64_t dim : perm)
    to.push_back(from[dim]);
  RankedTensorType target = type(to, data);
  if (Value splat = splatOf(rewriter, data, target))
    return splat;
  return named(graph::TransposeOp::create(rewriter, origin->getLoc(), target, data, perm));
}

Value Rebuild::broadcast(Value data, ArrayRef<int64_t> dims, ArrayRef<AffineExpr> sizes) {
  RankedTensorType target = type(sizes, data);
  if (data.getType() == target)
    return data;
  if (Value splat = splatOf(rewriter, data, target))
    return splat;
  return named(graph::BroadcastOp::create(rewriter, origin->getLoc(), target, data, dims));
}

Value Rebuild::roll(Value data, ArrayRef<AffineExpr> offsets) {
  AffineMap map = AffineMap::inferFromExprList(offsets, context()).front();
  return named(graph::RollOp::create(rewriter, origin->getLoc(), data.getType(), data, map));
}

Value Rebuild::reduce(graph::ReduceOp like, Value input, ArrayRef<int64_t> axes) {
  Sizes sizes;
  for (auto [dim, size] : llvm::enumerate(sizesOf(input)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      sizes.push_back(size);
  return named(
      graph::ReduceOp::create(rewriter, origin->getLoc(), type(sizes, like.getResult()), like.getKind(), input, axes));
}

Value Rebuild::elementwise(Operation *op, ValueRange operands, ArrayRef<AffineExpr> sizes) {
  OperationState state(op->getLoc(), op->getName(), operands, type(sizes, op->getResult(0)), op->getAttrs());
  return rewriter.create(state)->getResult(0);
}
