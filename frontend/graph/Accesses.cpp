// SPDX-License-Identifier: Apache-2.0
// The access operations: their maps, verifiers and folds.
#include "frontend/graph/Shapes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright::graph;

namespace {

RankedTensorType tensorOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

AffineMap accessMap(Operation *access, ArrayRef<AffineExpr> coordinates, unsigned extraDims = 0) {
  auto result = tensorOf(access->getResult(0));
  unsigned symbols = std::max(getNumSymbols(tensorOf(access->getOperand(0))), getNumSymbols(result));
  return AffineMap::get(result.getRank() + extraDims, symbols, coordinates, access->getContext());
}

LogicalResult verifyElementType(Operation *access) {
  Type from = tensorOf(access->getOperand(0)).getElementType(), to = tensorOf(access->getResult(0)).getElementType();
  if (from != to)
    return access->emitOpError() << "expected element type " << from << " because an access renames elements, got "
                                 << to;
  return success();
}

LogicalResult verifyFill(Operation *access, TypedAttr fill) {
  Type element = tensorOf(access->getOperand(0)).getElementType();
  if (fill.getType() != element)
    return access->emitOpError() << "expected a fill of type " << element << " because of the operand, got "
                                 << fill.getType();
  return success();
}

/// An access of a splat constant is a splat constant, unless its sizes are dynamic.
OpFoldResult foldSplat(Attribute data, Type result) {
  auto splat = llvm::dyn_cast_if_present<SplatElementsAttr>(data);
  auto type = llvm::cast<RankedTensorType>(result);
  return splat && type.hasStaticShape() ? DenseElementsAttr::get(type, splat.getSplatValue<Attribute>())
                                        : OpFoldResult();
}

} // namespace

//===- broadcast --------------------------------------------------------------------------------------------------===//

AffineMap BroadcastOp::getAccessMap() {
  SmallVector<AffineExpr> coordinates;
  for (auto [dim, size] : llvm::zip_equal(getDims(), getSizes(tensorOf(getData()))))
    coordinates.push_back(constantSize(size) == 1 ? getAffineConstantExpr(0, getContext())
                                                  : getAffineDimExpr(dim, getContext()));
  return accessMap(*this, coordinates);
}

LogicalResult BroadcastOp::verify() {
  auto data = tensorOf(getData()), result = tensorOf(getResult());
  if (static_cast<int64_t>(getDims().size()) != data.getRank())
    return emitOpError() << "expected " << data.getRank() << " dims because of the operand's rank, got "
                         << getDims().size();
  SmallVector<AffineExpr> from = getSizes(data), to = getSizes(result);
  int64_t previous = -1;
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    if (dim <= previous || dim >= result.getRank())
      return emitOpError() << "expected increasing dims below the result's rank " << result.getRank() << ", got "
                           << dim;
    previous = dim;
    if (constantSize(from[i]) != 1 && from[i] != to[dim])
      return emitOpError() << "expected result dimension " << dim << " = " << printSize(from[i])
                           << " because operand dimension " << i << " has it, got " << printSize(to[dim]);
  }
  return verifyElementType(*this);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getData().getType() == getType())
    return getData();
  return foldSplat(adaptor.getData(), getType());
}

//===- reshape ----------------------------------------------------------------------------------------------------===//

AffineMap ReshapeOp::getAccessMap() { return reshapeMap(tensorOf(getData()), tensorOf(getResult())); }

LogicalResult ReshapeOp::verify() {
  AffineExpr from = productOf(getContext(), getSizes(tensorOf(getData()))),
             to = productOf(getContext(), getSizes(tensorOf(getResult())));
  if (from != to)
    return emitOpError() << "expected " << printSize(from) << " elements because the operand has so many, got "
                         << printSize(to);
  return verifyElementType(*this);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getData().getType() == getType())
    return getData();
  return foldSplat(adaptor.getData(), getType());
}

//===- repeat, view -----------------------------------------------------------------------------------------------===//

AffineMap RepeatOp::getAccessMap() {
  SmallVector<AffineExpr> coordinates;
  for (auto [i, from, to] : llvm::enumerate(getSizes(tensorOf(getData())), getSizes(tensorOf(getResult())))) {
    AffineExpr dim = getAffineDimExpr(i, getContext());
    coordinates.push_back(constantSize(from) == 1 ? getAffineConstantExpr(0, getContext())
                          : from == to            ? dim
                                                  : dim % from);
  }
  return accessMap(*this, coordinates);
}

LogicalResult RepeatOp::verify() {
  auto data = tensorOf(getData()), result = tensorOf(getResult());
  if (data.getRank() != result.getRank())
    return emitOpError() << "expected rank " << data.getRank() << " because of the operand, got " << result.getRank();
  for (auto [i, from, to] : llvm::enumerate(getSizes(data), getSizes(result)))
    if (constantSize(from).value_or(1) != 1 && constantSize(to) && from != to)
      return emitOpError() << "expected result dimension " << i << " = " << printSize(from)
                           << " because operand dimension " << i << " has it, got " << printSize(to);
  return verifyElementType(*this);
}

LogicalResult ViewOp::verify() {
  AffineExpr from = productOf(getContext(), getSizes(tensorOf(getData()))),
             to = productOf(getContext(), getSizes(tensorOf(getResult())));
  if (constantSize(from - to).value_or(0) != 0)
    return emitOpError() << "expected " << printSize(from) << " elements because the operand has so many, got "
                         << printSize(to);
  return verifyElementType(*this);
}

//===- transpose --------------------------------------------------------------------------------------------------===//

AffineMap TransposeOp::getAccessMap() {
  SmallVector<AffineExpr> coordinates(getPerm().size());
  for (auto [i, dim] : llvm::enumerate(getPerm()))
    coordinates[dim] = getAffineDimExpr(i, getContext());
  return accessMap(*this, coordinates);
}

LogicalResult TransposeOp::verify() {
  auto expected = transposedType(tensorOf(getData()), getPerm(), [&](const Twine &why) { emitOpError(why); });
  if (failed(expected))
    return failure();
  if (*expected != getType())
    return emitOpError() << "expected " << *expected << " because of the operand and perm, got " << getType();
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPerm()))
    return getData();
  return foldSplat(adaptor.getData(), getType());
}

//===- slice ------------------------------------------------------------------------------------------------------===//

AffineMap SliceOp::getAccessMap() {
  SmallVector<AffineExpr> coordinates;
  for (auto [i, offset, stride] : llvm::enumerate(getOffsets().getResults(), getStrides()))
    coordinates.push_back(getAffineDimExpr(i, getContext()) * stride + offset);
  unsigned symbols = std::max(
      {getNumSymbols(tensorOf(getData())), getNumSymbols(tensorOf(getResult())), getOffsets().getNumSymbols()});
  return AffineMap::get(coordinates.size(), symbols, coordinates, getContext());
}

LogicalResult SliceOp::verify() {
  auto data = tensorOf(getData()), result = tensorOf(getResult());
  int64_t rank = data.getRank();
  if (result.getRank() != rank || getOffsets().getNumDims() != 0 || getOffsets().getNumResults() != rank ||
      static_cast<int64_t>(getStrides().size()) != rank)
    return emitOpError() << "expected " << rank << " sizes, offsets and strides because of the operand's rank, got "
                         << result.getRank() << ", " << getOffsets().getNumResults() << " and " << getStrides().size();
  for (int64_t i = 0; i < rank; ++i) {
    auto offset = constantSize(getOffsets().getResult(i));
    if (!offset || data.isDynamicDim(i) || result.isDynamicDim(i) || result.getDimSize(i) == 0)
      continue;
    int64_t last = *offset + getStrides()[i] * (result.getDimSize(i) - 1);
    if (std::min(*offset, last) < 0 || std::max(*offset, last) >= data.getDimSize(i))
      return emitOpError() << "expected coordinates within dimension " << i << " of " << data.getDimSize(i) << ", got "
                           << *offset << " to " << last;
  }
  return verifyElementType(*this);
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool whole =
      getData().getType() == getType() && llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; });
  if (whole)
    return getData();
  return foldSplat(adaptor.getData(), getType());
}

//===- roll -------------------------------------------------------------------------------------------------------===//

AffineMap RollOp::getAccessMap() {
  SmallVector<AffineExpr> coordinates;
  for (auto [i, offset, size] : llvm::enumerate(getOffsets().getResults(), getSizes(tensorOf(getData())))) {
    AffineExpr dim = getAffineDimExpr(i, getContext());
    coordinates.push_back(constantSize(offset) == 0 ? dim : (dim + offset) % size);
  }
  unsigned symbols = std::max(getNumSymbols(tensorOf(getData())), getOffsets().getNumSymbols());
  return AffineMap::get(coordinates.size(), symbols, coordinates, getContext());
}

LogicalResult RollOp::verify() {
  auto data = tensorOf(getData());
  if (getType() != getData().getType())
    return emitOpError() << "expected the operand's type " << getData().getType() << ", got " << getType();
  if (getOffsets().getNumDims() != 0 || static_cast<int64_t>(getOffsets().getNumResults()) != data.getRank())
    return emitOpError() << "expected " << data.getRank() << " offsets because of the operand's rank, got "
                         << getOffsetsAttr();
  for (auto [i, offset] : llvm::enumerate(getOffsets().getResults()))
    if (std::optional<int64_t> known = constantSize(offset);
        known && (*known < 0 || (!data.isDynamicDim(i) && *known > data.getDimSize(i))))
      return emitOpError() << "expected an offset within dimension " << i << ", got " << *known;
  return success();
}

OpFoldResult RollOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getOffsets().getResults(), [](AffineExpr offset) { return constantSize(offset) == 0; }))
    return getData();
  return foldSplat(adaptor.getData(), getType());
}

//===- pad --------------------------------------------------------------------------------------------------------===//

AffineMap PadOp::getAccessMap() {
  SmallVector<AffineExpr> coordinates;
  for (auto [i, low] : llvm::enumerate(getLow()))
    coordinates.push_back(getAffineDimExpr(i, getContext()) - low);
  return accessMap(*this, coordinates);
}

LogicalResult PadOp::verify() {
  int64_t rank = tensorOf(getData()).getRank();
  if (tensorOf(getResult()).getRank() != rank || static_cast<int64_t>(getLow().size()) != rank)
    return emitOpError() << "expected " << rank << " sizes and low paddings because of the operand's rank, got "
                         << tensorOf(getResult()).getRank() << " and " << getLow().size();
  return failed(verifyElementType(*this)) ? failure() : verifyFill(*this, getFillAttr());
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  bool isWhole = getData().getType() == getType() && llvm::all_of(getLow(), [](int64_t low) { return low == 0; });
  return isWhole ? OpFoldResult(getData()) : OpFoldResult();
}

//===- window -----------------------------------------------------------------------------------------------------===//

AffineMap WindowOp::getAccessMap() {
  int64_t rank = tensorOf(getData()).getRank(), first = getDims().front(), spatial = getDims().size();
  SmallVector<AffineExpr> coordinates;
  auto dim = [&](int64_t i) { return getAffineDimExpr(i, getContext()); };
  for (int64_t i = 0; i < rank; ++i) {
    int64_t x = i - first;
    if (x < 0)
      coordinates.push_back(dim(i));
    else if (x >= spatial)
      coordinates.push_back(dim(i + spatial));
    else
      coordinates.push_back(dim(i) * getStrides()[x] + dim(i + spatial) * getDilations()[x] - getLow()[x]);
  }
  return accessMap(*this, coordinates);
}

LogicalResult WindowOp::verify() {
  auto data = tensorOf(getData()), result = tensorOf(getResult());
  int64_t spatial = getDims().size();
  for (auto list : {getStrides(), getDilations(), getLow()})
    if (static_cast<int64_t>(list.size()) != spatial)
      return emitOpError() << "expected " << spatial << " strides, dilations and low paddings because of dims, got "
                           << list.size();
  if (spatial == 0 || result.getRank() != data.getRank() + spatial)
    return emitOpError() << "expected " << spatial << " (at least one) dimensions more than the operand's "
                         << data.getRank() << ", got " << result.getRank();
  int64_t first = getDims().front();
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (dim != first + static_cast<int64_t>(i) || dim < 0 || dim >= data.getRank())
      return emitOpError() << "expected consecutive dims below the rank " << data.getRank() << ", got " << dim;
  if (llvm::any_of(getStrides(), [](int64_t s) { return s < 1; }) ||
      llvm::any_of(getDilations(), [](int64_t d) { return d < 1; }))
    return emitOpError() << "expected strides and dilations of at least 1";
  SmallVector<AffineExpr> from = getSizes(data), to = getSizes(result);
  for (int64_t i = 0; i < data.getRank(); ++i) {
    bool isSpatial = i >= first && i < first + spatial;
    int64_t at = i < first ? i : i + spatial;
    if (!isSpatial && to[at] != from[i])
      return emitOpError() << "expected result dimension " << at << " = " << printSize(from[i])
                           << " because the window does not touch it, got " << printSize(to[at]);
  }
  return failed(verifyElementType(*this)) ? failure() : verifyFill(*this, getFillAttr());
}

//===- gather -----------------------------------------------------------------------------------------------------===//

AffineMap GatherOp::getAccessMap() { return getMap(); }

LogicalResult GatherOp::verify() {
  auto data = tensorOf(getData()), result = tensorOf(getResult());
  unsigned dims = result.getRank() + getIndices().size();
  if (getMap().getNumDims() != dims || getMap().getNumResults() != data.getRank())
    return emitOpError() << "expected a map of " << dims << " dimensions (the result's, then one an index operand) to "
                         << data.getRank() << " coordinates, got " << getMapAttr();
  for (Value index : getIndices()) {
    auto type = tensorOf(index);
    if (!type.getElementType().isInteger() || getSizes(type) != getSizes(result))
      return emitOpError() << "expected integer indices of the result's sizes, got " << type;
  }
  return verifyElementType(*this);
}
