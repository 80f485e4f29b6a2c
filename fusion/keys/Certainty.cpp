// SPDX-License-Identifier: Apache-2.0
// Comparisons that indices decide, and two elements followed back in step.
#include "fusion/keys/Certainty.h"

#include "frontend/graph/Sizes.h"
#include "fusion/Geometry.h"
#include "fusion/keys/ConstantBand.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;
using arith::CmpIPredicate;
using index::Polynomial;

//===- Conditions -------------------------------------------------------------------------------------------------===//

std::optional<bool> Certainty::compare(arith::CmpIOp op, ArrayRef<AffineExpr> at) {
  CmpIPredicate predicate = op.getPredicate();
  bool isEquality = predicate == CmpIPredicate::eq || predicate == CmpIPredicate::ne;
  if (Value boolean = comparedBoolean(op); boolean && isEquality) {
    std::optional<bool> value = valueOf(boolean, at);
    return value ? std::optional(*value == (predicate == CmpIPredicate::ne)) : std::nullopt;
  }
  Conditions::Bounds a = conditions.boundsOf(op.getLhs(), at), b = conditions.boundsOf(op.getRhs(), at);
  auto isAtMost = [&](AffineExpr x, AffineExpr y, int64_t margin) {
    return x && y && space.isNonNegative(y - x - margin);
  };
  if (isEquality) {
    bool isEqual = isSame(op.getLhs(), Exprs(at), op.getRhs(), Exprs(at)) ||
                   (isAtMost(a.high, b.low, 0) && isAtMost(b.high, a.low, 0));
    bool differs = isAtMost(a.high, b.low, 1) || isAtMost(b.high, a.low, 1);
    return isEqual || differs ? std::optional(isEqual == (predicate == CmpIPredicate::eq)) : std::nullopt;
  }
  if (predicate == CmpIPredicate::sge || predicate == CmpIPredicate::sgt)
    std::swap(a, b);
  bool isStrict = predicate == CmpIPredicate::slt || predicate == CmpIPredicate::sgt,
       isSigned = isStrict || predicate == CmpIPredicate::sle || predicate == CmpIPredicate::sge;
  if (isSigned && isAtMost(a.high, b.low, isStrict))
    return true;
  if (isSigned && isAtMost(b.high, a.low, !isStrict))
    return false;
  return std::nullopt;
}

std::optional<bool> Certainty::valueOf(Value condition, ArrayRef<AffineExpr> at) {
  Operation *op = condition.getDefiningOp();
  if (!op || --steps < 0)
    return std::nullopt;
  for (bool value : {false, true})
    if (isConstant(condition, value))
      return value;
  if (std::optional<Exprs> data = throughAccess(op, at))
    return valueOf(cast<graph::AccessOpInterface>(op).getData(), *data);
  for (bool value : {false, true})
    if (auto band = bandOf(op, [&](double element) { return (element != 0) == value; });
        band && band->admits(space, at))
      return value;
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return compare(comparison, at);
  if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  std::optional<bool> a = valueOf(op->getOperand(0), at), b = valueOf(op->getOperand(1), at);
  if (bool decides = isa<arith::OrIOp>(op); !isa<arith::XOrIOp>(op) && (a == decides || b == decides))
    return decides;
  if (!a || !b)
    return std::nullopt;
  return isa<arith::XOrIOp>(op) ? *a != *b : isa<arith::AndIOp>(op);
}

//===- Elements ---------------------------------------------------------------------------------------------------===//

static bool isSamePoint(ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
  return llvm::equal(a, b,
                     [](AffineExpr x, AffineExpr y) { return Polynomial::spelledBy(x) == Polynomial::spelledBy(y); });
}

/// The place of an element in memory.
static AffineExpr position(Value tensor, ArrayRef<AffineExpr> at) {
  AffineExpr position = getAffineConstantExpr(0, tensor.getContext());
  for (auto [size, coordinate] : llvm::zip_equal(graph::getSizes(cast<RankedTensorType>(tensor.getType())), at))
    position = position * size + coordinate;
  return position;
}

/// Replaces an element by the one that an access or a concatenation reads for it, where the coordinates tell which.
/// False, with both unchanged, where they do not, and for other operations.
static bool stepBack(Value &value, Exprs &at) {
  Operation *op = value.getDefiningOp();
  if (std::optional<Exprs> data = throughAccess(op, at)) {
    value = cast<graph::AccessOpInterface>(op).getData();
    at = *data;
    return true;
  }
  auto concat = dyn_cast_or_null<graph::ConcatOp>(op);
  std::optional<int64_t> place =
      concat ? graph::constantSize(graph::canonicalSize(at[concat.getAxis()])) : std::nullopt;
  if (!place)
    return false;
  for (Value input : concat.getInputs()) {
    std::optional<int64_t> size =
        graph::constantSize(graph::getSizes(cast<RankedTensorType>(input.getType()))[concat.getAxis()]);
    if (!size)
      return false;
    if (*place < *size) {
      value = input;
      at[concat.getAxis()] = getAffineConstantExpr(*place, op->getContext());
      return true;
    }
    *place -= *size;
  }
  return false;
}

/// Whether both gathers read the same element: of the same data, at equal coordinates, with equal computed indices.
bool Certainty::readSame(graph::GatherOp a, const Exprs &atA, graph::GatherOp b, const Exprs &atB) {
  constexpr unsigned indexDims = 1 << 10; // behind all others
  auto place = [](graph::GatherOp gather, Exprs dims) {
    for (unsigned i = 0; i < gather.getIndices().size(); ++i)
      dims.push_back(getAffineDimExpr(indexDims + i, gather.getContext()));
    Exprs coordinates;
    for (AffineExpr expr : gather.getAccessMap().getResults())
      coordinates.push_back(expr.replaceDims(dims));
    return coordinates;
  };
  return a.getData() == b.getData() && isSamePoint(place(a, atA), place(b, atB)) &&
         llvm::all_of(llvm::zip_equal(a.getIndices(), b.getIndices()),
                      [&](auto indices) { return isSame(std::get<0>(indices), atA, std::get<1>(indices), atB); });
}

bool Certainty::isSame(Value a, Exprs atA, Value b, Exprs atB) {
  if (--steps < 0)
    return false;
  if (a == b && isSamePoint(atA, atB))
    return true;
  if (stepBack(a, atA) || stepBack(b, atB))
    return isSame(a, atA, b, atB);
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName())
    return false;
  if (auto iota = dyn_cast<graph::IotaOp>(x))
    return isSamePoint(atA[iota.getDim()], atB[cast<graph::IotaOp>(y).getDim()]);
  if (auto dims = dyn_cast<graph::DimsOp>(x))
    return dims.getSizes() == cast<graph::DimsOp>(y).getSizes() && isSamePoint(atA, atB);
  bool areOfOneType = getElementTypeOrSelf(a) == getElementTypeOrSelf(b);
  if (auto constant = dyn_cast<graph::ConstantOp>(x)) // perhaps of another shape
    return areOfOneType && constant.getKey() == cast<graph::ConstantOp>(y).getKey() &&
           isSamePoint({position(a, atA)}, {position(b, atB)});
  if (auto gather = dyn_cast<graph::GatherOp>(x))
    return gather.getIndices().size() == cast<graph::GatherOp>(y).getIndices().size() &&
           readSame(gather, atA, cast<graph::GatherOp>(y), atB);
  SplatElementsAttr splatX, splatY;
  if (matchPattern(x, m_Constant(&splatX)) && matchPattern(y, m_Constant(&splatY)))
    return splatX.getSplatValue<Attribute>() == splatY.getSplatValue<Attribute>();
  if (!isElementwise(x) || x->getNumOperands() == 0 || x->getPropertiesAsAttribute() != y->getPropertiesAsAttribute() ||
      !areOfOneType)
    return false;
  auto areSame = [&](auto &&operandsOfY) {
    return llvm::all_of(llvm::zip_equal(x->getOperands(), operandsOfY),
                        [&](auto operands) { return isSame(std::get<0>(operands), atA, std::get<1>(operands), atB); });
  };
  return areSame(y->getOperands()) ||
         (x->hasTrait<OpTrait::IsCommutative>() && areSame(llvm::reverse(y->getOperands())));
}
