// SPDX-License-Identifier: Apache-2.0
// Three forms, from the outside in: splats, broadcasts and casts, constants with bytes.
//
//     broadcast [bq] dims [1], broadcast [bk] dims [1]   ->   broadcast [bq bk] dims [1]
//     splat 0.125, 1                                     ->   broadcast [0.125 ... 1 ...] dims [1]
#include "fusion/products/ColumnConstants.h"

#include "fusion/Geometry.h"
#include "fusion/keys/Splat.h"

#include <cstring>
#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

RankedTensorType fusion::withSize(RankedTensorType type, int64_t dim, int64_t size) {
  SmallVector<AffineExpr> sizes = graph::getSizes(type);
  sizes[dim] = getAffineConstantExpr(size, type.getContext());
  return graph::makeTensorType(type.getContext(), sizes, type.getElementType());
}

static graph::ConstantPool &poolOf(MLIRContext *context) {
  return context->getLoadedDialect<graph::GraphDialect>()->constants();
}

/// The number that all elements of a value are; 1 for a null value, nullopt if it is no splat of floats.
static std::optional<APFloat> repeatedNumber(Value value, Type elementType) {
  if (!value)
    return APFloat(cast<FloatType>(elementType).getFloatSemantics(), 1);
  while (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
    value = broadcast.getData();
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>();
}

bool fusion::isOneNumber(Value value) { return repeatedNumber(value, getElementTypeOrSelf(value)).has_value(); }

/// The splats of all operands; nullopt if one is no splat.
static std::optional<SmallVector<APFloat>> splatsOf(const ColumnOperands &operands) {
  Type elementType;
  for (Value value : operands.values)
    if (value)
      elementType = getElementTypeOrSelf(value);
  SmallVector<APFloat> splats;
  for (Value value : operands.values) {
    std::optional<APFloat> splat =
        isa<FloatType>(elementType) ? repeatedNumber(value, elementType) : std::optional<APFloat>();
    if (!splat)
      return std::nullopt;
    splats.push_back(*splat);
  }
  return splats;
}

static bool isOneFloat(ArrayRef<APFloat> splats) {
  return llvm::all_of(splats, [&](const APFloat &splat) { return splat.bitwiseIsEqual(splats.front()); });
}

/// The operations that define the values, if they are of one kind and not null; empty otherwise.
static SmallVector<Operation *> likeDefinitions(ArrayRef<Value> values) {
  SmallVector<Operation *> ops;
  for (Value value : values) {
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (!op || (!ops.empty() && op->getName() != ops.front()->getName()))
      return {};
    ops.push_back(op);
  }
  return ops;
}

static bool isConstant(Operation *op) { return isa<graph::ConstantOp, arith::ConstantOp>(op); }

/// The operands of broadcasts or casts, to be joined along the dimension that becomes dimension `operands.dim` of the
/// results. The returned `dim` is -1 if no dimension does, so that all operands must be equal.
static ColumnOperands behind(const ColumnOperands &operands, ArrayRef<Operation *> ops) {
  ColumnOperands inner{{}, operands.columns, operands.dim};
  for (Operation *op : ops)
    inner.values.push_back(op->getOperand(0));
  auto broadcast = dyn_cast<graph::BroadcastOp>(ops.front());
  if (!broadcast)
    return inner;
  auto at = llvm::find(broadcast.getDims(), operands.dim);
  inner.dim = at == broadcast.getDims().end() ? -1 : at - broadcast.getDims().begin();
  if (inner.dim >= 0 && broadcast.getData().getType().getDimSize(inner.dim) == 1 && operands.columns.front() != 1)
    inner.dim = -1;
  return inner;
}

static bool sameForm(ArrayRef<Operation *> ops) {
  return llvm::all_of(ops, [&](Operation *op) {
    auto broadcast = dyn_cast<graph::BroadcastOp>(op), first = dyn_cast<graph::BroadcastOp>(ops.front());
    bool sameRank = cast<RankedTensorType>(op->getResult(0).getType()).getRank() ==
                    cast<RankedTensorType>(ops.front()->getResult(0).getType()).getRank();
    return sameRank && getElementTypeOrSelf(op->getResult(0)) == getElementTypeOrSelf(ops.front()->getResult(0)) &&
           (!broadcast || broadcast.getDims() == first.getDims());
  });
}

/// Whether each constant has its strand's number of columns, and all have equal sizes otherwise.
static bool sameSizes(ArrayRef<Operation *> constants, const ColumnOperands &operands) {
  auto typeOf = [](Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()); };
  RankedTensorType first = withSize(typeOf(constants.front()), operands.dim, 1);
  return llvm::all_of(llvm::zip_equal(constants, operands.columns), [&](auto pair) {
    auto [op, columns] = pair;
    return typeOf(op).getDimSize(operands.dim) == columns && withSize(typeOf(op), operands.dim, 1) == first;
  });
}

bool fusion::areJoinable(const ColumnOperands &operands) {
  if (operands.dim >= 0 && splatsOf(operands))
    return true;
  SmallVector<Operation *> ops = likeDefinitions(operands.values);
  if (ops.empty() || !sameForm(ops))
    return false;
  if (operands.dim < 0)
    return isConstant(ops.front()) && llvm::all_equal(operands.values);
  if (isConstant(ops.front()))
    return sameSizes(ops, operands);
  bool isCast = isa<arith::ExtFOp, arith::SIToFPOp, arith::UIToFPOp, arith::ExtSIOp, arith::ExtUIOp>(ops.front());
  return (isCast || isa<graph::BroadcastOp>(ops.front())) && areJoinable(behind(operands, ops));
}

/// The pool's key of a constant's bytes.
static std::string keyOf(Operation *op) {
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return constant.getKey().str();
  auto elements = cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
  ArrayRef<char> raw = elements.getRawData();
  std::vector<char> bytes;
  for (int64_t i = 0, copies = elements.isSplat() ? elements.getNumElements() : 1; i < copies; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return poolOf(op->getContext()).add(std::as_bytes(std::span(bytes)));
}

std::string fusion::joinedKey(ArrayRef<Operation *> constants, int64_t dim) {
  std::vector<std::string> keys;
  for (Operation *constant : constants)
    keys.push_back(keyOf(constant));
  auto shape = cast<RankedTensorType>(constants.front()->getResult(0).getType()).getShape().take_front(dim);
  return poolOf(constants.front()->getContext())
      .join(keys, std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()));
}

/// A constant of one number for each column: splats[i] for the columns[i] columns of strand i.
static Value constantOfColumns(ArrayRef<APFloat> splats, ArrayRef<int64_t> columns, Type elementType,
                               OpBuilder &builder) {
  std::vector<std::byte> bytes;
  for (auto [splat, count] : llvm::zip_equal(splats, columns)) {
    uint64_t bits = splat.bitcastToAPInt().getZExtValue();
    auto *start = reinterpret_cast<const std::byte *>(&bits);
    for (int64_t i = 0; i < count; ++i)
      bytes.insert(bytes.end(), start, start + elementType.getIntOrFloatBitWidth() / 8);
  }
  auto type = RankedTensorType::get(std::accumulate(columns.begin(), columns.end(), int64_t(0)), elementType);
  return graph::ConstantOp::create(builder, builder.getUnknownLoc(), type,
                                   poolOf(builder.getContext()).add(std::span<const std::byte>(bytes)));
}

static Value joinedSplats(ArrayRef<APFloat> splats, const ColumnOperands &operands, RankedTensorType type,
                          OpBuilder &builder) {
  Location loc = builder.getUnknownLoc();
  if (!isOneFloat(splats)) {
    Value columns = constantOfColumns(splats, operands.columns, type.getElementType(), builder);
    return type.getRank() == 1 ? columns : graph::BroadcastOp::create(builder, loc, type, columns, operands.dim);
  }
  return splatOfType(type, splats.front().convertToDouble(), loc, builder);
}

Value fusion::joined(const ColumnOperands &operands, RankedTensorType type, OpBuilder &builder) {
  if (std::optional<SmallVector<APFloat>> splats = splatsOf(operands); splats && operands.dim >= 0)
    return joinedSplats(*splats, operands, type, builder);
  SmallVector<Operation *> ops = likeDefinitions(operands.values);
  Operation *first = ops.front();
  if (operands.dim < 0)
    return builder.clone(*first)->getResult(0);
  if (isConstant(first))
    return graph::ConstantOp::create(builder, first->getLoc(), type, joinedKey(ops, operands.dim));
  ColumnOperands inner = behind(operands, ops);
  auto innerType = cast<RankedTensorType>(first->getOperand(0).getType());
  if (inner.dim >= 0)
    innerType = withSize(innerType, inner.dim, type.getDimSize(operands.dim));
  Value data = joined(inner, innerType, builder);
  OperationState state(first->getLoc(), first->getName(), data, type, first->getAttrs());
  Operation *result = builder.create(state);
  result->removeAttr(graph::nodeAttr); // the step that reads it has the ONNX nodes of all strands
  return result->getResult(0);
}
