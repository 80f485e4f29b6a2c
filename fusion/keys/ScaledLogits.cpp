// SPDX-License-Identifier: Apache-2.0
// Peels the last multiplications off the logits, and bounds what is left by following it back.
#include "fusion/keys/ScaledLogits.h"

#include "fusion/keys/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static constexpr double mostOfHalf = 65504, mostOfInteger = 0x1p64, mostOfScores = 0x1p100, mostOfUnits = 0x1p120;
/// Beyond these a factor is no scale: what it multiplies might overflow or vanish.
static constexpr double leastScale = 0x1p-40, mostScale = 0x1p40;

namespace {

/// Bounds values by what they are computed from.
class MagnitudeWalk {
public:
  explicit MagnitudeWalk(graph::ContractOp scores) : scores(scores) {}
  /// A number that no finite element of a float tensor exceeds in magnitude; nullopt where none is known.
  std::optional<double> largest(Value value);

private:
  std::optional<double> largestOf(Operation *op);

  graph::ContractOp scores;
  llvm::DenseMap<Value, std::optional<double>> known;
};

} // namespace

static double finite(const APFloat &number) { return number.isFinite() ? std::abs(number.convertToDouble()) : 0; }

std::optional<double> MagnitudeWalk::largestOf(Operation *op) {
  if (op == scores)
    return mostOfScores;
  if (std::optional<double> splat = splatOf(op->getResult(0)))
    return std::isfinite(*splat) ? std::abs(*splat) : 0;
  auto operand = [&](unsigned i) { return largest(op->getOperand(i)); };
  auto both = [&](unsigned i, unsigned j, auto join) -> std::optional<double> {
    std::optional<double> a = operand(i), b = a ? operand(j) : std::nullopt;
    return b ? std::optional<double>(join(*a, *b)) : std::nullopt;
  };
  auto larger = [](double a, double b) { return std::max(a, b); };
  if (auto access = dyn_cast<graph::AccessOpInterface>(op)) {
    auto fill = dyn_cast_or_null<FloatAttr>(access.getFill());
    std::optional<double> data = largest(access.getData());
    return data && fill ? std::max(*data, finite(fill.getValue())) : data;
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return mostOfInteger;
  if (isa<math::TanhOp>(op))
    return 1;
  if (isa<arith::ExtFOp, arith::NegFOp, math::AbsFOp>(op))
    return operand(0);
  if (isa<arith::SelectOp>(op))
    return both(1, 2, larger);
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    return both(0, 1, larger);
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return both(0, 1, std::plus<>());
  if (isa<arith::MulFOp>(op))
    return both(0, 1, std::multiplies<>());
  if (isa<arith::DivFOp>(op))
    if (std::optional<double> divisor = splatOf(op->getOperand(1)), dividend = operand(0);
        divisor && *divisor != 0 && dividend)
      return *dividend / std::abs(*divisor);
  return std::nullopt;
}

std::optional<double> MagnitudeWalk::largest(Value value) {
  if (getElementTypeOrSelf(value).isF16())
    return mostOfHalf;
  auto [at, isNew] = known.try_emplace(value);
  Operation *op = value.getDefiningOp();
  if (!isNew || !op)
    return at->second;
  std::optional<double> found = largestOf(op);
  return known[value] = found;
}

static bool isScale(double number) { return number >= leastScale && number <= mostScale; }

std::pair<Value, double> fusion::withoutFactor(Value value) {
  auto within = [](std::optional<double> factor) { return factor && isScale(*factor); };
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    for (unsigned side : {0, 1})
      if (std::optional<double> factor = splatOf(product->getOperand(side)); within(factor))
        return {product->getOperand(1 - side), *factor};
  if (auto quotient = value.getDefiningOp<arith::DivFOp>())
    if (std::optional<double> divisor = splatOf(quotient.getRhs()); within(divisor))
      return {quotient.getLhs(), 1 / *divisor};
  return {Value(), 1};
}

std::optional<ScaledLogits> fusion::scaledLogits(Attention attention) {
  ScaledLogits scaled{attention.logits};
  for (auto [units, factor] = withoutFactor(scaled.units); units; std::tie(units, factor) = withoutFactor(scaled.units))
    scaled = {units, scaled.scale * factor};
  std::optional<double> largest = MagnitudeWalk(attention.scores).largest(scaled.units);
  return isScale(scaled.scale) && largest && *largest * std::max(scaled.scale, 1.0) <= mostOfUnits
             ? std::optional(scaled)
             : std::nullopt;
}

namespace {

/// An operation that adds to what comes from the scores, or selects it.
struct Mask {
  Operation *op;
  unsigned other; // the operand that is added, or selected instead
};

/// From the logits back over masks and accesses.
struct WayBack {
  SmallVector<Mask> masks;
  Value before; // what the first of the masks is of
};

} // namespace

/// The values from the scores to the logits.
static llvm::SmallDenseSet<Value> valuesFromScores(Attention attention) {
  llvm::SmallDenseSet<Value> values = {attention.scores.getResult()};
  for (Operation *op = attention.scores->getNextNode(); op && op != attention.max; op = op->getNextNode())
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return values.contains(operand); }))
      values.insert(op->getResult(0));
  return values;
}

static WayBack backOverMasks(Attention attention) {
  llvm::SmallDenseSet<Value> fromScores = valuesFromScores(attention);
  WayBack way{{}, attention.logits};
  while (Operation *op = way.before.getDefiningOp()) {
    bool isAccess = isa<graph::ReshapeOp, graph::TransposeOp>(op), isSelect = isa<arith::SelectOp>(op);
    if (!isAccess && !isSelect && !isa<arith::AddFOp>(op))
      break;
    unsigned scores = 0, first = isSelect ? 1 : 0;
    if (!isAccess)
      scores = fromScores.contains(op->getOperand(first)) ? first : first + 1;
    unsigned operands = llvm::count_if(op->getOperands(), [&](Value value) { return fromScores.contains(value); });
    if (operands != 1 || !fromScores.contains(op->getOperand(scores)) || !op->getOperand(scores).hasOneUse())
      break;
    if (!isAccess)
      way.masks.push_back({op, 2 * first + 1 - scores});
    way.before = op->getOperand(scores);
  }
  return way;
}

void fusion::scaleLast(Attention attention) {
  WayBack way = backOverMasks(attention);
  auto [units, scale] = withoutFactor(way.before);
  std::optional<double> largest = MagnitudeWalk(attention.scores).largest(attention.logits);
  if (!units || way.masks.empty() || !largest || *largest / scale > mostOfUnits)
    return;
  OpBuilder builder(attention.scores);
  auto times = [&](Value value, double factor) -> Value {
    Value splat = splatOfType(cast<RankedTensorType>(value.getType()), factor, value.getLoc(), builder);
    return arith::MulFOp::create(builder, value.getLoc(), value, splat);
  };
  for (auto [op, other] : way.masks) {
    builder.setInsertionPoint(op);
    op->setOperand(other, times(op->getOperand(other), 1 / scale));
  }
  way.before.replaceAllUsesWith(units);
  way.before.getDefiningOp()->erase();
  builder.setInsertionPointAfterValue(attention.logits);
  Value scaled = times(attention.logits, scale);
  Value logits = attention.logits;
  logits.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
}
