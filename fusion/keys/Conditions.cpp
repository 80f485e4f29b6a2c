// SPDX-License-Identifier: Apache-2.0
// Comparisons of indices, and what joins them.
#include "fusion/keys/Conditions.h"

#include "frontend/graph/Sizes.h"
#include "fusion/keys/ConstantBand.h"
#include "fusion/keys/Splat.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;
using arith::CmpIPredicate;

//===- Integers ---------------------------------------------------------------------------------------------------===//

AffineExpr Conditions::smaller(AffineExpr a, AffineExpr b) const {
  if (!a || !b)
    return {};
  return space.isNonNegative(b - a) ? a : space.isNonNegative(a - b) ? b : AffineExpr();
}

AffineExpr Conditions::larger(AffineExpr a, AffineExpr b) const {
  if (!a || !b)
    return {};
  return space.isNonNegative(a - b) ? a : space.isNonNegative(b - a) ? b : AffineExpr();
}

static AffineExpr sum(AffineExpr a, AffineExpr b) { return a && b ? a + b : AffineExpr(); }
static AffineExpr difference(AffineExpr a, AffineExpr b) { return a && b ? a - b : AffineExpr(); }

/// The bounds of the chosen value where indices decide the condition; otherwise bounds that hold for both values.
/// Models choose so between an index and one that counts from the end.
Conditions::Bounds Conditions::boundsOfChoice(arith::SelectOp select, ArrayRef<AffineExpr> at) {
  Bounds yes = boundsOf(select.getTrueValue(), at), no = boundsOf(select.getFalseValue(), at);
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (compare && compare.getPredicate() == CmpIPredicate::slt) {
    Bounds left = boundsOf(compare.getLhs(), at), right = boundsOf(compare.getRhs(), at);
    if (left.low && right.high && space.isNonNegative(left.low - right.high))
      return no;
    if (left.high && right.low && space.isNonNegative(right.low - left.high - 1))
      return yes;
  }
  return {smaller(yes.low, no.low), larger(yes.high, no.high)};
}

Conditions::Bounds Conditions::boundsOf(Value integer, ArrayRef<AffineExpr> at) {
  Operation *op = integer.getDefiningOp();
  if (!op || --steps < 0)
    return {};
  MLIRContext *context = op->getContext();
  auto exactly = [](AffineExpr expr) { return Bounds{expr, expr}; };
  if (std::optional<Exprs> data = throughAccess(op, at))
    return boundsOf(cast<graph::AccessOpInterface>(op).getData(), *data);
  if (auto iota = dyn_cast<graph::IotaOp>(op))
    return exactly(at[iota.getDim()]);
  if (auto dims = dyn_cast<graph::DimsOp>(op); dims && at.empty())
    return exactly(dims.getSizes().getResult(0));
  auto gather = dyn_cast<graph::GatherOp>(op); // where all elements of its data are equal, indices do not matter
  if (DenseIntElementsAttr elements;
      matchPattern(gather ? gather.getData() : integer, m_Constant(&elements)) && elements.isSplat())
    return exactly(getAffineConstantExpr(elements.getSplatValue<APInt>().getSExtValue(), context));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return boundsOfChoice(select, at);
  auto operand = [&](unsigned i) { return boundsOf(op->getOperand(i), at); };
  if (isa<arith::ExtSIOp>(op) && !getElementTypeOrSelf(op->getOperand(0)).isInteger(1))
    return operand(0);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp>(op))
    return {};
  Bounds a = operand(0), b = operand(1);
  if (isa<arith::AddIOp>(op))
    return {sum(a.low, b.low), sum(a.high, b.high)};
  if (isa<arith::SubIOp>(op))
    return {difference(a.low, b.high), difference(a.high, b.low)};
  auto either = [](AffineExpr a, AffineExpr b) { return a ? a : b; };
  if (isa<arith::MaxSIOp>(op)) // at least each of them
    return {a.low && b.low ? either(larger(a.low, b.low), a.low) : either(a.low, b.low), larger(a.high, b.high)};
  return {smaller(a.low, b.low), a.high && b.high ? either(smaller(a.high, b.high), a.high) : either(a.high, b.high)};
}

//===- Conditions -------------------------------------------------------------------------------------------------===//

/// An interval of keys outside of which a + margin > b for sure.
KeyInterval Conditions::whereAtMost(const Bounds &a, const Bounds &b, int64_t margin) const {
  return a.low && b.high ? space.whereNonNegative(b.high - a.low - margin) : KeyInterval{};
}

KeyInterval Conditions::whereCompares(CmpIPredicate predicate, arith::CmpIOp compare, ArrayRef<AffineExpr> at) {
  Bounds a = boundsOf(compare.getLhs(), at), b = boundsOf(compare.getRhs(), at);
  switch (predicate) {
  case CmpIPredicate::sle:
    return whereAtMost(a, b, 0);
  case CmpIPredicate::slt:
    return whereAtMost(a, b, 1);
  case CmpIPredicate::sge:
    return whereAtMost(b, a, 0);
  case CmpIPredicate::sgt:
    return whereAtMost(b, a, 1);
  case CmpIPredicate::eq: {
    KeyInterval keys = whereAtMost(a, b, 0);
    keys.intersect(whereAtMost(b, a, 0));
    return keys;
  }
  default:
    return {};
  }
}

Value fusion::comparedBoolean(arith::CmpIOp compare) {
  Operation *cast = compare.getLhs().getDefiningOp();
  bool isWidened = isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(cast);
  DenseIntElementsAttr zero;
  Value other = compare.getRhs();
  if (auto broadcast = other.getDefiningOp<graph::BroadcastOp>())
    other = broadcast.getData();
  bool isZero = matchPattern(other, m_Constant(&zero)) && zero.isSplat() && zero.getSplatValue<APInt>().isZero();
  return isWidened && isZero && getElementTypeOrSelf(cast->getOperand(0)).isInteger(1) ? cast->getOperand(0) : Value();
}

bool fusion::isConstant(Value value, bool wanted) {
  if (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
    value = broadcast.getData();
  DenseIntElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APInt>().isZero() != wanted;
}

static CmpIPredicate wantedPredicate(bool wanted, arith::CmpIOp compare) {
  return wanted ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
}

/// If a comparison asks which of two numbers was chosen: the condition of that choice, and the value that it must have
/// for the comparison to be `wanted`. Exporters make a causal mask of a triangle of ones so: where it equals 0.
static std::optional<std::pair<bool, Value>> choiceCompared(bool wanted, arith::CmpFOp compare) {
  auto select = compare.getLhs().getDefiningOp<arith::SelectOp>();
  std::optional<double> to = splatOf(compare.getRhs());
  std::optional<double> yes = select && to ? splatOf(select.getTrueValue()) : std::nullopt,
                        no = yes ? splatOf(select.getFalseValue()) : std::nullopt;
  if (!no)
    return std::nullopt;
  auto holds = [&](double value) {
    return arith::applyCmpPredicate(compare.getPredicate(), APFloat(value), APFloat(*to)) == wanted;
  };
  return holds(*yes) != holds(*no) ? std::optional(std::pair(holds(*yes), select.getCondition())) : std::nullopt;
}

/// If `op` only repeats or negates another condition, by a comparison with 0, an exclusive or with true, or a choice
/// between numbers: that condition, and the value that it must have for `op` to be `wanted`. nullopt for other
/// operations.
static std::optional<std::pair<bool, Value>> withoutNegation(bool wanted, Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return choiceCompared(wanted, compare);
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    CmpIPredicate predicate = wantedPredicate(wanted, compare);
    if (Value boolean = comparedBoolean(compare);
        boolean && (predicate == CmpIPredicate::ne || predicate == CmpIPredicate::eq))
      return std::pair(predicate == CmpIPredicate::ne, boolean);
  }
  if (isa<arith::XOrIOp>(op))
    for (unsigned side : {0, 1})
      if (fusion::isConstant(op->getOperand(side), true))
        return std::pair(!wanted, op->getOperand(1 - side));
  return std::nullopt;
}

KeyInterval Conditions::whereIs(bool wanted, Value condition, ArrayRef<AffineExpr> at) {
  Operation *op = condition.getDefiningOp();
  if (!op || --steps < 0)
    return {};
  if (std::optional<Exprs> data = throughAccess(op, at))
    return whereIs(wanted, cast<graph::AccessOpInterface>(op).getData(), *data);
  if (std::optional<ConstantBand> band = bandOf(op, [&](double value) { return (value != 0) == wanted; }))
    return band->keysAt(space, at);
  if (auto plain = withoutNegation(wanted, op))
    return whereIs(plain->first, plain->second, at);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return whereCompares(wantedPredicate(wanted, compare), compare, at);
  bool both = wanted ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op);
  if (!both)
    return {};
  KeyInterval keys = whereIs(wanted, op->getOperand(0), at);
  keys.intersect(whereIs(wanted, op->getOperand(1), at));
  return keys;
}

//===- Sure conditions --------------------------------------------------------------------------------------------===//

std::optional<KeyInterval> Conditions::surelyCompares(CmpIPredicate predicate, arith::CmpIOp compare,
                                                      ArrayRef<AffineExpr> at) {
  Bounds a = boundsOf(compare.getLhs(), at), b = boundsOf(compare.getRhs(), at);
  auto atMost = [&](const Bounds &a, const Bounds &b, int64_t margin) {
    return a.high && b.low ? space.surelyNonNegative(b.low - a.high - margin) : std::nullopt;
  };
  switch (predicate) {
  case CmpIPredicate::sle:
    return atMost(a, b, 0);
  case CmpIPredicate::slt:
    return atMost(a, b, 1);
  case CmpIPredicate::sge:
    return atMost(b, a, 0);
  case CmpIPredicate::sgt:
    return atMost(b, a, 1);
  case CmpIPredicate::eq:
    return intersection(atMost(a, b, 0), atMost(b, a, 0));
  case CmpIPredicate::ne: {
    std::optional<KeyInterval> less = atMost(a, b, 1);
    return less ? less : atMost(b, a, 1);
  }
  default:
    return std::nullopt;
  }
}

std::optional<KeyInterval> Conditions::surely(bool wanted, Value condition, ArrayRef<AffineExpr> at) {
  Operation *op = condition.getDefiningOp();
  if (!op || --steps < 0)
    return std::nullopt;
  if (isConstant(condition, wanted))
    return KeyInterval();
  if (std::optional<Exprs> data = throughAccess(op, at))
    return surely(wanted, cast<graph::AccessOpInterface>(op).getData(), *data);
  if (std::optional<ConstantBand> band = bandOf(op, [&](double value) { return (value != 0) == wanted; }))
    return band->surelyAt(space, at);
  if (auto plain = withoutNegation(wanted, op))
    return surely(plain->first, plain->second, at);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return surelyCompares(wantedPredicate(wanted, compare), compare, at);
  if (!isa<arith::AndIOp, arith::OrIOp>(op))
    return std::nullopt;
  std::optional<KeyInterval> a = surely(wanted, op->getOperand(0), at), b = surely(wanted, op->getOperand(1), at);
  bool needsBoth = wanted == isa<arith::AndIOp>(op);
  return needsBoth ? intersection(a, b) : a ? a : b;
}
