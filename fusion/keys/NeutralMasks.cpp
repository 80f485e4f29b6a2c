// SPDX-License-Identifier: Apache-2.0
// Follows the logits back to the scores, and of each sum and selection on the way the other operands.
#include "fusion/keys/NeutralMasks.h"

#include "frontend/graph/Sizes.h"
#include "fusion/keys/Conditions.h"
#include "fusion/keys/ConstantBand.h"
#include "fusion/keys/Splat.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

using Keys = std::optional<KeyInterval>; // nullopt where no keys are known

/// An operation on the way from the logits back to the scores.
struct Link {
  Operation *op;
  unsigned scores; // the operand that comes from the scores
  Exprs at;        // the coordinates of its result
};

class MaskWalk {
public:
  explicit MaskWalk(Attention attention)
      : attention(attention),
        space(graph::getSizes(cast<RankedTensorType>(attention.logits.getType())), attention.max.getAxes().front()),
        conditions(space) {}
  SmallVector<Link> links();
  Keys neutralKeys(const Link &link);

private:
  bool comesFromScores(Value value);
  Keys whereNumber(double number, Value value, ArrayRef<AffineExpr> at);

  Attention attention;
  KeySpace space;
  Conditions conditions;
  llvm::DenseMap<Value, bool> fromScores;
  int steps = 4096;
};

} // namespace

//===- The way ----------------------------------------------------------------------------------------------------===//

bool MaskWalk::comesFromScores(Value value) {
  auto [known, isNew] = fromScores.try_emplace(value, value == attention.scores.getResult());
  Operation *op = value.getDefiningOp();
  if (!isNew || !op || isa<graph::ContractOp, graph::ReduceOp>(op))
    return fromScores.lookup(value);
  bool result = llvm::any_of(op->getOperands(), [&](Value operand) { return comesFromScores(operand); });
  return fromScores[value] = result;
}

SmallVector<Link> MaskWalk::links() {
  SmallVector<Link> links;
  Value value = attention.logits;
  Exprs at;
  for (unsigned dim = 0; dim < cast<RankedTensorType>(value.getType()).getRank(); ++dim)
    at.push_back(getAffineDimExpr(dim, value.getContext()));
  while (Operation *op = value.getDefiningOp()) {
    SmallVector<unsigned> onward;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (comesFromScores(operand))
        onward.push_back(i);
    std::optional<Exprs> data = throughAccess(op, at);
    if (op == attention.scores || onward.size() != 1 || (isa<graph::AccessOpInterface>(op) && !data))
      break;
    if (data)
      at = *data;
    else
      links.push_back({op, onward.front(), at});
    value = op->getOperand(onward.front());
  }
  return links;
}

//===- Masks ------------------------------------------------------------------------------------------------------===//

/// Keys for which an element is sure to be this number.
Keys MaskWalk::whereNumber(double number, Value value, ArrayRef<AffineExpr> at) {
  Operation *op = value.getDefiningOp();
  if (!op || --steps < 0)
    return std::nullopt;
  if (std::optional<double> splat = splatOf(value))
    return *splat == number ? Keys(KeyInterval()) : std::nullopt;
  if (std::optional<Exprs> data = throughAccess(op, at))
    return whereNumber(number, cast<graph::AccessOpInterface>(op).getData(), *data);
  if (std::optional<ConstantBand> band = bandOf(op, [&](double element) { return element == number; }))
    return band->surelyAt(space, at);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return whereNumber(number, op->getOperand(0), at);
  if (isa<arith::UIToFPOp>(op) && getElementTypeOrSelf(op->getOperand(0)).isInteger(1) && (number == 0 || number == 1))
    return conditions.surely(number == 1, op->getOperand(0), at);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Keys yes = whereNumber(number, select.getTrueValue(), at), no = whereNumber(number, select.getFalseValue(), at);
    return yes && no ? intersection(yes, no)
           : yes     ? intersection(yes, conditions.surely(true, select.getCondition(), at))
           : no      ? intersection(no, conditions.surely(false, select.getCondition(), at))
                     : std::nullopt;
  }
  if (auto difference = dyn_cast<arith::SubFOp>(op))
    if (std::optional<double> from = splatOf(difference.getLhs())) // 1 - mask
      return whereNumber(*from - number, difference.getRhs(), at);
  if (isa<arith::MulFOp>(op) && number == 0)
    for (unsigned side : {0, 1})
      if (std::optional<double> factor = splatOf(op->getOperand(side)); factor && std::isfinite(*factor))
        return whereNumber(0, op->getOperand(1 - side), at);
  if (isa<arith::AddFOp>(op) && number == 0)
    return intersection(whereNumber(0, op->getOperand(0), at), whereNumber(0, op->getOperand(1), at));
  return std::nullopt;
}

Keys MaskWalk::neutralKeys(const Link &link) {
  if (isa<arith::AddFOp>(link.op) || (isa<arith::SubFOp>(link.op) && link.scores == 0))
    return whereNumber(0, link.op->getOperand(1 - link.scores), link.at);
  if (auto select = dyn_cast<arith::SelectOp>(link.op); select && link.scores > 0)
    return conditions.surely(link.scores == 1, select.getCondition(), link.at);
  return std::nullopt;
}

SmallVector<NeutralMask> fusion::findNeutralMasks(Attention attention) {
  MaskWalk walk(attention);
  SmallVector<NeutralMask> masks;
  for (const Link &link : walk.links())
    if (Keys keys = walk.neutralKeys(link))
      masks.push_back({link.op, link.scores, *keys});
  return masks;
}

//===- Attributes -------------------------------------------------------------------------------------------------===//

void fusion::noteNeutralMasks(Attention attention) {
  unsigned rank = cast<RankedTensorType>(attention.logits.getType()).getRank();
  for (NeutralMask &neutral : findNeutralMasks(attention)) {
    if (neutral.keys.from.empty() && neutral.keys.below.empty()) // all keys: still needs one attribute to say so
      neutral.keys.from.push_back(getAffineConstantExpr(0, neutral.mask->getContext()));
    setInterval(neutral.mask, neutralFromAttr, neutralBelowAttr, neutral.keys, rank);
  }
}

FailureOr<SmallVector<NeutralMask>> fusion::neutralMasksOf(Attention attention) {
  SmallVector<NeutralMask> masks;
  for (const Link &link : MaskWalk(attention).links()) {
    if (!link.op->hasAttr(neutralFromAttr) && !link.op->hasAttr(neutralBelowAttr))
      continue;
    FailureOr<KeyInterval> keys = intervalOf(link.op, neutralFromAttr, neutralBelowAttr, attention);
    if (failed(keys))
      return failure();
    masks.push_back({link.op, link.scores, *keys});
  }
  return masks;
}
