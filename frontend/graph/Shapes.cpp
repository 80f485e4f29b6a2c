// SPDX-License-Identifier: Apache-2.0
// Result types of transpose, concat, reduce and contract, and the access map of reshape.
#include "frontend/graph/Shapes.h"

using namespace mlir;

namespace tilewright::graph {

FailureOr<RankedTensorType> transposedType(RankedTensorType data, ArrayRef<int64_t> perm, ShapeError error) {
  int64_t rank = data.getRank();
  llvm::SmallBitVector seen(rank);
  if (static_cast<int64_t>(perm.size()) != rank)
    return error("expected " + llvm::Twine(rank) + " permuted dimensions because of the operand's rank, got " +
                 llvm::Twine(perm.size())),
           failure();
  SmallVector<AffineExpr> from = getSizes(data), sizes;
  for (int64_t dim : perm) {
    if (dim < 0 || dim >= rank || seen.test(dim))
      return error("expected a permutation of 0 to " + llvm::Twine(rank - 1) + ", got " + llvm::Twine(dim) +
                   " out of range or twice"),
             failure();
    seen.set(dim);
    sizes.push_back(from[dim]);
  }
  return makeTensorType(data.getContext(), sizes, data.getElementType());
}

FailureOr<RankedTensorType> concatenatedType(TypeRange inputs, int64_t axis, ShapeError error) {
  if (inputs.empty())
    return error("expected at least one operand, got none"), failure();
  auto first = llvm::cast<RankedTensorType>(inputs.front());
  if (axis < 0 || axis >= first.getRank())
    return error("expected an axis below the rank " + llvm::Twine(first.getRank()) + ", got " + llvm::Twine(axis)),
           failure();
  SmallVector<AffineExpr> sizes = getSizes(first);
  for (auto [i, type] : llvm::enumerate(inputs.drop_front())) {
    auto other = llvm::cast<RankedTensorType>(type);
    if (other.getRank() != first.getRank() || other.getElementType() != first.getElementType())
      return error("expected operands of one rank and element type, got operand " + llvm::Twine(i + 1) + " of another"),
             failure();
    for (auto [dim, size] : llvm::enumerate(getSizes(other))) {
      if (static_cast<int64_t>(dim) == axis)
        sizes[dim] = sizes[dim] + size;
      else if (sizes[dim] != size)
        return error("expected dimension " + llvm::Twine(dim) + " = " + printSize(sizes[dim]) +
                     " as in the first operand, operand " + llvm::Twine(i + 1) + " has " + printSize(size)),
               failure();
    }
  }
  return makeTensorType(first.getContext(), sizes, first.getElementType());
}

FailureOr<RankedTensorType> reducedType(ReduceKind kind, RankedTensorType input, ArrayRef<int64_t> axes,
                                        ShapeError error) {
  SmallVector<AffineExpr> sizes;
  int64_t next = 0;
  for (auto [dim, size] : llvm::enumerate(getSizes(input))) {
    if (next < static_cast<int64_t>(axes.size()) && axes[next] == static_cast<int64_t>(dim))
      ++next;
    else
      sizes.push_back(size);
  }
  if (next != static_cast<int64_t>(axes.size()))
    return error("expected increasing axes below the rank " + llvm::Twine(input.getRank()) + ", got " +
                 llvm::Twine(axes[next])),
           failure();
  Type element = input.getElementType();
  bool accumulates = kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  if (accumulates && (element.isF16() || element.isBF16()))
    element = Float32Type::get(input.getContext());
  return makeTensorType(input.getContext(), sizes, element);
}

FailureOr<RankedTensorType> contractedType(RankedTensorType lhs, RankedTensorType rhs, ArrayRef<AffineMap> maps,
                                           ShapeError error) {
  if (maps.size() != 3)
    return error("expected three maps (lhs, rhs, result), got " + llvm::Twine(maps.size())), failure();
  MLIRContext *context = lhs.getContext();
  unsigned loops = maps[0].getNumDims();
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation() || map.getNumDims() != loops || map.getNumSymbols() != 0)
      return error("expected projected permutations over one list of loops"), failure();
  SmallVector<AffineExpr> bounds(loops);
  std::pair<AffineMap, RankedTensorType> operands[] = {{maps[0], lhs}, {maps[1], rhs}};
  for (auto &[map, type] : operands) {
    if (map.getNumResults() != type.getRank())
      return error("expected a map with " + llvm::Twine(type.getRank()) +
                   " results because of the operand's rank, got " + llvm::Twine(map.getNumResults())),
             failure();
    for (auto [dim, size] : llvm::enumerate(getSizes(type))) {
      AffineExpr &bound = bounds[map.getDimPosition(dim)];
      if (bound && bound != size)
        return error("expected loop " + llvm::Twine(map.getDimPosition(dim)) + " to have one size, got " +
                     printSize(bound) + " and " + printSize(size)),
               failure();
      bound = size;
    }
  }
  SmallVector<AffineExpr> sizes;
  for (unsigned dim = 0; dim < maps[2].getNumResults(); ++dim) {
    AffineExpr bound = bounds[maps[2].getDimPosition(dim)];
    if (!bound)
      return error("expected every loop of the result in an operand, loop " + llvm::Twine(maps[2].getDimPosition(dim)) +
                   " is in none"),
             failure();
    sizes.push_back(bound);
  }
  Type left = lhs.getElementType(), right = rhs.getElementType();
  if (left != right)
    return error("expected operands of one element type"), failure();
  if (left.isF16() || left.isBF16())
    left = Float32Type::get(context);
  else if (left.isInteger(8))
    left = IntegerType::get(context, 32);
  return makeTensorType(context, sizes, left);
}

//===- Reshape ----------------------------------------------------------------------------------------------------===//

namespace {

/// Appends the coordinates in a shape `from` of the element with `coordinates` in a shape `to`, both in row-major
/// order.
void delinearize(ArrayRef<AffineExpr> to, ArrayRef<AffineExpr> coordinates, ArrayRef<AffineExpr> from,
                 SmallVectorImpl<AffineExpr> &results) {
  MLIRContext *context = to.empty() ? from.front().getContext() : to.front().getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  AffineExpr linear = zero;
  for (auto [size, coordinate] : llvm::zip_equal(to, coordinates))
    linear = constantSize(size) == 1 ? linear : linear * size + coordinate;
  bool leading = true;
  for (size_t i = 0; i < from.size(); ++i) {
    if (constantSize(from[i]) == 1) {
      results.push_back(zero);
      continue;
    }
    AffineExpr inner = productOf(context, from.drop_front(i + 1));
    AffineExpr coordinate = linear.floorDiv(inner);
    results.push_back(leading ? coordinate : coordinate % from[i]);
    leading = false;
  }
}

} // namespace

AffineMap reshapeMap(RankedTensorType data, RankedTensorType result) {
  MLIRContext *context = data.getContext();
  SmallVector<AffineExpr> from = getSizes(data), to = getSizes(result), coordinates, results;
  for (int64_t i = 0; i < result.getRank(); ++i)
    coordinates.push_back(getAffineDimExpr(i, context));
  size_t fromBegin = 0, toBegin = 0, fromEnd = 0, toEnd = 0;
  ArrayRef<AffineExpr> fromRef = from, toRef = to;
  auto flush = [&] {
    if (fromEnd > fromBegin)
      delinearize(toRef.slice(toBegin, toEnd - toBegin),
                  ArrayRef<AffineExpr>(coordinates).slice(toBegin, toEnd - toBegin),
                  fromRef.slice(fromBegin, fromEnd - fromBegin), results);
    fromBegin = fromEnd, toBegin = toEnd;
  };
  // Extend both sides until their products agree: always the side whose product divides the other.
  while (fromEnd < from.size() && toEnd < to.size()) {
    AffineExpr fromSize = productOf(context, fromRef.slice(fromBegin, fromEnd - fromBegin));
    AffineExpr toSize = productOf(context, toRef.slice(toBegin, toEnd - toBegin));
    if (fromEnd > fromBegin && toEnd > toBegin && fromSize == toSize)
      flush();
    else if (fromEnd == fromBegin || (toEnd > toBegin && fromSize != toSize && divideExactly(toSize, fromSize)))
      ++fromEnd;
    else if (toEnd == toBegin || divideExactly(fromSize, toSize))
      ++toEnd;
    else
      ++fromEnd, ++toEnd; // neither divides: take more of both
  }
  // When one side ends, the rest of the other belongs to the last group.
  fromEnd = from.size(), toEnd = to.size();
  flush();
  return AffineMap::get(result.getRank(), std::max(getNumSymbols(data), getNumSymbols(result)), results, context);
}

} // namespace tilewright::graph
