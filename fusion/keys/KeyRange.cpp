// SPDX-License-Identifier: Apache-2.0
// Follows the logits back to the scores, through selections and sums with masks, to find the keys that do not count. If
// they are excluded by a finite number rather than -inf, follows them once more for a key that does count: in a row
// without one, the excluded keys would have weights too.
#include "fusion/keys/KeyRange.h"

#include "frontend/graph/Sizes.h"
#include "fusion/keys/Certainty.h"
#include "fusion/keys/ConstantBand.h"
#include "fusion/keys/Splat.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double lowestHalf = -65504; // a number up to this excludes a key: added to its score, or chosen instead of it
constexpr double mostBias = 1024;     // numbers added to the scores of keys that count have at most this magnitude

bool excludes(double value) { return value <= lowestHalf; }

/// What is known of a tensor's elements: outside of `keys` they are excluded, by a number of at most `excluded`.
struct Masked {
  KeyInterval keys = {};
  double excluded = -infinity;
  bool everywhere = false; // no key counts
};

class LogitsWalk {
public:
  explicit LogitsWalk(Attention attention)
      : scores(attention.scores),
        space(graph::getSizes(cast<RankedTensorType>(attention.logits.getType())), attention.max.getAxes().front()),
        conditions(space), certainty(space, conditions) {}

  Masked walk(Value value, ArrayRef<AffineExpr> at);
  bool everyRowHasAKey(Value logits, ArrayRef<AffineExpr> at, const KeyInterval &keys);

private:
  Masked ofSelect(arith::SelectOp select, ArrayRef<AffineExpr> at);
  Masked ofSum(Operation *op, ArrayRef<AffineExpr> at);
  bool counts(Value value, ArrayRef<AffineExpr> at);

  graph::ContractOp scores;
  KeySpace space;
  Conditions conditions;
  Certainty certainty;
  int steps = 4096;
};

} // namespace

/// The value that `op` scales by a positive constant, or bounds from below by a constant that excludes (exporters write
/// that lest two masks add up to -inf), and the constant. The value is null for other operations.
static std::pair<Value, double> adjusted(Operation *op) {
  for (unsigned side : {1, 0}) {
    bool isAllowed = side == 1 ? isa<arith::MulFOp, arith::DivFOp, arith::MaximumFOp>(op)
                               : isa<arith::MulFOp, arith::MaximumFOp>(op);
    std::optional<double> number = isAllowed ? splatOf(op->getOperand(side)) : std::nullopt;
    if (number && (isa<arith::MaximumFOp>(op) ? excludes(*number) : *number > 0))
      return {op->getOperand(1 - side), *number};
  }
  return {};
}

//===- Keys that do not count -------------------------------------------------------------------------------------===//

Masked LogitsWalk::ofSelect(arith::SelectOp select, ArrayRef<AffineExpr> at) {
  Masked yes = walk(select.getTrueValue(), at), no = walk(select.getFalseValue(), at);
  if (yes.everywhere == no.everywhere)
    return yes.everywhere ? Masked{{}, std::max(yes.excluded, no.excluded), true} : Masked{};
  Masked chosen = yes.everywhere ? no : yes;
  chosen.keys.intersect(conditions.whereIs(no.everywhere, select.getCondition(), at));
  chosen.excluded = std::max(yes.excluded, no.excluded);
  return chosen;
}

Masked LogitsWalk::ofSum(Operation *op, ArrayRef<AffineExpr> at) {
  Masked a = walk(op->getOperand(0), at), b = walk(op->getOperand(1), at);
  a.keys.intersect(b.keys);
  return {a.keys, std::max(a.excluded, b.excluded), a.everywhere || b.everywhere};
}

Masked LogitsWalk::walk(Value value, ArrayRef<AffineExpr> at) {
  Operation *op = value.getDefiningOp();
  if (!op || op == scores || --steps < 0)
    return {};
  if (std::optional<double> number = splatOf(value))
    return excludes(*number) ? Masked{{}, *number, true} : Masked{};
  if (std::optional<Exprs> data = throughAccess(op, at))
    return walk(cast<graph::AccessOpInterface>(op).getData(), *data);
  if (std::optional<ConstantBand> band = bandOf(op, [](double value) { return !excludes(value); }))
    return {band->keysAt(space, at), band->outside};
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return walk(op->getOperand(0), at);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return ofSelect(select, at);
  if (isa<arith::AddFOp>(op))
    return ofSum(op, at);
  auto [operand, number] = adjusted(op);
  if (!operand)
    return {};
  Masked masked = walk(operand, at);
  masked.excluded = isa<arith::MaximumFOp>(op) ? std::max(masked.excluded, number)
                    : isa<arith::DivFOp>(op)   ? masked.excluded / number
                                               : masked.excluded * number;
  return excludes(masked.excluded) ? masked : Masked{}; // scaling may raise the number above the limit
}

//===- Keys that count --------------------------------------------------------------------------------------------===//

/// Whether the element is sure to be a score, scaled, plus numbers within `mostBias`.
bool LogitsWalk::counts(Value value, ArrayRef<AffineExpr> at) {
  Operation *op = value.getDefiningOp();
  if (!op || --steps < 0)
    return false;
  if (op == scores)
    return true;
  if (std::optional<double> number = splatOf(value))
    return std::abs(*number) <= mostBias;
  if (std::optional<Exprs> data = throughAccess(op, at))
    return counts(cast<graph::AccessOpInterface>(op).getData(), *data);
  if (std::optional<ConstantBand> band = bandOf(op, [](double value) { return std::abs(value) <= mostBias; }))
    return band->admits(space, at);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> condition = certainty.valueOf(select.getCondition(), at);
    return (condition == false || counts(select.getTrueValue(), at)) &&
           (condition == true || counts(select.getFalseValue(), at));
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return counts(op->getOperand(0), at);
  if (isa<arith::AddFOp>(op))
    return counts(op->getOperand(0), at) && counts(op->getOperand(1), at);
  Value operand = adjusted(op).first;
  return operand && counts(operand, at);
}

/// Whether every row is proved to have a key that counts. Tries three: the first and the last key of `keys`, and key 0.
bool LogitsWalk::everyRowHasAKey(Value logits, ArrayRef<AffineExpr> at, const KeyInterval &keys) {
  Exprs candidates = keys.from;
  for (AffineExpr expr : keys.below)
    candidates.push_back(expr - 1);
  candidates.push_back(getAffineConstantExpr(0, space.keys().getContext()));
  return llvm::any_of(candidates, [&](AffineExpr key) {
    Exprs point(at);
    llvm::replace(point, space.keyExpr(), key);
    return space.isNonNegative(key) && space.isNonNegative(space.keys() - 1 - key) && counts(logits, point);
  });
}

KeyRange fusion::findKeyRange(Attention attention) {
  LogitsWalk logits(attention);
  unsigned rank = cast<RankedTensorType>(attention.logits.getType()).getRank();
  Exprs at;
  for (unsigned dim = 0; dim < rank; ++dim)
    at.push_back(getAffineDimExpr(dim, attention.scores->getContext()));
  Masked masked = logits.walk(attention.logits, at);
  bool isExcluded = masked.excluded == -infinity || logits.everyRowHasAKey(attention.logits, at, masked.keys);
  return isExcluded ? KeyRange{masked.keys.from, masked.keys.below} : KeyRange{};
}

//===- Attributes -------------------------------------------------------------------------------------------------===//

void fusion::setInterval(Operation *op, StringRef from, StringRef below, const KeyInterval &keys, unsigned rank) {
  MLIRContext *context = op->getContext();
  auto symbols = op->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  for (auto &[name, exprs] : {std::pair(from, &keys.from), std::pair(below, &keys.below)})
    if (!exprs->empty())
      op->setAttr(name, AffineMapAttr::get(AffineMap::get(rank, symbols ? symbols.size() : 0, *exprs, context)));
}

FailureOr<KeyInterval> fusion::intervalOf(Operation *op, StringRef from, StringRef below, Attention attention) {
  unsigned rank = cast<RankedTensorType>(attention.logits.getType()).getRank();
  int64_t key = attention.max.getAxes().front();
  KeyInterval keys;
  for (auto &[name, exprs] : {std::pair(from, &keys.from), std::pair(below, &keys.below)}) {
    Attribute attribute = op->getAttr(name);
    if (!attribute)
      continue;
    auto map = dyn_cast<AffineMapAttr>(attribute);
    if (!map || map.getValue().getNumDims() != rank || map.getValue().isFunctionOfDim(key))
      return op->emitOpError() << "expected " << name << " to be a map of the logits' " << rank
                               << " coordinates other than the key, got " << attribute;
    llvm::append_range(*exprs, map.getValue().getResults());
  }
  return keys;
}

void fusion::setKeyRange(graph::KernelOp kernel, const KeyRange &range, unsigned rank) {
  setInterval(kernel, keysFromAttr, keysBelowAttr, range, rank);
}

FailureOr<KeyRange> fusion::keyRangeOf(graph::KernelOp kernel, Attention attention) {
  return intervalOf(kernel, keysFromAttr, keysBelowAttr, attention);
}
