// SPDX-License-Identifier: Apache-2.0
// Follows the operand of the second contraction back to the first.
#include "fusion/Attention.h"

#include "fusion/keys/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static Value withoutCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// `value` without casts between float types and without one-to-one accesses.
static Value stripped(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, graph::ReshapeOp, graph::TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The operand of the broadcast that `value` is, perhaps behind casts; null if it is none.
static Value repeated(Value value) {
  auto broadcast = withoutCasts(value).getDefiningOp<graph::BroadcastOp>();
  return broadcast ? broadcast.getData() : Value();
}

/// The only reduction that `row` is computed from, by elementwise operations, reshapes, broadcasts and constants. Null
/// if there are several reductions, or if anything else takes part.
static graph::ReduceOp reductionOf(Value row) {
  graph::ReduceOp found;
  SmallVector<Value> waiting = {row};
  llvm::SmallDenseSet<Value> seen;
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second)
      continue;
    if (!op)
      return {};
    if (auto reduce = dyn_cast<graph::ReduceOp>(op)) {
      if (found && found != reduce)
        return {};
      found = reduce;
    } else if (op->hasTrait<OpTrait::Elementwise>() || isa<graph::ReshapeOp, graph::BroadcastOp>(op)) {
      llvm::append_range(waiting, op->getOperands());
    } else if (!isa<arith::ConstantOp>(op)) {
      return {};
    }
  }
  return found;
}

/// Whether no reduction lies between the scores and the logits. There is one where a model itself subtracts the maximum
/// of each row, to keep logits of float16 small.
static bool followsElementwise(Value logits, graph::ContractOp scores) {
  auto isBehind = [&](Operation *op) { return op && op != scores && !op->isBeforeInBlock(scores); };
  llvm::SetVector<Operation *> behind;
  if (isBehind(logits.getDefiningOp()))
    behind.insert(logits.getDefiningOp());
  for (size_t i = 0; i < behind.size(); ++i)
    for (Value operand : behind[i]->getOperands())
      if (isBehind(operand.getDefiningOp()))
        behind.insert(operand.getDefiningOp());
  SmallVector<Operation *> ordered = behind.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::SmallDenseSet<Operation *> dependent = {scores};
  for (Operation *op : ordered)
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return dependent.contains(operand.getDefiningOp()); })) {
      if (isa<graph::ReduceOp>(op))
        return false;
      dependent.insert(op);
    }
  return dependent.contains(logits.getDefiningOp());
}

namespace {

class Matcher {
public:
  Matcher(graph::ContractOp scores, graph::ContractOp mix) { attention.scores = scores, attention.mix = mix; }
  std::variant<Attention, Refusal> run();

private:
  Value withoutGuards(Value shares);
  bool divide(Value quotient);
  bool exponentiate(Value weights);

  Attention attention;
  Value weights;
};

} // namespace

/// The quotient behind `select(isnan(quotient), 0, quotient)`, which exporters write for rows that are masked entirely.
Value Matcher::withoutGuards(Value shares) {
  for (Value value = stripped(shares);; value = stripped(value)) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
    if (!compare || compare.getLhs() != compare.getRhs())
      return value;
    bool isUndefined =
        compare.getPredicate() == arith::CmpFPredicate::UNO || compare.getPredicate() == arith::CmpFPredicate::UNE;
    bool isDefined =
        compare.getPredicate() == arith::CmpFPredicate::ORD || compare.getPredicate() == arith::CmpFPredicate::OEQ;
    Value zero = isUndefined ? select.getTrueValue() : select.getFalseValue(),
          other = isUndefined ? select.getFalseValue() : select.getTrueValue();
    if ((!isUndefined && !isDefined) || splatOf(zero) != 0 || stripped(compare.getLhs()) != stripped(other))
      return value;
    attention.zeroesUndefined = true;
    value = other;
  }
}

/// weights / g(sum), or weights * (1 / g(sum)).
bool Matcher::divide(Value quotient) {
  if (auto division = quotient.getDefiningOp<arith::DivFOp>()) {
    weights = stripped(division.getLhs());
    attention.divisor = repeated(division.getRhs());
    return attention.divisor != nullptr;
  }
  auto product = quotient.getDefiningOp<arith::MulFOp>();
  for (unsigned side : {0, 1}) {
    Value factor = product ? repeated(product->getOperand(side)) : Value();
    auto inverse = factor ? withoutCasts(factor).getDefiningOp<arith::DivFOp>() : arith::DivFOp();
    if (!inverse || splatOf(inverse.getLhs()) != 1)
      continue;
    weights = stripped(product->getOperand(1 - side));
    attention.divisor = inverse.getRhs();
    return true;
  }
  return false;
}

/// exp(logits - f(max)), summed by the divisor's reduction.
bool Matcher::exponentiate(Value weights) {
  auto exp = weights.getDefiningOp<math::ExpOp>();
  auto shifted = exp ? stripped(exp.getOperand()).getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  Value shift = shifted ? repeated(shifted.getRhs()) : Value();
  if (!shift)
    return false;
  attention.max = reductionOf(shift);
  attention.sum = reductionOf(attention.divisor);
  if (!attention.max || attention.max.getKind() != graph::ReduceKind::Max || !attention.sum ||
      attention.sum.getKind() != graph::ReduceKind::Sum)
    return false;
  attention.logits = attention.max.getInput();
  return followsElementwise(attention.logits, attention.scores) &&
         stripped(attention.logits) == stripped(shifted.getLhs()) &&
         stripped(attention.sum.getInput()) == stripped(weights) &&
         cast<RankedTensorType>(attention.logits.getType()).getElementType().isF32();
}

std::variant<Attention, Refusal> Matcher::run() {
  graph::ContractOp mix = attention.mix;
  for (unsigned side : {0, 1}) {
    attention.shares = side;
    attention.zeroesUndefined = false;
    Value quotient = withoutGuards(mix->getOperand(side));
    if (divide(quotient) && exponentiate(weights))
      return attention;
  }
  return Refusal{Reason::NotSoftmax, mix};
}

Value fusion::valuesBeforeWidening(graph::ContractOp scores, Value values) {
  auto widened = values.getDefiningOp<arith::ExtFOp>();
  bool areAlike = widened && getElementTypeOrSelf(widened.getIn()) == getElementTypeOrSelf(scores.getLhs());
  return areAlike ? widened.getIn() : Value();
}

std::variant<Attention, Refusal> fusion::takeApart(graph::ContractOp scores, graph::ContractOp mix) {
  return Matcher(scores, mix).run();
}

FailureOr<Attention> fusion::takeApart(graph::KernelOp kernel) {
  SmallVector<graph::ContractOp> contracts(kernel.getBody().getOps<graph::ContractOp>());
  if (contracts.size() != 2)
    return kernel.emitOpError() << "expected two contractions because the kernel's root is attention, got "
                                << contracts.size();
  std::variant<Attention, Refusal> result = takeApart(contracts[0], contracts[1]);
  if (auto *refusal = std::get_if<Refusal>(&result))
    return refusal->at->emitOpError("is no attention because ") << text(refusal->reason).sentence;
  return std::get<Attention>(result);
}
