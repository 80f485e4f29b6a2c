// SPDX-License-Identifier: Apache-2.0
// Follows the logits back to the scores, through selections and sums with masks.
#include "fusion/keys/KeyRange.h"

#include "frontend/graph/Sizes.h"
#include "fusion/keys/Conditions.h"
#include "fusion/keys/ConstantBand.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double lowestHalf = -65504; // what is added or chosen to exclude a key is at most this
constexpr double mostBias = 1024;     // what is added to the scores of keys that count is between this and its negative

bool excludes(double value) { return value <= lowestHalf; }

/// Of a tensor's elements: outside of `keys` they are at most `excluded`. Where `keys` is exact, those inside are
/// scores plus a number within `mostBias`.
struct Masked {
  KeyInterval keys;
  double excluded = -infinity;
  bool everywhere = false; // no key counts

  static Masked unknown() { return {{{}, {}, false}}; }
};

class LogitsWalk {
public:
  explicit LogitsWalk(Attention attention)
      : scores(attention.scores),
        space(graph::getSizes(cast<RankedTensorType>(attention.logits.getType())), attention.max.getAxes().front()),
        conditions(space) {}

  Masked walk(Value value, ArrayRef<AffineExpr> at);
  bool everyRowHasAKey(const KeyInterval &keys) const;

private:
  Masked ofSplat(double value) const;
  Masked ofSelect(arith::SelectOp select, ArrayRef<AffineExpr> at);
  Masked ofSum(Operation *op, ArrayRef<AffineExpr> at);
  Masked ofProduct(Operation *op, ArrayRef<AffineExpr> at);
  Masked ofLargest(arith::MaximumFOp op, ArrayRef<AffineExpr> at);

  graph::ContractOp scores;
  KeySpace space;
  Conditions conditions;
  int steps = 4096;
};

} // namespace

/// The number that all elements are.
static std::optional<double> splatOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<graph::BroadcastOp, graph::ReshapeOp, arith::ExtFOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseFPElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

Masked LogitsWalk::ofSplat(double value) const {
  if (excludes(value))
    return {{}, value, true};
  return {{{}, {}, std::abs(value) <= mostBias}};
}

Masked LogitsWalk::ofSelect(arith::SelectOp select, ArrayRef<AffineExpr> at) {
  Masked yes = walk(select.getTrueValue(), at), no = walk(select.getFalseValue(), at);
  if (yes.everywhere == no.everywhere)
    return yes.everywhere ? Masked{{}, std::max(yes.excluded, no.excluded), true} : Masked::unknown();
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

/// By a positive number: a scale.
Masked LogitsWalk::ofProduct(Operation *op, ArrayRef<AffineExpr> at) {
  for (unsigned side : {0, 1}) {
    std::optional<double> factor = splatOf(op->getOperand(side));
    if (!factor || !(*factor > 0) || (side == 0 && isa<arith::DivFOp>(op)))
      continue;
    Masked scaled = walk(op->getOperand(1 - side), at);
    scaled.excluded *= isa<arith::DivFOp>(op) ? 1 / *factor : *factor;
    if (!excludes(scaled.excluded)) // no longer as low
      return Masked::unknown();
    return scaled;
  }
  return Masked::unknown();
}

/// Not below a number that excludes by itself, which exporters write lest two masks add up to -inf.
Masked LogitsWalk::ofLargest(arith::MaximumFOp op, ArrayRef<AffineExpr> at) {
  for (unsigned side : {0, 1})
    if (std::optional<double> least = splatOf(op->getOperand(side)); least && excludes(*least)) {
      Masked raised = walk(op->getOperand(1 - side), at);
      raised.excluded = std::max(raised.excluded, *least);
      return raised;
    }
  return Masked::unknown();
}

Masked LogitsWalk::walk(Value value, ArrayRef<AffineExpr> at) {
  Operation *op = value.getDefiningOp();
  if (!op || --steps < 0)
    return Masked::unknown();
  if (op == scores)
    return {};
  if (std::optional<double> number = splatOf(value))
    return ofSplat(*number);
  if (std::optional<Exprs> data = throughAccess(op, at))
    return walk(cast<graph::AccessOpInterface>(op).getData(), *data);
  if (std::optional<ConstantBand> band = bandOf(op, [](double value) { return !excludes(value); })) {
    Masked masked{band->keysAt(space, at), band->outside};
    masked.keys.exact &= -band->least <= mostBias && band->most <= mostBias;
    return masked;
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return walk(op->getOperand(0), at);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return ofSelect(select, at);
  if (isa<arith::AddFOp>(op))
    return ofSum(op, at);
  if (isa<arith::MulFOp, arith::DivFOp>(op))
    return ofProduct(op, at);
  if (auto largest = dyn_cast<arith::MaximumFOp>(op))
    return ofLargest(largest, at);
  return Masked::unknown();
}

/// True if it is proved, for rows that exist.
bool LogitsWalk::everyRowHasAKey(const KeyInterval &keys) const {
  AffineExpr zero = getAffineConstantExpr(0, space.keys().getContext());
  Exprs from = keys.from, below = keys.below;
  from.push_back(zero), below.push_back(space.keys());
  return keys.exact && llvm::all_of(from, [&](AffineExpr first) {
           return llvm::all_of(below, [&](AffineExpr end) { return space.isNonNegative(end - first - 1); });
         });
}

KeyRange fusion::findKeyRange(Attention attention) {
  LogitsWalk logits(attention);
  unsigned rank = cast<RankedTensorType>(attention.logits.getType()).getRank();
  Exprs at;
  for (unsigned dim = 0; dim < rank; ++dim)
    at.push_back(getAffineDimExpr(dim, attention.scores->getContext()));
  Masked masked = logits.walk(attention.logits, at);
  bool isExcluded = masked.excluded == -infinity || logits.everyRowHasAKey(masked.keys);
  return isExcluded ? KeyRange{masked.keys.from, masked.keys.below} : KeyRange{};
}

//===- Attributes -------------------------------------------------------------------------------------------------===//

void fusion::setKeyRange(graph::KernelOp kernel, const KeyRange &range, unsigned rank) {
  MLIRContext *context = kernel.getContext();
  auto symbols = kernel->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  for (auto &[name, exprs] : {std::pair(keysFromAttr, &range.from), std::pair(keysBelowAttr, &range.below)})
    if (!exprs->empty())
      kernel->setAttr(name, AffineMapAttr::get(AffineMap::get(rank, symbols ? symbols.size() : 0, *exprs, context)));
}

FailureOr<KeyRange> fusion::keyRangeOf(graph::KernelOp kernel, Attention attention) {
  unsigned rank = cast<RankedTensorType>(attention.logits.getType()).getRank();
  int64_t key = attention.max.getAxes().front();
  KeyRange range;
  for (auto &[name, exprs] : {std::pair(keysFromAttr, &range.from), std::pair(keysBelowAttr, &range.below)}) {
    Attribute attribute = kernel->getAttr(name);
    if (!attribute)
      continue;
    auto map = dyn_cast<AffineMapAttr>(attribute);
    if (!map || map.getValue().getNumDims() != rank || map.getValue().isFunctionOfDim(key))
      return kernel.emitOpError() << "expected " << name << " to be a map of the logits' " << rank
                                  << " coordinates other than the key, got " << attribute;
    llvm::append_range(*exprs, map.getValue().getResults());
  }
  return range;
}
